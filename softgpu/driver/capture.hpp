// Streams that are captured into a graph, as far as they forbid calls: a capture is of a stream's
// thread, or of all threads (global), and a call that could wait for what a capture only records
// spoils it. Which calls a thread may make is its capture mode's to say. There are no graphs:
// nothing is recorded.
#pragma once

#include <cuda.h>

#include <mutex>
#include <thread>
#include <vector>

namespace softgpu::driver {

class Stream;

class Captures {
 public:
  // Fails where it is captured already.
  void begin(const Stream& stream, CUstreamCaptureMode mode);
  // Fails where it was spoilt, or is no capture of this thread's.
  void end(const Stream& stream);
  void forget(const Stream& stream);
  CUstreamCaptureStatus status_of(const Stream& stream) const;

  // Before a call of any thread that may allocate, free or wait: fails, and spoils the captures
  // that forbid it.
  void need_none(const char* call);
  // Before `call` on the stream itself, which no mode permits.
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

// The calling thread's.
CUstreamCaptureMode& capture_mode();

}  // namespace softgpu::driver
