// What records the timeline (CHIME_TRACE). The executor keeps none: the runtime that is built on it
// gives one while it records.
#pragma once

#include <atomic>
#include <cstdint>

#include "chime/abi/operation.h"

namespace chime::simt {

struct TracingPe;

// A kernel's thread.
struct ThreadPlace {
  std::uint64_t launch = 0;  // its number in this process, from 1; 0: a host thread
  std::uint64_t block = 0;
  unsigned thread = 0;
};

struct LaunchOfKernel {
  const char* name;  // lives for ever
  int pe;
  std::uint64_t launch, blocks;
  unsigned threads;  // of a block
};

// Each begin returns the event, which its end gets; null: there is no room for it. An event stays
// valid for ever.
struct Recorder {
  void* (*begin_work)(const TracingPe& me, const abi::TracedWork& work, const ThreadPlace& where);
  void* (*begin_call)(const char* name);  // of a host thread; `name` lives for ever
  void* (*begin_launch)(const LaunchOfKernel& launch);
  void (*end)(void* event);
  void (*note_seen)(void* event, std::uint64_t value);
};

// `recorder` lives for ever. Null: nothing is recorded any more, but what has begun ends.
void set_recorder(const Recorder* recorder);

namespace detail {
extern constinit std::atomic<const Recorder*> recorder_in_use;
}

// Null: nothing records. Pairs with the release in set_recorder.
inline const Recorder* recorder() {
  return detail::recorder_in_use.load(std::memory_order_acquire);
}

// An event of this library's own, while an object lives.
class TracedCall {
 public:
  explicit TracedCall(const char* name) : event_(begin(&Recorder::begin_call, name)) {}
  explicit TracedCall(const LaunchOfKernel& launch)
      : event_(begin(&Recorder::begin_launch, launch)) {}
  ~TracedCall() {
    if (event_ != nullptr) end();
  }
  TracedCall(const TracedCall&) = delete;

 private:
  // One look: another thread may end the recording meanwhile.
  template <class Begin, class What>
  static void* begin(Begin Recorder::*how, const What& what) {
    const Recorder* const in_use = recorder();
    return in_use != nullptr ? (in_use->*how)(what) : nullptr;
  }
  void end() const;

  void* const event_;
};

}  // namespace chime::simt
