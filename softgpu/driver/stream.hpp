// A stream: a queue of the executor, and the points in its work that others wait for.
#pragma once

#include <cuda.h>

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>

#include "chime/device/simt/exec/exec_host.hpp"

namespace softgpu::driver {

class Context;

// A point in a stream's work: reached when all work before it is done.
class Point {
 public:
  void reach();
  bool is_reached() const;
  void wait() const;
  std::uint64_t time_ns() const;  // REQUIRES: is_reached()

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable reached_;
  std::uint64_t time_ns_ = 0;  // 0: not reached
};

enum class StreamKind {
  kLegacy,       // the null stream of a context
  kBlocking,     // it and the legacy stream wait for each other
  kNonBlocking,  // neither
};

// The queue itself. Context::queue decides what waits for what, and its lock covers this.
class Stream {
 public:
  Stream(Context& context, StreamKind kind);
  Stream(const Stream&) = delete;
  ~Stream();  // queued work still runs

  Context& context() const { return context_; }
  StreamKind kind() const { return kind_; }
  chime::exec::Stream executor() const { return queue_; }

  // ---- REQUIRES: the context's lock ----

  void run(std::function<void()> work);
  void worked() { has_new_work_ = true; }
  // After all work that is queued now; already reached if there is none.
  std::shared_ptr<Point> end_of_work();

 private:
  Context& context_;
  const StreamKind kind_;
  chime::exec::Stream queue_ = nullptr;
  bool has_new_work_ = false;
  std::shared_ptr<Point> last_;
};

}  // namespace softgpu::driver
