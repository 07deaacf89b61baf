// The CUDA driver as Chime uses it: the functions of libcuda.so.1, found at run time, and their
// errors.
#pragma once

#include <cuda.h>

#include <string>

namespace chime::host::cuda {

// cuda.h renames some of these to a later version (cuMemHostRegister_v2); members are named and
// called through the same renaming.
#define CHIME_CUDA_DRIVER_FUNCTIONS(X) \
  X(cuInit)                            \
  X(cuDriverGetVersion)                \
  X(cuDeviceGetCount)                  \
  X(cuDeviceGet)                       \
  X(cuDeviceGetName)                   \
  X(cuDeviceGetPCIBusId)               \
  X(cuDeviceGetAttribute)              \
  X(cuDevicePrimaryCtxRetain)          \
  X(cuDevicePrimaryCtxRelease)         \
  X(cuCtxGetDevice)                    \
  X(cuCtxSetCurrent)                   \
  X(cuCtxPushCurrent)                  \
  X(cuCtxPopCurrent)                   \
  X(cuCtxSynchronize)                  \
  X(cuMemAddressReserve)               \
  X(cuMemAddressFree)                  \
  X(cuMemGetAllocationGranularity)     \
  X(cuMemCreate)                       \
  X(cuMemRelease)                      \
  X(cuMemMap)                          \
  X(cuMemUnmap)                        \
  X(cuMemSetAccess)                    \
  X(cuMemExportToShareableHandle)      \
  X(cuMemGetHandleForAddressRange)     \
  X(cuMemImportFromShareableHandle)    \
  X(cuMemHostRegister)                 \
  X(cuMemHostUnregister)               \
  X(cuMemHostGetDevicePointer)         \
  X(cuMemcpyAsync)                     \
  X(cuMemsetD8Async)                   \
  X(cuStreamCreate)                    \
  X(cuStreamDestroy)                   \
  X(cuStreamSynchronize)               \
  X(cuStreamWriteValue64)              \
  X(cuStreamWaitValue64)               \
  X(cuLaunchHostFunc)                  \
  X(cuModuleLoadData)                  \
  X(cuModuleUnload)                    \
  X(cuModuleGetFunction)               \
  X(cuFuncGetAttribute)                \
  X(cuLaunchKernel)                    \
  X(cuGetErrorName)                    \
  X(cuGetErrorString)

struct Driver {
#define CHIME_CUDA_DRIVER_MEMBER(name) decltype(&::name) name = nullptr;
  CHIME_CUDA_DRIVER_FUNCTIONS(CHIME_CUDA_DRIVER_MEMBER)
#undef CHIME_CUDA_DRIVER_MEMBER

  // Throws Error unless `result` is success: the call, the driver's words, and what to do.
  void check(CUresult result, const char* call, const std::string& advice = {}) const;

  // "out of memory (CUDA_ERROR_OUT_OF_MEMORY)".
  std::string words(CUresult result) const;

  int attribute(CUdevice device, CUdevice_attribute which) const;
};

// The driver, initialised. Loads it at the first call; throws Error with the loader's or the
// driver's words, each time.
const Driver& driver();

// The context that the driver's calls of this scope act on; the thread's own one afterwards.
class CurrentContext {
 public:
  explicit CurrentContext(CUcontext context);
  CurrentContext(const CurrentContext&) = delete;
  CurrentContext& operator=(const CurrentContext&) = delete;
  ~CurrentContext();
};

}  // namespace chime::host::cuda
