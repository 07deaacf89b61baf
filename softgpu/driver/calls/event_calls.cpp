// Events: points of streams for waits and for time differences.
#include <cstdint>

#include "softgpu/driver/calls/calls.hpp"
#include "softgpu/driver/objects.hpp"

using namespace softgpu::driver;

namespace {

// Null: it was never recorded.
std::shared_ptr<Point> latest(Event& event) {
  const std::lock_guard lock(event.mutex);
  return event.latest;
}

std::shared_ptr<Point> need_time(Event& event, CUevent handle) {
  if (!event.has_time)
    fail(CUDA_ERROR_INVALID_HANDLE, "event %p was made without timing", static_cast<void*>(handle));
  std::shared_ptr<Point> point = latest(event);
  if (!point)
    fail(CUDA_ERROR_INVALID_HANDLE, "event %p was never recorded", static_cast<void*>(handle));
  return point;
}

}  // namespace

SOFTGPU_API cuEventCreate(CUevent* event, unsigned flags) {
  return answer_in_context([&](Context& context) {
    need(event);
    constexpr unsigned kKnown =
        CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;
    const bool has_time = (flags & CU_EVENT_DISABLE_TIMING) == 0;
    if ((flags & ~kKnown) || ((flags & CU_EVENT_INTERPROCESS) && has_time))
      fail(CUDA_ERROR_INVALID_VALUE, "an event with flags %#x", flags);
    if (flags & CU_EVENT_INTERPROCESS)
      fail(CUDA_ERROR_NOT_SUPPORTED, "the softgpu's events are of one process");
    *event = events().add(std::shared_ptr<Event>(new Event{context, has_time, {}, {}}));
  });
}

// A stream that waits for its latest record keeps that.
SOFTGPU_API cuEventDestroy(CUevent event) {
  return answer_in_context([&](Context&) {
    if (!events().remove(event))
      fail(CUDA_ERROR_INVALID_HANDLE, "%p is not an event, or destroyed already",
           static_cast<void*>(event));
  });
}

SOFTGPU_API cuEventRecord(CUevent handle, CUstream stream) {
  return answer_in_context([&](Context& context) {
    const std::shared_ptr<Event> event = event_of(handle);
    const std::shared_ptr<Stream> of = context.stream_anywhere(stream);
    if (&event->context != &of->context())
      fail(CUDA_ERROR_INVALID_HANDLE, "event %p is of another context than the stream",
           static_cast<void*>(handle));
    auto point = std::make_shared<Point>();
    const std::lock_guard lock(event->mutex);
    of->context().queue(*of, [&](Stream& into) { into.run([point] { point->reach(); }); });
    event->latest = std::move(point);
  });
}

SOFTGPU_API cuEventQuery(CUevent event) {
  return answer_uncaptured("cuEventQuery", [&](Context&) {
    const std::shared_ptr<Event> of = event_of(event);
    const std::shared_ptr<Point> point = latest(*of);
    of->context.need_alive();
    return !point || point->is_reached() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
  });
}

SOFTGPU_API cuEventSynchronize(CUevent event) {
  return answer_uncaptured("cuEventSynchronize", [&](Context&) {
    const std::shared_ptr<Event> of = event_of(event);
    if (const std::shared_ptr<Point> point = latest(*of)) of->context.wait_for(*point);
  });
}

SOFTGPU_API cuEventElapsedTime(float* ms, CUevent start, CUevent end) {
  return answer_in_context([&](Context&) {
    need(ms);
    const std::shared_ptr<Event> from = event_of(start), to = event_of(end);
    if (&from->context != &to->context)
      fail(CUDA_ERROR_INVALID_HANDLE,
           "the time between events %p and %p, which are of two contexts",
           static_cast<void*>(start), static_cast<void*>(end));
    const std::shared_ptr<Point> first = need_time(*from, start), last = need_time(*to, end);
    if (!first->is_reached() || !last->is_reached()) return CUDA_ERROR_NOT_READY;
    const auto ns = static_cast<std::int64_t>(last->time_ns() - first->time_ns());
    *ms = static_cast<float>(static_cast<double>(ns) * 1e-6);
    return CUDA_SUCCESS;
  });
}

// Stream and event may belong to other contexts.
SOFTGPU_API cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  return answer_in_context([&](Context& context) {
    if (flags != 0) fail(CUDA_ERROR_INVALID_VALUE, "cuStreamWaitEvent: flags are 0");
    const std::shared_ptr<Stream> waiting = context.stream_anywhere(stream);
    const std::shared_ptr<Point> point = latest(*event_of(event));
    if (!point || point->is_reached()) return;
    waiting->context().queue(*waiting, [&](Stream& into) { into.run([point] { point->wait(); }); });
  });
}
