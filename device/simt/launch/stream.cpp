#include "chime/device/simt/launch/stream.hpp"

#include <algorithm>
#include <thread>
#include <vector>

#include "chime/abi/start_thread.h"
#include "chime/device/simt/exec/exec_threads.hpp"
#include "chime/device/simt/faults/immortal.hpp"
#include "chime/device/simt/faults/report.hpp"
#include "chime/device/simt/faults/sanitizers.hpp"

namespace chime::simt {

namespace {

// TSan does not see the reference count that orders an object's last use before its end.
template <class T>
void end_unseen(T* last) {
  const TsanIgnores ignores;
  delete last;
}

}  // namespace

// ---- Stream ---------------------------------------------------------------------------------

std::shared_ptr<Stream> Stream::create() {
  const std::shared_ptr<Stream> stream(new Stream, end_unseen<Stream>);
  try {
    abi::start_thread([stream] { stream->serve(); }).detach();
  } catch (const std::runtime_error& error) {
    fatal("no OS thread for a stream: %s", error.what());
  }
  return stream;
}

void Stream::enqueue(std::function<void()> work) {
  const std::lock_guard lock(mutex_);
  queue_.push_back(std::move(work));
  ++enqueued_;
  queued_.notify_one();
}

void Stream::synchronize() {
  std::unique_lock lock(mutex_);
  const std::uint64_t target = enqueued_;
  finished_.wait(lock, [&] { return completed_ >= target; });
}

// Called when the last reference goes: TSan does not see the count of these uninstrumented objects.
Stream::~Stream() { happens_after(this); }

void Stream::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    queued_.notify_one();
  }
  happens_before(this);
}

bool Stream::next_work(std::function<void()>* work) {
  std::unique_lock lock(mutex_);
  queued_.wait(lock, [this] { return closed_ || !queue_.empty(); });
  if (queue_.empty()) return false;
  *work = std::move(queue_.front());
  queue_.pop_front();
  return true;
}

void Stream::serve() {
  std::function<void()> work;
  while (next_work(&work)) {
    work();
    work = nullptr;  // destroys the arguments before the host learns that the work is done
    const std::lock_guard lock(mutex_);
    ++completed_;
    finished_.notify_all();
  }
  happens_before(this);
}

// ---- All streams ----------------------------------------------------------------------------

namespace {

struct Streams {
  std::mutex mutex;
  std::vector<std::shared_ptr<Stream>> live;
};

Streams& streams() { return immortal<Streams>(); }

// A host thread's default stream: made at first use, closed (not waited for) when the thread ends.
class DefaultStream {
 public:
  ~DefaultStream() {
    if (stream_) remove_stream(stream_);
  }
  exec::Stream get() {
    if (!stream_) stream_ = add_stream();
    return stream_;
  }

 private:
  exec::Stream stream_ = nullptr;
};

exec::Stream default_stream() {
  static thread_local DefaultStream stream;
  return stream.get();
}

}  // namespace

exec::Stream add_stream() {
  std::shared_ptr<Stream> stream = Stream::create();
  const std::lock_guard lock(streams().mutex);
  streams().live.push_back(stream);
  return stream.get();
}

bool remove_stream(exec::Stream handle) {
  const std::lock_guard lock(streams().mutex);
  auto& live = streams().live;
  const auto found = std::find_if(live.begin(), live.end(),
                                  [&](const auto& stream) { return stream.get() == handle; });
  if (found == live.end()) return false;
  (*found)->close();
  live.erase(found);
  return true;
}

std::shared_ptr<Stream> find_stream(exec::Stream handle) {
  if (!handle) handle = default_stream();
  const std::lock_guard lock(streams().mutex);
  for (const auto& stream : streams().live) {
    if (stream.get() == handle) return stream;
  }
  return nullptr;
}

void for_each_stream(const std::function<void(Stream&)>& visit) {
  std::vector<std::shared_ptr<Stream>> all;
  {
    const std::lock_guard lock(streams().mutex);
    all = streams().live;
  }
  for (const auto& stream : all) visit(*stream);
}

// ---- Event ----------------------------------------------------------------------------------

std::shared_ptr<Event> Event::create() { return {new Event, end_unseen<Event>}; }

std::uint64_t Event::will_record() {
  const std::lock_guard lock(mutex_);
  return ++queued_;
}

void Event::recorded(std::uint64_t record) {
  const std::lock_guard lock(mutex_);
  if (record <= done_) return;
  done_ = record;
  time_ns_ = exec::clock_ns();
  happened_.notify_all();
}

std::uint64_t Event::latest() {
  const std::lock_guard lock(mutex_);
  return queued_;
}

void Event::wait_for(std::uint64_t record) {
  std::unique_lock lock(mutex_);
  happened_.wait(lock, [&] { return done_ >= record; });
}

std::uint64_t Event::time() {
  const std::lock_guard lock(mutex_);
  return done_ && done_ == queued_ ? time_ns_ : 0;
}

}  // namespace chime::simt
