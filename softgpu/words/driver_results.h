// The results of the driver's and the runtime's calls. Their names and meanings are documented. The
// numbers are the softgpu's own: programs compiled with these declarations work only with
// libsoftgpu.
#pragma once

// Programs may pass numbers that have no name.
#ifdef __cplusplus
#define SOFTGPU_ENUM : int
#else
#define SOFTGPU_ENUM
#endif

// X(the driver's name, the runtime's name, sentence): both have the same number.
#define SOFTGPU_RESULTS(X)                                                                       \
  X(CUDA_SUCCESS, cudaSuccess, "no error")                                                       \
  X(CUDA_ERROR_INVALID_VALUE, cudaErrorInvalidValue, "invalid argument")                         \
  X(CUDA_ERROR_OUT_OF_MEMORY, cudaErrorMemoryAllocation, "out of memory")                        \
  X(CUDA_ERROR_NOT_INITIALIZED, cudaErrorInitializationError, "the driver is not initialised")   \
  X(CUDA_ERROR_DEINITIALIZED, cudaErrorCudartUnloading, "the driver is shutting down")           \
  X(CUDA_ERROR_STUB_LIBRARY, cudaErrorStubLibrary, "the driver is a stub")                       \
  X(CUDA_ERROR_NO_DEVICE, cudaErrorNoDevice, "there is no device (CHIME_SOFTGPU_DEVICES=0)")     \
  X(CUDA_ERROR_INVALID_DEVICE, cudaErrorInvalidDevice, "no device has this number")              \
  X(CUDA_ERROR_INVALID_IMAGE, cudaErrorInvalidKernelImage, "the image holds no PTX text")        \
  X(CUDA_ERROR_INVALID_CONTEXT, cudaErrorDeviceUninitialized, "no context is current")           \
  X(CUDA_ERROR_ALREADY_MAPPED, cudaErrorAlreadyMapped, "mapped already")                         \
  X(CUDA_ERROR_NOT_MAPPED, cudaErrorNotMapped, "not mapped")                                     \
  X(CUDA_ERROR_UNSUPPORTED_LIMIT, cudaErrorUnsupportedLimit, "no such limit")                    \
  X(CUDA_ERROR_NO_BINARY_FOR_GPU, cudaErrorNoKernelImageForDevice, "no code for this device")    \
  X(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, cudaErrorPeerAccessUnsupported, "no access to the peer") \
  X(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, cudaErrorPeerAccessAlreadyEnabled,                   \
    "access to the peer is enabled already")                                                     \
  X(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, cudaErrorPeerAccessNotEnabled,                           \
    "access to the peer is not enabled")                                                         \
  X(CUDA_ERROR_INVALID_PTX, cudaErrorInvalidPtx, "the PTX text cannot be translated")            \
  X(CUDA_ERROR_UNSUPPORTED_PTX_VERSION, cudaErrorUnsupportedPtxVersion,                          \
    "the PTX text is of a newer version")                                                        \
  X(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, cudaErrorSystemDriverMismatch, "versions do not match")   \
  X(CUDA_ERROR_INVALID_HANDLE, cudaErrorInvalidResourceHandle, "invalid resource handle")        \
  X(CUDA_ERROR_ILLEGAL_STATE, cudaErrorIllegalState, "not possible in this state")               \
  X(CUDA_ERROR_NOT_FOUND, cudaErrorSymbolNotFound, "the named symbol was not found")             \
  X(CUDA_ERROR_NOT_READY, cudaErrorNotReady, "not done yet")                                     \
  X(CUDA_ERROR_ILLEGAL_ADDRESS, cudaErrorIllegalAddress, "an illegal memory access")             \
  X(CUDA_ERROR_MISALIGNED_ADDRESS, cudaErrorMisalignedAddress, "a misaligned address")           \
  X(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, cudaErrorLaunchOutOfResources,                           \
    "too many resources requested for the launch")                                               \
  X(CUDA_ERROR_LAUNCH_TIMEOUT, cudaErrorLaunchTimeout, "the kernel took too long")               \
  X(CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE, cudaErrorSetOnActiveProcess,                              \
    "the primary context is active already")                                                     \
  X(CUDA_ERROR_CONTEXT_IS_DESTROYED, cudaErrorContextIsDestroyed, "the context is destroyed")    \
  X(CUDA_ERROR_ASSERT, cudaErrorAssert, "an assertion of a kernel failed")                       \
  X(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, cudaErrorHostMemoryAlreadyRegistered,             \
    "part of the memory is registered already")                                                  \
  X(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, cudaErrorHostMemoryNotRegistered,                     \
    "the memory is not registered")                                                              \
  X(CUDA_ERROR_LAUNCH_FAILED, cudaErrorLaunchFailure,                                            \
    "unspecified launch failure: a kernel trapped")                                              \
  X(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, cudaErrorCooperativeLaunchTooLarge,                 \
    "too many blocks in a cooperative launch")                                                   \
  X(CUDA_ERROR_NOT_PERMITTED, cudaErrorNotPermitted, "not permitted here")                       \
  X(CUDA_ERROR_NOT_SUPPORTED, cudaErrorNotSupported, "not supported by the softgpu")             \
  X(CUDA_ERROR_SYSTEM_NOT_READY, cudaErrorSystemNotReady, "the system is not ready")             \
  X(CUDA_ERROR_OPERATING_SYSTEM, cudaErrorOperatingSystem,                                       \
    "a call of the operating system failed")                                                     \
  X(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cudaErrorStreamCaptureUnsupported,                    \
    "not permitted while a stream is captured")                                                  \
  X(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cudaErrorStreamCaptureInvalidated,                    \
    "the capture was spoilt by an error before")                                                 \
  X(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, cudaErrorStreamCaptureWrongThread,                   \
    "another thread has begun the capture")                                                      \
  X(CUDA_ERROR_UNKNOWN, cudaErrorUnknown, "unknown error")

// X(name, sentence): results of the runtime alone.
#define SOFTGPU_RUNTIME_RESULTS(X)                                                \
  X(cudaErrorInvalidConfiguration, "invalid configuration of the launch")         \
  X(cudaErrorMissingConfiguration, "a kernel was called without a configuration") \
  X(cudaErrorInvalidDeviceFunction, "not a kernel of this program")               \
  X(cudaErrorInvalidSymbol, "not a variable of this program's kernels")           \
  X(cudaErrorInvalidDevicePointer, "not an address of device memory")             \
  X(cudaErrorInvalidMemcpyDirection, "no such direction of a copy")               \
  X(cudaErrorInsufficientDriver, "the driver is too old")

#ifdef __cplusplus
extern "C" {
#endif

typedef enum cudaError_enum SOFTGPU_ENUM {
#define SOFTGPU_RESULT(driver, runtime, sentence) driver,
  SOFTGPU_RESULTS(SOFTGPU_RESULT)
#undef SOFTGPU_RESULT
} CUresult;

#ifdef __cplusplus
}
#endif
