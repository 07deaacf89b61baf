// The platform layer under nvcc, host side: launches, streams, events, memory and the device's
// properties through the CUDA runtime that the including program links. Included by exec_cuda.cuh.
//
// Header-only on purpose: nvcc links the CUDA runtime statically, so libchime would have another
// instance, which does not know the program's kernels.
#ifndef CHIME_DEVICE_EXEC_CUDA_HOST_CUH_
#define CHIME_DEVICE_EXEC_CUDA_HOST_CUH_

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <utility>

#include "chime/abi/launch_status.h"
#include "chime/abi/launched_kernel.h"
#include "chime/error.h"

// Hidden: libchime.so has functions of the same names, those of the CPU device. If a compiler put
// these out of line (-O0) and exported them from a program, the softgpu's calls would come here.
#define CHIME_EXEC_HOST __attribute__((visibility("hidden"))) inline

namespace chime {
struct Context;
const Context& context();  // chime.h
}  // namespace chime

namespace chime::exec {

using Status = chimex_status;

// Null: the default stream of the calling host thread, as on the CPU device. CUDA's own null stream
// is shared by all threads of a process: two PEs that are threads would queue behind each other
// there, and kernels of one that wait for the other's would never end. The thread's stream and
// CUDA's null stream wait for each other, so that a program may use both.
using Stream = cudaStream_t;
using Event = cudaEvent_t;

struct LaunchConfig {
  dim3 grid{1}, block{1};
  std::size_t shared_bytes = 0;
  Stream stream = {};
  bool cooperative = false;
};

struct DeviceProps {
  char name[64];
  int multiprocessors, max_blocks_per_multiprocessor, max_threads_per_block;
  std::size_t shared_bytes_per_block;
  bool is_cpu;  // threads of a block take turns on one core
};

// ---- Errors ------------------------------------------------------------------------------------

namespace detail {

CHIME_EXEC_HOST cudaStream_t native(Stream stream) { return stream ? stream : cudaStreamPerThread; }

CHIME_EXEC_HOST thread_local char last_error[256] = "";

CHIME_EXEC_HOST Status status_of(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return CHIMEX_OK;
    case cudaErrorMemoryAllocation:
      return CHIMEX_ERR_OUT_OF_MEMORY;
    case cudaErrorInvalidValue:
    case cudaErrorInvalidDevice:
    case cudaErrorInvalidResourceHandle:
    case cudaErrorInvalidDevicePointer:
      return CHIMEX_ERR_INVALID;
    case cudaErrorInvalidConfiguration:
    case cudaErrorCooperativeLaunchTooLarge:
    case cudaErrorLaunchOutOfResources:
    case cudaErrorInvalidDeviceFunction:
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorUnsupportedPtxVersion:
      return CHIMEX_ERR_LAUNCH;
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorNotSupported:
      return CHIMEX_ERR_UNSUPPORTED;
    default:
      return CHIMEX_ERR_SYSTEM;
  }
}

// Keeps the message for last_error(), and clears the runtime's error: a later check is not to see
// it.
CHIME_EXEC_HOST Status check(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return CHIMEX_OK;
  std::snprintf(last_error, sizeof last_error, "%s: %s (%s)", call, cudaGetErrorString(error),
                cudaGetErrorName(error));
  cudaGetLastError();
  return status_of(error);
}

// The driver's function `name`, as the runtime finds it: without linking libcuda. Null if there is
// none; last_error() then has the message.
template <class Function>
Function driver_function(const char* name) {
  void* address = nullptr;
  cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSymbolNotFound;
  const unsigned version = 11070;  // the first whose stream memory operations need no module option
  const cudaError_t error =
      cudaGetDriverEntryPointByVersion(name, &address, version, cudaEnableDefault, &result);
  if (check(error, name) != CHIMEX_OK || result != cudaDriverEntryPointSuccess) return nullptr;
  return reinterpret_cast<Function>(address);
}

// cuStreamWriteValue64 and cuStreamWaitValue64; their result is a CUresult, 0 is success.
using StreamMemoryOperation = int (*)(cudaStream_t, unsigned long long, std::uint64_t, unsigned);

CHIME_EXEC_HOST Status stream_memory_operation(const char* name, Stream stream, const void* address,
                                               std::uint64_t value, unsigned flags) {
  const auto operation = driver_function<StreamMemoryOperation>(name);
  if (operation == nullptr) return CHIMEX_ERR_UNSUPPORTED;
  const int result =
      operation(native(stream), reinterpret_cast<unsigned long long>(address), value, flags);
  if (result == 0) return CHIMEX_OK;
  std::snprintf(last_error, sizeof last_error, "%s: the driver answers CUresult %d", name, result);
  return CHIMEX_ERR_SYSTEM;
}

}  // namespace detail

// The message of the calling thread's last host call that returned an error.
CHIME_EXEC_HOST const char* last_error() {
  detail::launch_errors_are_asked_for();
  return detail::last_error;
}

// ---- Launch ------------------------------------------------------------------------------------

namespace detail {

// In a checked job the library then checks that nothing is allocated while the kernel runs. Not on
// a stream that is captured: there the kernel only becomes a part of a graph.
CHIME_EXEC_HOST void tell_of_launch(const void* kernel, Stream stream) {
  if (!chime_launches_are_watched()) return;
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  cudaEvent_t event = nullptr;
  if (cudaStreamIsCapturing(stream, &capture) != cudaSuccess ||
      capture != cudaStreamCaptureStatusNone ||
      cudaEventCreateWithFlags(&event, cudaEventDisableTiming) != cudaSuccess)
    return;
  chime_launched_kernel launched = {};
  std::snprintf(launched.name, sizeof launched.name, "at %p", kernel);
#if CUDART_VERSION >= 12030
  const char* name = nullptr;
  if (cudaFuncGetName(&name, kernel) == cudaSuccess)
    std::snprintf(launched.name, sizeof launched.name, "%s", name);
#endif
  launched.event = event;
  launched.has_ended = [](void* e) {
    return int{cudaEventQuery(static_cast<cudaEvent_t>(e)) != cudaErrorNotReady};
  };
  launched.forget = [](void* e) { cudaEventDestroy(static_cast<cudaEvent_t>(e)); };
  if (cudaEventRecord(event, stream) == cudaSuccess) return chime_kernel_is_launched(launched);
  cudaEventDestroy(event);
}

}  // namespace detail

// A launch in the platform's own type.
using NativeLaunchConfig = cudaLaunchConfig_t;

namespace detail {

CHIME_EXEC_HOST LaunchStatus launch_native(NativeLaunchConfig config, const void* kernel,
                                           void** arguments) {
  chime::context();  // fills the PE of the thread, if it has one, before its kernels run
  config.stream = native(config.stream);
  constexpr std::size_t kWithoutAsking = 48 * 1024;
  if (config.dynamicSmemBytes > kWithoutAsking) {
    const Status status =
        check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   static_cast<int>(config.dynamicSmemBytes)),
              "more than 48 KiB of dynamic shared memory");
    if (status != CHIMEX_OK) return {CHIMEX_ERR_LAUNCH, last_error};
  }
  const Status status = check(cudaLaunchKernelExC(&config, kernel, arguments), "kernel launch");
  if (status == CHIMEX_OK) tell_of_launch(kernel, config.stream);
  return {status, last_error};
}

CHIME_EXEC_HOST cudaLaunchAttribute cooperative_attribute() {
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeCooperative;
  attribute.val.cooperative = 1;
  return attribute;
}

}  // namespace detail

// Queues the kernel on config.stream and returns. `arguments`: an address for each parameter. A
// failure that the program checks neither here nor by last_error() is printed where the host next
// synchronises.
CHIME_EXEC_HOST LaunchStatus launch_erased(const LaunchConfig& config, const void* kernel,
                                           void** arguments) {
  cudaLaunchAttribute cooperative = detail::cooperative_attribute();
  NativeLaunchConfig native = {};
  native.gridDim = config.grid;
  native.blockDim = config.block;
  native.dynamicSmemBytes = config.shared_bytes;
  native.stream = config.stream;
  native.attrs = &cooperative;
  native.numAttrs = config.cooperative ? 1 : 0;
  return detail::launch_native(native, kernel, arguments);
}

// The same for a cooperative launch with the caller's attributes; its own "cooperative" attribute
// counts.
CHIME_EXEC_HOST LaunchStatus launch_cooperative(const NativeLaunchConfig& config,
                                                const void* kernel, void** arguments) {
  constexpr unsigned kMost = 64;  // more than there are kinds
  cudaLaunchAttribute attributes[kMost + 1] = {};
  unsigned count = 0;
  bool is_said = false;
  if (config.numAttrs > kMost || (config.numAttrs > 0 && config.attrs == nullptr))
    return {detail::check(cudaErrorInvalidValue, "attributes of a launch"), detail::last_error};
  for (; count < config.numAttrs; ++count) {
    attributes[count] = config.attrs[count];
    is_said |= attributes[count].id == cudaLaunchAttributeCooperative;
  }
  if (!is_said) attributes[count++] = detail::cooperative_attribute();
  NativeLaunchConfig native = config;
  native.attrs = attributes;
  native.numAttrs = count;
  return detail::launch_native(native, kernel, arguments);
}

// Queues kernel(arguments...) on config.stream and returns.
template <class... P, class... A>
LaunchStatus launch(const LaunchConfig& config, void (*kernel)(P...), A&&... arguments) {
  const auto with_parameters = [&](P... parameters) {  // converts the arguments as a call does
    void* addresses[] = {const_cast<void*>(static_cast<const void*>(&parameters))..., nullptr};
    return launch_erased(config, reinterpret_cast<const void*>(kernel), addresses);
  };
  return with_parameters(std::forward<A>(arguments)...);
}

// The largest cooperative grid of this kernel on the current device.
template <class... P>
Status max_cooperative_blocks(void (*kernel)(P...), int threads, std::size_t shared_bytes,
                              int* blocks) {
  int device = 0, multiprocessors = 0, per_multiprocessor = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess) {
    error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  }
  if (error == cudaSuccess) {
    error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &per_multiprocessor, reinterpret_cast<const void*>(kernel), threads, shared_bytes);
  }
  *blocks = multiprocessors * per_multiprocessor;
  return detail::check(error, "occupancy of a cooperative kernel");
}

// ---- Streams and events ------------------------------------------------------------------------

// Non-blocking: otherwise the default stream would wait for these streams, and kernels of two
// streams that wait for each other would deadlock.
CHIME_EXEC_HOST Status stream_create(Stream* stream) {
  return detail::check(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking), "stream_create");
}
CHIME_EXEC_HOST Status stream_destroy(Stream stream) {
  return detail::check(cudaStreamDestroy(stream), "stream_destroy");
}
CHIME_EXEC_HOST Status stream_synchronize(Stream stream) {
  detail::tell_unseen_launch_errors();
  return detail::check(cudaStreamSynchronize(detail::native(stream)), "stream_synchronize");
}
CHIME_EXEC_HOST Status device_synchronize() {
  detail::tell_unseen_launch_errors();
  return detail::check(cudaDeviceSynchronize(), "device_synchronize");
}
CHIME_EXEC_HOST Status stream_host_call(Stream stream, void (*call)(void*), void* argument) {
  return detail::check(cudaLaunchHostFunc(detail::native(stream), call, argument),
                       "stream_host_call");
}

// stream_write64: *address = value when the work before it is done and visible. stream_wait64_geq:
// waits until *address >= value (cyclically).
CHIME_EXEC_HOST Status stream_write64(Stream stream, std::uint64_t* address, std::uint64_t value) {
  constexpr unsigned kDefault = 0;  // CU_STREAM_WRITE_VALUE_DEFAULT: after a memory barrier
  return detail::stream_memory_operation("cuStreamWriteValue64", stream, address, value, kDefault);
}
CHIME_EXEC_HOST Status stream_wait64_geq(Stream stream, const std::uint64_t* address,
                                         std::uint64_t value) {
  constexpr unsigned kGreaterOrEqual = 0;  // CU_STREAM_WAIT_VALUE_GEQ
  return detail::stream_memory_operation("cuStreamWaitValue64", stream, address, value,
                                         kGreaterOrEqual);
}

CHIME_EXEC_HOST Status event_create(Event* event) {
  return detail::check(cudaEventCreate(event), "event_create");
}
CHIME_EXEC_HOST Status event_destroy(Event event) {
  return detail::check(cudaEventDestroy(event), "event_destroy");
}
CHIME_EXEC_HOST Status event_record(Event event, Stream stream) {
  return detail::check(cudaEventRecord(event, detail::native(stream)), "event_record");
}
CHIME_EXEC_HOST Status event_synchronize(Event event) {
  detail::tell_unseen_launch_errors();
  return detail::check(cudaEventSynchronize(event), "event_synchronize");
}
CHIME_EXEC_HOST Status event_elapsed_ms(Event start, Event end, float* ms) {
  return detail::check(cudaEventElapsedTime(ms, start, end), "event_elapsed_ms");
}
CHIME_EXEC_HOST Status stream_wait_event(Stream stream, Event event) {
  return detail::check(cudaStreamWaitEvent(detail::native(stream), event), "stream_wait_event");
}

// ---- Memory ------------------------------------------------------------------------------------

CHIME_EXEC_HOST Status device_malloc(void** address, std::size_t bytes) {
  return detail::check(cudaMalloc(address, bytes), "device_malloc");
}
CHIME_EXEC_HOST Status device_free(void* address) {
  return detail::check(cudaFree(address), "device_free");
}
CHIME_EXEC_HOST Status copy_async(void* dst, const void* src, std::size_t bytes, Stream stream) {
  return detail::check(cudaMemcpyAsync(dst, src, bytes, cudaMemcpyDefault, detail::native(stream)),
                       "copy_async");
}
CHIME_EXEC_HOST Status copy(void* dst, const void* src, std::size_t bytes) {
  detail::tell_unseen_launch_errors();
  const cudaError_t error =
      cudaMemcpyAsync(dst, src, bytes, cudaMemcpyDefault, cudaStreamPerThread);
  return detail::check(error == cudaSuccess ? cudaStreamSynchronize(cudaStreamPerThread) : error,
                       "copy");
}
CHIME_EXEC_HOST Status set_async(void* dst, int byte, std::size_t bytes, Stream stream) {
  return detail::check(cudaMemsetAsync(dst, byte, bytes, detail::native(stream)), "set_async");
}

// ---- Device ------------------------------------------------------------------------------------

// 0 also when there is no driver; last_error() then has the message.
CHIME_EXEC_HOST int device_count() {
  int count = 0;
  const Status status = detail::check(cudaGetDeviceCount(&count), "device_count");
  return status == CHIMEX_OK ? count : 0;
}

CHIME_EXEC_HOST Status device_props(int device, DeviceProps* props) {
  cudaDeviceProp native;
  const Status status = detail::check(cudaGetDeviceProperties(&native, device), "device_props");
  if (status != CHIMEX_OK) return status;
  std::snprintf(props->name, sizeof props->name, "%s", native.name);
  props->multiprocessors = native.multiProcessorCount;
  props->max_blocks_per_multiprocessor = native.maxBlocksPerMultiProcessor;
  props->max_threads_per_block = native.maxThreadsPerBlock;
  props->shared_bytes_per_block = native.sharedMemPerBlockOptin;
  props->is_cpu = false;
  return CHIMEX_OK;
}

CHIME_EXEC_HOST Status set_device(int device) {
  return detail::check(cudaSetDevice(device), "set_device");
}

}  // namespace chime::exec

#undef CHIME_EXEC_HOST

#endif  // CHIME_DEVICE_EXEC_CUDA_HOST_CUH_
