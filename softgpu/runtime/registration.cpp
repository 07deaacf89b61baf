// The calls that LLVM writes into the constructors of an object with kernels
// (clang/lib/CodeGen/CGCUDANV.cpp), and the registered objects.
#include "softgpu/runtime/registration.hpp"

#include <cuda_runtime.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "softgpu/driver/immortal.hpp"
#include "softgpu/driver/of_thread.hpp"

namespace softgpu::runtime {

namespace {

// The kernels of one object file: PTX text, and the modules that contexts have made of it.
struct Binary {
  const void* image;
  std::map<CUcontext, CUmodule> modules;
};

struct Named {
  Binary* binary;
  std::string name;
};

struct Registered {
  std::mutex mutex;
  std::map<void**, std::unique_ptr<Binary>> binaries;  // by the handle that the object file got
  std::map<const void*, Named> kernels, variables;     // by the host's address
};

Registered& registered() { return driver::immortal<Registered>(); }

// REQUIRES: the lock of registered().
CUresult module_in_current_context(Binary& binary, CUmodule* module) {
  CUcontext context = nullptr;
  if (const CUresult result = cuCtxGetCurrent(&context); result != CUDA_SUCCESS) return result;
  CUmodule& known = binary.modules[context];
  if (!known)
    if (const CUresult result = cuModuleLoadData(&known, binary.image); result != CUDA_SUCCESS)
      return result;
  *module = known;
  return CUDA_SUCCESS;
}

// The format of the compiler's wrapper of an object's device code: the third word points to the
// code.
struct Wrapper {
  int magic, version;
  const void* image;
  void* unused;
};

// ---- Calls with <<<>>> ----

struct CallConfiguration {
  dim3 grid, block;
  std::size_t dynamic_shared_bytes;
  void* stream;
};
using CallConfigurations = std::vector<CallConfiguration>;

}  // namespace

CUresult function_of(const void* stub, CUfunction* function) {
  const std::lock_guard lock(registered().mutex);
  const auto found = registered().kernels.find(stub);
  if (found == registered().kernels.end()) return CUDA_ERROR_NOT_FOUND;
  CUmodule module = nullptr;
  if (const CUresult result = module_in_current_context(*found->second.binary, &module);
      result != CUDA_SUCCESS)
    return result;
  return cuModuleGetFunction(function, module, found->second.name.c_str());
}

CUresult variable_of(const void* shadow, CUdeviceptr* address, std::size_t* bytes) {
  const std::lock_guard lock(registered().mutex);
  const auto found = registered().variables.find(shadow);
  if (found == registered().variables.end()) return CUDA_ERROR_NOT_FOUND;
  CUmodule module = nullptr;
  if (const CUresult result = module_in_current_context(*found->second.binary, &module);
      result != CUDA_SUCCESS)
    return result;
  return cuModuleGetGlobal(address, bytes, module, found->second.name.c_str());
}

}  // namespace softgpu::runtime

using namespace softgpu::runtime;

#define SOFTGPU_FROM_OBJECTS extern "C" __attribute__((visibility("default")))

SOFTGPU_FROM_OBJECTS void** __cudaRegisterFatBinary(void* wrapper) {
  auto binary = std::make_unique<Binary>(Binary{static_cast<const Wrapper*>(wrapper)->image, {}});
  void** const handle = reinterpret_cast<void**>(binary.get());
  const std::lock_guard lock(registered().mutex);
  registered().binaries[handle] = std::move(binary);
  return handle;
}

SOFTGPU_FROM_OBJECTS void __cudaRegisterFatBinaryEnd(void**) {}

// Called at exit, and when a library with kernels is closed: its text is unmapped then. Loaded
// modules have copies; running kernels keep them.
SOFTGPU_FROM_OBJECTS void __cudaUnregisterFatBinary(void** handle) {
  const std::lock_guard lock(registered().mutex);
  const auto is_of = [&](const auto& entry) {
    return reinterpret_cast<void**>(entry.second.binary) == handle;
  };
  std::erase_if(registered().kernels, is_of);
  std::erase_if(registered().variables, is_of);
  registered().binaries.erase(handle);
}

SOFTGPU_FROM_OBJECTS int __cudaRegisterFunction(void** handle, const char* stub, char*,
                                                const char* name, int, void*, void*, void*, void*,
                                                int*) {
  const std::lock_guard lock(registered().mutex);
  registered().kernels[stub] = {reinterpret_cast<Binary*>(handle), name};
  return 0;
}

SOFTGPU_FROM_OBJECTS void __cudaRegisterVar(void** handle, char* shadow, char*, const char* name,
                                            int, std::size_t, int, int) {
  const std::lock_guard lock(registered().mutex);
  registered().variables[shadow] = {reinterpret_cast<Binary*>(handle), name};
}

SOFTGPU_FROM_OBJECTS unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block,
                                                          std::size_t dynamic_shared_bytes,
                                                          void* stream) {
  softgpu::driver::of_thread<CallConfigurations>().push_back(
      {grid, block, dynamic_shared_bytes, stream});
  return 0;
}

SOFTGPU_FROM_OBJECTS cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block,
                                                            std::size_t* dynamic_shared_bytes,
                                                            void* stream) {
  auto& calls = softgpu::driver::of_thread<CallConfigurations>();
  if (calls.empty()) return cudaErrorMissingConfiguration;
  const CallConfiguration call = calls.back();
  calls.pop_back();
  *grid = call.grid;
  *block = call.block;
  *dynamic_shared_bytes = call.dynamic_shared_bytes;
  *static_cast<void**>(stream) = call.stream;
  return cudaSuccess;
}
