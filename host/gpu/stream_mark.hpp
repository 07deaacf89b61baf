// A point in the work of a stream, set again and again: what comes before it may be waited for by
// other streams, and asked about.
#pragma once

namespace chime::host {

using NativeStream = void*;  // cudaStream_t, or simt::Stream*

// By one thread at a time.
class StreamMark {
 public:
  virtual ~StreamMark() = default;
  // After all that `stream` has been given so far; the point before is forgotten.
  virtual void set(NativeStream stream) = 0;
  // Whether the stream has come there. True if it was never set.
  virtual bool is_reached() = 0;
  // Later work of `stream` waits for it.
  virtual void hold(NativeStream stream) = 0;
};

}  // namespace chime::host
