#include "softgpu/driver/stream.hpp"

#include <algorithm>

#include "chime/device/simt/exec/exec_threads.hpp"
#include "softgpu/driver/capture.hpp"
#include "softgpu/driver/failure.hpp"

namespace softgpu::driver {

// ---- Point ------------------------------------------------------------------------------------

void Point::reach() {
  const std::lock_guard lock(mutex_);
  time_ns_ = std::max<std::uint64_t>(1, chime::exec::clock_ns());
  reached_.notify_all();
}

bool Point::is_reached() const {
  const std::lock_guard lock(mutex_);
  return time_ns_ != 0;
}

void Point::wait() const {
  std::unique_lock lock(mutex_);
  reached_.wait(lock, [this] { return time_ns_ != 0; });
}

std::uint64_t Point::time_ns() const {
  const std::lock_guard lock(mutex_);
  return time_ns_;
}

// ---- Stream -----------------------------------------------------------------------------------

Stream::Stream(Context& context, StreamKind kind) : context_(context), kind_(kind) {
  chime::exec::stream_create(&queue_);
}

Stream::~Stream() {
  captures().forget(*this);
  chime::exec::stream_destroy(queue_);
}

void Stream::run(std::function<void()> work) {
  auto kept = std::make_unique<std::function<void()>>(std::move(work));
  const auto status = chime::exec::stream_host_call(
      queue_,
      [](void* argument) {
        (*std::unique_ptr<std::function<void()>>(static_cast<std::function<void()>*>(argument)))();
      },
      kept.get());
  if (status != CHIMEX_OK) fail(CUDA_ERROR_UNKNOWN, "%s", chime::exec::last_error());
  kept.release();  // by the stream
}

std::shared_ptr<Point> Stream::end_of_work() {
  if (has_new_work_ || !last_) {
    last_ = std::make_shared<Point>();
    if (has_new_work_)
      run([point = last_] { point->reach(); });
    else
      last_->reach();
    has_new_work_ = false;
  }
  return last_;
}

}  // namespace softgpu::driver
