#include "tools/chime-doctor/probes/cuda.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

namespace chime::doctor {
namespace {

// cuda.h's numbers, which are part of the driver's interface: a Chime that was built without a
// toolkit asks, too.
enum Attribute {
  kPciBus = 33,
  kPciDevice = 34,
  kPciDomain = 50,
  kVmmRdma = 110,
  kRdma = 116,
  kWritesOrdering = 118,
  kDmaBuf = 124,
};
constexpr int kOrderedForOwner = 100;

struct CudaDriver {
  int (*init)(unsigned) = nullptr;
  int (*version)(int*) = nullptr;
  int (*count)(int*) = nullptr;
  int (*name)(char*, int, int) = nullptr;
  int (*attribute)(int*, int, int) = nullptr;
  int (*error)(int, const char**) = nullptr;

  int get(Attribute which, int gpu) const {
    int value = 0;
    return attribute(&value, which, gpu) == 0 ? value : 0;
  }
};

template <class Function>
bool find_in(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

// Empty if all are there.
std::string load(CudaDriver& cuda) {
  void* const library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return ::dlerror();
  const bool is_whole = find_in(library, "cuInit", cuda.init) &&
                        find_in(library, "cuDriverGetVersion", cuda.version) &&
                        find_in(library, "cuDeviceGetCount", cuda.count) &&
                        find_in(library, "cuDeviceGetName", cuda.name) &&
                        find_in(library, "cuDeviceGetAttribute", cuda.attribute) &&
                        find_in(library, "cuGetErrorString", cuda.error);
  return is_whole ? "" : "libcuda.so.1 lacks functions of the CUDA driver";
}

std::string words_of(const CudaDriver& cuda, int result) {
  const char* text = nullptr;
  cuda.error(result, &text);
  return fmt::format("{} (error {})", text != nullptr ? text : "unknown error", result);
}

GpuAttributes attributes_of(const CudaDriver& cuda, int gpu) {
  char name[256] = "";
  cuda.name(name, sizeof name, gpu);
  return {name, cuda.get(kRdma, gpu) != 0, cuda.get(kDmaBuf, gpu) != 0,
          cuda.get(kVmmRdma, gpu) != 0, cuda.get(kWritesOrdering, gpu) >= kOrderedForOwner};
}

std::string pci_address(const CudaDriver& cuda, int gpu) {
  return fmt::format("{:04x}:{:02x}:{:02x}.0", cuda.get(kPciDomain, gpu), cuda.get(kPciBus, gpu),
                     cuda.get(kPciDevice, gpu));
}

}  // namespace

CudaAnswers ask_cuda() {
  CudaAnswers answers;
  CudaDriver cuda;
  answers.why_not = load(cuda);
  if (!answers.why_not.empty()) return answers;
  cuda.version(&answers.version);
  int count = 0, result = cuda.init(0);
  if (result == 0) result = cuda.count(&count);
  if (result != 0) answers.why_not = words_of(cuda, result);
  for (int gpu = 0; gpu < count; ++gpu)
    answers.gpus[pci_address(cuda, gpu)] = attributes_of(cuda, gpu);
  return answers;
}

}  // namespace chime::doctor
