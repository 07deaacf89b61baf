// A context: its streams and their dependencies, and the error that has made it unusable.
#pragma once

#include <cuda.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "softgpu/driver/stream.hpp"

namespace softgpu::driver {

class Device;

class Context : public std::enable_shared_from_this<Context> {
 public:
  // Gives it a handle, and adds it to the list of live contexts.
  static std::shared_ptr<Context> create(Device& device);
  explicit Context(Device& device) : device_(device) {}
  Context(const Context&) = delete;

  CUcontext handle() const { return handle_; }
  Device& device() const { return device_; }

  // Ends it: waits for its work, then destroys its streams, events, modules and memory.
  void destroy();

  // False: it was enabled already.
  bool enable_peer(const Context& peer);
  bool disable_peer(const Context& peer);

  // ---- The error that makes it unusable ----

  // Sticky: a kernel that fails makes the context unusable. CUDA_SUCCESS: no kernel has failed.
  CUresult failure() const { return failure_.load(std::memory_order_acquire); }
  // The first failure counts. It is reported on stderr before any call returns it: a program that
  // ends at once has said why.
  void lose(CUresult failure, const char* words);
  // Fails with that error, if there is one.
  void need_alive() const;

  // ---- Streams ----

  std::shared_ptr<Stream> add_stream(StreamKind kind);
  void remove_stream(const Stream& stream);

  // The stream that a handle names, also the null stream and the calling thread's. Fails if it is
  // not in this context.
  std::shared_ptr<Stream> stream_of(CUstream handle);
  // The same for calls that CUDA accepts for streams of other contexts: copies, queries and waits.
  // The context is the stream's. Fails if there is none, or its context is lost.
  std::shared_ptr<Stream> stream_anywhere(CUstream handle);

  // Queues work in `stream`, after the work that the stream must wait for: `put` puts it into the
  // executor's queue.
  void queue(Stream& stream, const std::function<void(Stream&)>& put);
  // The same for a function, which does not run once the context is lost.
  void queue_call(Stream& stream, std::function<void()> call);

  // After all work that is queued in the stream now, and what this waits for.
  std::shared_ptr<Point> end_of_work(Stream& stream);
  // Waits for the point. Fails if the context is lost meanwhile.
  void wait_for(const Point& point) const;
  void wait_for_work(Stream& stream) { wait_for(*end_of_work(stream)); }
  void synchronize();

 private:
  void wait_first(Stream& stream);  // REQUIRES: mutex_
  Stream& legacy();                 // REQUIRES: mutex_

  Device& device_;
  CUcontext handle_ = nullptr;
  std::mutex losing_;  // held while the failure is reported
  std::atomic<CUresult> failure_{CUDA_SUCCESS};
  // Orders the work of the streams: a piece of work is queued after every piece that it waits for.
  std::mutex mutex_;
  std::shared_ptr<Stream> legacy_;
  std::vector<std::shared_ptr<Stream>> streams_;  // without the legacy one
  std::set<CUcontext> peers_;
};

// ---- Which context is current -----------------------------------------------------------------

// The calling thread's context. Fails if there is none, or it is destroyed.
std::shared_ptr<Context> current_context();
std::shared_ptr<Context> find_context(CUcontext handle);  // null: no such

// The calling thread's stack of contexts.
CUcontext top_context();
void set_context(CUcontext handle);  // null: removes the top
void push_context(CUcontext handle);
CUcontext pop_context();

}  // namespace softgpu::driver
