#include "softgpu/driver/capture.hpp"

#include <algorithm>

#include "softgpu/driver/failure.hpp"
#include "softgpu/driver/immortal.hpp"

namespace softgpu::driver {

Captures& captures() { return immortal<Captures>(); }

CUstreamCaptureMode& capture_mode() {
  static thread_local CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  return mode;
}

const Captures::Capture* Captures::find(const Stream& stream) const {
  const auto found = std::find_if(all_.begin(), all_.end(),
                                  [&](const Capture& one) { return one.stream == &stream; });
  return found == all_.end() ? nullptr : &*found;
}

void Captures::begin(const Stream& stream, CUstreamCaptureMode mode) {
  const std::lock_guard lock(mutex_);
  if (find(stream)) fail(CUDA_ERROR_ILLEGAL_STATE, "the stream is captured already");
  all_.push_back({&stream, mode, std::this_thread::get_id(), false});
}

void Captures::end(const Stream& stream) {
  const std::lock_guard lock(mutex_);
  const Capture* const capture = find(stream);
  if (!capture) fail(CUDA_ERROR_ILLEGAL_STATE, "the stream is not captured");
  if (capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED &&
      capture->thread != std::this_thread::get_id())
    fail(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, "another thread has begun the capture");
  const bool was_spoilt = capture->is_spoilt;
  all_.erase(all_.begin() + (capture - all_.data()));
  if (was_spoilt)
    fail(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "a call that the capture forbids has spoilt it");
}

void Captures::forget(const Stream& stream) {
  const std::lock_guard lock(mutex_);
  std::erase_if(all_, [&](const Capture& one) { return one.stream == &stream; });
}

CUstreamCaptureStatus Captures::status_of(const Stream& stream) const {
  const std::lock_guard lock(mutex_);
  const Capture* const capture = find(stream);
  if (!capture) return CU_STREAM_CAPTURE_STATUS_NONE;
  return capture->is_spoilt ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                            : CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

void Captures::need_none(const char* call) {
  if (capture_mode() == CU_STREAM_CAPTURE_MODE_RELAXED) return;
  const bool hears_others = capture_mode() == CU_STREAM_CAPTURE_MODE_GLOBAL;
  const std::lock_guard lock(mutex_);
  bool is_forbidden = false;
  for (Capture& one : all_) {
    const bool is_own = one.thread == std::this_thread::get_id();
    const bool forbids = is_own ? one.mode != CU_STREAM_CAPTURE_MODE_RELAXED
                                : hears_others && one.mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
    if (forbids) one.is_spoilt = is_forbidden = true;
  }
  if (is_forbidden)
    fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "%s while a stream is captured", call);
}

void Captures::need_none_of(const Stream& stream, const char* call) {
  const std::lock_guard lock(mutex_);
  for (Capture& one : all_)
    if (one.stream == &stream) {
      one.is_spoilt = true;
      fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "%s of a stream that is captured", call);
    }
}

}  // namespace softgpu::driver
