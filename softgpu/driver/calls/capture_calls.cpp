// Capture of streams.
#include "softgpu/driver/calls/calls.hpp"
#include "softgpu/driver/capture.hpp"

using namespace softgpu::driver;

namespace {

void need_mode(CUstreamCaptureMode mode) {
  if (mode < CU_STREAM_CAPTURE_MODE_GLOBAL || mode > CU_STREAM_CAPTURE_MODE_RELAXED)
    fail(CUDA_ERROR_INVALID_VALUE, "%d is no mode of capture", static_cast<int>(mode));
}

}  // namespace

SOFTGPU_API cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  return answer_initialised([&] {
    need_mode(required(mode));
    std::swap(*mode, capture_mode());
  });
}

SOFTGPU_API cuStreamBeginCapture(CUstream handle, CUstreamCaptureMode mode) {
  return answer_in_context([&](Context& context) {
    need_mode(mode);
    const std::shared_ptr<Stream> stream = context.stream_of(handle);
    if (stream->kind() == StreamKind::kLegacy)
      fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "the null stream cannot be captured");
    captures().begin(*stream, mode);
  });
}

// Ends a capture, which recorded nothing: see driver/capture.hpp.
SOFTGPU_API cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  return answer_in_context([&](Context& context) {
    required(graph) = nullptr;
    captures().end(*context.stream_of(stream));
  });
}

SOFTGPU_API cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  return answer_in_context([&](Context& context) {
    required(status) = captures().status_of(*context.stream_anywhere(stream));
  });
}
