#include "host/gpu/cuda/driver.hpp"

#include <dlfcn.h>

#include "host/errors/error.hpp"

namespace chime::host::cuda {
namespace {

// A build for the softgpu opens that instead, under its own name (host/gpu/CMakeLists.txt).
#ifndef CHIME_CUDA_LIBRARY
#define CHIME_CUDA_LIBRARY "libcuda.so.1"
#define CHIME_CUDA_GET_PROC_ADDRESS "cuGetProcAddress_v2"
#define CHIME_CUDA_COMES_WITH \
  "the NVIDIA driver; without a GPU, run the program that is compiled for the CPU device"
#else
#define CHIME_CUDA_COMES_WITH                                                                    \
  "Chime, and programs of chime-cc load it; this libchime was built for the softgpu and runs "   \
  "no kernel that nvcc compiled: compile the program with this prefix's chime-cc, or install a " \
  "Chime that is configured with -DCHIME_CUDA=ON (preset cuda) where the CUDA toolkit is"
#endif
constexpr char kLibrary[] = CHIME_CUDA_LIBRARY;
constexpr char kComesWith[] = " (it comes with " CHIME_CUDA_COMES_WITH ")";

// Signatures as of these versions: none of the functions that Chime uses has changed since.
constexpr int kInterfaceVersion = 12000;
constexpr int kLaterInterfaceVersion = 12040;

using GetProcAddress = decltype(&::cuGetProcAddress);

template <class Function>
void find(GetProcAddress get_proc_address, const char* name, Function& function) {
  void* address = nullptr;
  CUdriverProcAddressQueryResult found{};
  const CUresult result =
      get_proc_address(name, &address, kInterfaceVersion, CU_GET_PROC_ADDRESS_DEFAULT, &found);
  if (result != CUDA_SUCCESS || address == nullptr)
    throw Error(
        "CUDA driver", CHIMEX_ERR_UNSUPPORTED,
        std::string(kLibrary) + " has no " + name + "; install a driver for CUDA 12 or newer");
  function = reinterpret_cast<Function>(address);
}

template <class Function>
void find(GetProcAddress get_proc_address, const char* name,
          device_activity::Allocating<Function>& function) {
  function.name = name;
  find(get_proc_address, name, function.function);
}

template <class Function>
void find_if_there(GetProcAddress get_proc_address, const char* name, Function& function) {
  void* address = nullptr;
  CUdriverProcAddressQueryResult found{};
  if (get_proc_address(name, &address, kLaterInterfaceVersion, CU_GET_PROC_ADDRESS_DEFAULT,
                       &found) == CUDA_SUCCESS)
    function = reinterpret_cast<Function>(address);
}

Driver load() {
  void* library = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    throw Error("CUDA driver", CHIMEX_ERR_UNSUPPORTED, std::string(::dlerror()) + kComesWith);
  const auto get_proc_address =
      reinterpret_cast<GetProcAddress>(::dlsym(library, CHIME_CUDA_GET_PROC_ADDRESS));
  if (get_proc_address == nullptr)
    throw Error("CUDA driver", CHIMEX_ERR_UNSUPPORTED,
                std::string(kLibrary) + " is older than CUDA 12; install a newer NVIDIA driver");
  Driver driver;
#define CHIME_CUDA_DRIVER_FIND(name, does) find(get_proc_address, #name, driver.name);
  CHIME_CUDA_DRIVER_FUNCTIONS(CHIME_CUDA_DRIVER_FIND)
#undef CHIME_CUDA_DRIVER_FIND
#define CHIME_CUDA_DRIVER_FIND_LATER(name) find_if_there(get_proc_address, #name, driver.name);
  CHIME_CUDA_LATER_DRIVER_FUNCTIONS(CHIME_CUDA_DRIVER_FIND_LATER)
#undef CHIME_CUDA_DRIVER_FIND_LATER
  driver.check(
      driver.cuInit(0), "cuInit",
      "see nvidia-smi; a container needs the GPU passed in, CUDA_VISIBLE_DEVICES hides it");
  return driver;
}

chimex_status status_of(CUresult result) {
  switch (result) {
    case CUDA_ERROR_OUT_OF_MEMORY:
      return CHIMEX_ERR_OUT_OF_MEMORY;
    case CUDA_ERROR_INVALID_VALUE:
    case CUDA_ERROR_INVALID_DEVICE:
      return CHIMEX_ERR_INVALID;
    case CUDA_ERROR_NOT_SUPPORTED:
    case CUDA_ERROR_NO_DEVICE:
    case CUDA_ERROR_STUB_LIBRARY:
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
      return CHIMEX_ERR_UNSUPPORTED;
    default:
      return CHIMEX_ERR_SYSTEM;
  }
}

}  // namespace

std::string Driver::words(CUresult result) const {
  const char* name = nullptr;
  const char* sentence = nullptr;
  if (cuGetErrorName(result, &name) != CUDA_SUCCESS ||
      cuGetErrorString(result, &sentence) != CUDA_SUCCESS)
    return "unknown CUresult " + std::to_string(result);
  return std::string(sentence) + " (" + name + ")";
}

void Driver::check(CUresult result, const char* call, const std::string& advice) const {
  if (result == CUDA_SUCCESS) return;
  throw Error("CUDA driver", status_of(result),
              std::string(call) + ": " + words(result) + (advice.empty() ? "" : "; " + advice));
}

int Driver::attribute(CUdevice device, CUdevice_attribute which) const {
  int value = 0;
  check(cuDeviceGetAttribute(&value, which, device), "cuDeviceGetAttribute");
  return value;
}

const Driver& driver() {
  // An initialiser that throws is run again at the next call.
  static const Driver the_driver = load();
  return the_driver;
}

// A driver that refuses says the same to the calls that follow, which are checked.
UncapturedCalls::UncapturedCalls()
    : is_exchanged_(driver().cuThreadExchangeStreamCaptureMode(&before_) == CUDA_SUCCESS) {}

UncapturedCalls::~UncapturedCalls() {
  if (is_exchanged_) driver().cuThreadExchangeStreamCaptureMode(&before_);
}

CurrentContext::CurrentContext(CUcontext context) {
  driver().check(driver().cuCtxPushCurrent(context), "cuCtxPushCurrent");
}

CurrentContext::~CurrentContext() {
  CUcontext popped;
  driver().cuCtxPopCurrent(&popped);
}

}  // namespace chime::host::cuda
