// Streams and events.
#include "softgpu/runtime/runtime.hpp"

using namespace softgpu::runtime;

SOFTGPU_RUNTIME_API cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return ready([&] { return cuStreamCreate(stream, flags); });
}
SOFTGPU_RUNTIME_API cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}
SOFTGPU_RUNTIME_API cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags,
                                                 int priority) {
  return ready([&] { return cuStreamCreateWithPriority(stream, flags, priority); });
}
SOFTGPU_RUNTIME_API cudaStreamDestroy(cudaStream_t stream) {
  return ready([&] { return cuStreamDestroy(stream); });
}
SOFTGPU_RUNTIME_API cudaStreamQuery(cudaStream_t stream) {
  return ready([&] { return cuStreamQuery(stream); });
}
SOFTGPU_RUNTIME_API cudaStreamSynchronize(cudaStream_t stream) {
  return ready([&] { return cuStreamSynchronize(stream); });
}
SOFTGPU_RUNTIME_API cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  return ready([&] { return cuStreamWaitEvent(stream, event, flags); });
}
SOFTGPU_RUNTIME_API cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  if (!status) return keep(cudaErrorInvalidValue);
  return ready([&] {
    CUstreamCaptureStatus answer = CU_STREAM_CAPTURE_STATUS_NONE;
    const CUresult result = cuStreamIsCapturing(stream, &answer);
    *status = static_cast<cudaStreamCaptureStatus>(answer);
    return result;
  });
}

SOFTGPU_RUNTIME_API cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return ready([&] { return cuEventCreate(event, flags); });
}
SOFTGPU_RUNTIME_API cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}
SOFTGPU_RUNTIME_API cudaEventDestroy(cudaEvent_t event) {
  return ready([&] { return cuEventDestroy(event); });
}
SOFTGPU_RUNTIME_API cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return ready([&] { return cuEventRecord(event, stream); });
}
SOFTGPU_RUNTIME_API cudaEventQuery(cudaEvent_t event) {
  return ready([&] { return cuEventQuery(event); });
}
SOFTGPU_RUNTIME_API cudaEventSynchronize(cudaEvent_t event) {
  return ready([&] { return cuEventSynchronize(event); });
}
SOFTGPU_RUNTIME_API cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t end) {
  return ready([&] { return cuEventElapsedTime(ms, start, end); });
}
