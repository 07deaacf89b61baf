// The driver's calls by name, from this library: a process may have another one with the same
// names.
#include <dlfcn.h>

#include <cstring>

#include "softgpu/driver/calls/calls.hpp"

using namespace softgpu::driver;

namespace {

void* own_library() {
  static void* const library = [] {
    Dl_info info{};
    ::dladdr(reinterpret_cast<void*>(&cuGetProcAddress), &info);
    return ::dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  }();
  return library;
}

}  // namespace

// A name without a function is no error: the answer is null, and `found` says so.
SOFTGPU_API cuGetProcAddress(const char* name, void** function, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult* found) {
  return answer([&] {
    need(name);
    required(function) = nullptr;
    if (flags & ~std::uint64_t{CU_GET_PROC_ADDRESS_LEGACY_STREAM})
      fail(CUDA_ERROR_INVALID_VALUE, "cuGetProcAddress: flags %#llx",
           static_cast<unsigned long long>(flags));
    if (version <= 0) fail(CUDA_ERROR_INVALID_VALUE, "cuGetProcAddress: version %d", version);
    const bool is_ours = std::strncmp(name, "cu", 2) == 0 && std::strncmp(name, "cuda", 4) != 0;
    *function = is_ours ? ::dlsym(own_library(), name) : nullptr;
    if (found)
      *found = *function ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  });
}
