// How long the proxy stays away when it finds nothing to do. For a while it looks again at once,
// and yields between two looks. Then it sleeps, longer from time to time; it sleeps at once where
// yields take too long (proxy/crowding.hpp). Host threads that post end a sleep. A kernel cannot,
// so its first request may wait for the longest sleep: a millisecond. After a second without
// anything it is longer where waking costs much (net/mesh/upkeep.hpp), as in a virtual machine.
//
// It does not sleep soon. A provider may report nothing of what peers put here, and a proxy that
// sleeps between two pieces of a stream is late for each: beside libfabric alone, puts of 256 KiB
// and 1 MiB by tcp had 0.5 and 0.7 of its rate where the first sleep came after 50 us.
#pragma once

#include <chrono>

#include "net/mesh/upkeep.hpp"
#include "net/socket/descriptor.hpp"
#include "proxy/counts/counts.hpp"
#include "proxy/crowding.hpp"

namespace chime::proxy {

class Pause {
 public:
  struct Limits {
    std::chrono::nanoseconds spin = std::chrono::milliseconds(1);  // before the first sleep
    std::chrono::nanoseconds shortest = std::chrono::microseconds(20);
    std::chrono::nanoseconds longest = std::chrono::milliseconds(1);
    // Time without anything, until sleeps are as long as they must be to cost next to nothing.
    std::chrono::nanoseconds idle = net::Upkeep::kIdle;
  };

  // For a machine where each of `pes` has a processor, on which it and its proxy may take turns.
  // Else a proxy that looks again takes time from the threads that make work for it, so it sleeps
  // at once.
  static Limits limits_beside(int pes);

  // `counts`: of the thread that pauses; outlives this.
  Pause(const Limits& limits, Counts& counts);

  // By the thread that pauses, once, before all else.
  void begin();
  // There was something to do.
  void reset() {
    is_empty_ = false;
    upkeep_.interrupt();
  }
  // There was nothing. Yields, and is to be asked again after another look. False: there has been
  // nothing for so long, or yielding takes so long, that it is better to sleep().
  bool yields();
  // Returns after a while, by wake(), or when `descriptor` can be read (-1: there is none): then
  // there is something, and sleeps begin anew. `is_waiting`: somebody waits for what the proxy has
  // begun, or there may be something already, so this sleep is short. False: it has slept to the
  // end, so there was nothing at the descriptor. REQUIRES: yields() has said so.
  bool sleep(int descriptor, bool is_waiting);

  // Ends a sleep, or the next one. From any thread.
  void wake();
  // The eventfd that does.
  int event() const { return event_.get(); }

 private:
  using Clock = std::chrono::steady_clock;

  bool sleep_until_woken(int descriptor, std::chrono::nanoseconds length);
  std::chrono::nanoseconds longest() const;

  const Limits limits_;
  const net::Descriptor event_;
  bool is_empty_ = false;
  Clock::time_point empty_since_;
  std::chrono::nanoseconds next_sleep_{};
  Crowding crowding_;
  net::Upkeep upkeep_;
  Counts& counts_;
};

}  // namespace chime::proxy
