// A stream: a queue of work and one OS thread that does it in order. Kernels of different streams
// run at the same time, and the host goes on meanwhile, so a kernel may wait for a later host write
// or for another stream.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

#include "chime/device/simt/exec/exec_host.hpp"

namespace chime::simt {

class Stream : public std::enable_shared_from_this<Stream> {
 public:
  // Makes a stream with its thread running. The thread ends when the stream is closed and its queue
  // is empty.
  static std::shared_ptr<Stream> create();
  ~Stream();

  void enqueue(std::function<void()> work);
  void synchronize();  // all work queued before this call
  void close();

 private:
  void serve();
  bool next_work(std::function<void()>* work);  // false: closed and empty

  std::mutex mutex_;
  std::condition_variable queued_, finished_;
  std::deque<std::function<void()>> queue_;
  std::uint64_t enqueued_ = 0, completed_ = 0;  // pieces of work
  bool closed_ = false;
};

// The stream that a handle names; for null the calling thread's default stream. Returns null if it
// is not a live stream.
std::shared_ptr<Stream> find_stream(exec::Stream handle);

// Calls visit for every live stream of the process.
void for_each_stream(const std::function<void(Stream&)>& visit);

exec::Stream add_stream();
bool remove_stream(exec::Stream handle);

// A point in a stream's work. Recording it again moves it.
class Event {
 public:
  static std::shared_ptr<Event> create();

  // Called by the host when it queues the record, and by the stream when it gets there.
  std::uint64_t will_record();
  void recorded(std::uint64_t record);

  // The latest record queued so far; 0 if there is none.
  std::uint64_t latest();
  void wait_for(std::uint64_t record);
  // Time of the latest record in ns; 0 if it has not happened yet.
  std::uint64_t time();

 private:
  std::mutex mutex_;
  std::condition_variable happened_;
  std::uint64_t queued_ = 0, done_ = 0;
  std::uint64_t time_ns_ = 0;
};

}  // namespace chime::simt
