// The CUDA driver as Chime uses it: the functions of libcuda.so.1, found at run time, and their
// errors.
#pragma once

#include <cuda.h>

#include <string>

#include "host/gpu/device_activity.hpp"

namespace chime::host::cuda {

// cuda.h renames some of these to a later version (cuMemHostRegister_v2); members are named and
// called through the same renaming.
#define CHIME_CUDA_DRIVER_FUNCTIONS(X)        \
  X(cuInit, Uses)                             \
  X(cuDriverGetVersion, Uses)                 \
  X(cuDeviceGetCount, Uses)                   \
  X(cuDeviceGet, Uses)                        \
  X(cuDeviceGetName, Uses)                    \
  X(cuDeviceGetPCIBusId, Uses)                \
  X(cuDeviceGetAttribute, Uses)               \
  X(cuDevicePrimaryCtxRetain, Allocates)      \
  X(cuCtxGetDevice, Uses)                     \
  X(cuCtxSetCurrent, Uses)                    \
  X(cuCtxPushCurrent, Uses)                   \
  X(cuCtxPopCurrent, Uses)                    \
  X(cuCtxSynchronize, Uses)                   \
  X(cuMemAddressReserve, Allocates)           \
  X(cuMemAddressFree, Uses)                   \
  X(cuMemGetAllocationGranularity, Uses)      \
  X(cuMemCreate, Allocates)                   \
  X(cuMemRelease, Uses)                       \
  X(cuMemMap, Allocates)                      \
  X(cuMemUnmap, Uses)                         \
  X(cuMemSetAccess, Allocates)                \
  X(cuMemExportToShareableHandle, Allocates)  \
  X(cuMemGetHandleForAddressRange, Allocates) \
  X(cuMemImportFromShareableHandle, Uses)     \
  X(cuMemHostRegister, Allocates)             \
  X(cuMemHostUnregister, Uses)                \
  X(cuMemHostGetDevicePointer, Uses)          \
  X(cuPointerGetAttribute, Uses)              \
  X(cuMemcpyAsync, Uses)                      \
  X(cuMemsetD8Async, Uses)                    \
  X(cuStreamCreate, Allocates)                \
  X(cuStreamCreateWithPriority, Allocates)    \
  X(cuStreamDestroy, Uses)                    \
  X(cuStreamSynchronize, Uses)                \
  X(cuStreamIsCapturing, Uses)                \
  X(cuThreadExchangeStreamCaptureMode, Uses)  \
  X(cuStreamWriteValue32, Uses)               \
  X(cuStreamWriteValue64, Uses)               \
  X(cuStreamWaitValue64, Uses)                \
  X(cuStreamWaitEvent, Uses)                  \
  X(cuEventCreate, Allocates)                 \
  X(cuEventDestroy, Uses)                     \
  X(cuEventRecord, Uses)                      \
  X(cuEventQuery, Uses)                       \
  X(cuLaunchHostFunc, Uses)                   \
  X(cuModuleLoadData, Allocates)              \
  X(cuModuleUnload, Uses)                     \
  X(cuModuleGetFunction, Uses)                \
  X(cuModuleGetGlobal, Uses)                  \
  X(cuLibraryGetGlobal, Allocates)            \
  X(cuFuncGetAttribute, Uses)                 \
  X(cuFuncGetModule, Uses)                    \
  X(cuLibraryGetModule, Allocates)            \
  X(cuModuleGetLoadingMode, Uses)             \
  X(cuLaunchKernel, Uses)                     \
  X(cuGetErrorName, Uses)                     \
  X(cuGetErrorString, Uses)

// Functions of drivers for CUDA 12.4 and newer; null where the driver is older.
#define CHIME_CUDA_LATER_DRIVER_FUNCTIONS(X) \
  X(cuMulticastCreate)                       \
  X(cuMulticastAddDevice)                    \
  X(cuMulticastBindMem)                      \
  X(cuMulticastUnbind)                       \
  X(cuMulticastGetGranularity)               \
  X(cuModuleGetFunctionCount)                \
  X(cuModuleEnumerateFunctions)              \
  X(cuFuncLoad)

// The effect of a call on memory and objects of the device.
template <class Function>
using Uses = Function;
template <class Function>
using Allocates = device_activity::Allocating<Function>;

struct Driver {
#define CHIME_CUDA_DRIVER_MEMBER(name, does) does<decltype(&::name)> name{};
  CHIME_CUDA_DRIVER_FUNCTIONS(CHIME_CUDA_DRIVER_MEMBER)
#undef CHIME_CUDA_DRIVER_MEMBER
#define CHIME_CUDA_LATER_DRIVER_MEMBER(name) decltype(&::name) name = nullptr;
  CHIME_CUDA_LATER_DRIVER_FUNCTIONS(CHIME_CUDA_LATER_DRIVER_MEMBER)
#undef CHIME_CUDA_LATER_DRIVER_MEMBER

  // Throws Error unless `result` is success: the call, the driver's words, and what to do.
  void check(CUresult result, const char* call, const std::string& advice = {}) const;

  // "out of memory (CUDA_ERROR_OUT_OF_MEMORY)".
  std::string words(CUresult result) const;

  int attribute(CUdevice device, CUdevice_attribute which) const;
};

// The driver, initialised. Loads it at the first call; throws Error with the loader's or the
// driver's words, each time.
const Driver& driver();

// The calls of this scope spoil no capture of a stream into a graph, of this thread or, in global
// mode, of any other. While a capture lasts, the driver forbids to allocate and to ask events,
// except in a thread that has declared such calls safe. Chime's own allocations and events are
// never captured.
class UncapturedCalls {
 public:
  UncapturedCalls();
  UncapturedCalls(const UncapturedCalls&) = delete;
  UncapturedCalls& operator=(const UncapturedCalls&) = delete;
  ~UncapturedCalls();

 private:
  CUstreamCaptureMode before_ = CU_STREAM_CAPTURE_MODE_RELAXED;
  const bool is_exchanged_;
};

// The context that the driver's calls of this scope act on; the thread's own one afterwards.
class CurrentContext {
 public:
  explicit CurrentContext(CUcontext context);
  CurrentContext(const CurrentContext&) = delete;
  CurrentContext& operator=(const CurrentContext&) = delete;
  ~CurrentContext();

 private:
  const UncapturedCalls uncaptured_;
};

}  // namespace chime::host::cuda
