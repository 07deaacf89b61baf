// Streams that are captured into a graph, as far as they forbid calls. A capture belongs to its
// stream's thread, or to all threads (global). A call that could wait for captured work, which is
// only recorded, spoils the capture. A thread's capture mode says which calls it may make. There
// are no graphs: nothing is recorded.
#pragma once

#include <cuda.h>

#include <mutex>
#include <thread>
#include <vector>

namespace softgpu::driver {

class Stream;

class Captures {
 public:
  // Fails if it is captured already.
  void begin(const Stream& stream, CUstreamCaptureMode mode);
  // Fails if the capture was spoilt, or does not belong to this thread.
  void end(const Stream& stream);
  void forget(const Stream& stream);
  CUstreamCaptureStatus status_of(const Stream& stream) const;

  // Called before a call of any thread that may allocate, free or wait: fails, and spoils the
  // captures that forbid it.
  void need_none(const char* call);
  // Called before `call` on the stream itself, which no mode permits.
  void need_none_of(const Stream& stream, const char* call);

 private:
  struct Capture {
    const Stream* stream;
    CUstreamCaptureMode mode;
    std::thread::id thread;
    bool is_spoilt;
  };
  const Capture* find(const Stream& stream) const;

  mutable std::mutex mutex_;
  std::vector<Capture> all_;
};

Captures& captures();

// The mode of the calling thread.
CUstreamCaptureMode& capture_mode();

}  // namespace softgpu::driver
