// How long the proxy stays away when it finds nothing to do: it looks again at once for a while,
// then sleeps, longer from time to time. A kernel cannot wake a thread, so the longest sleep is
// what its first request may wait for.
//
// Between two looks it yields: a kernel that waits for it on the same processor yields, too, and
// the two take turns of a microsecond. Who computes there instead keeps the processor until his
// turn ends. That costs more than a sleep, from which one is let in at once: so after a yield that
// was long, it sleeps for a while, each time for twice as long a while as before.
#pragma once

#include <chrono>

#include "net/descriptor.hpp"
#include "proxy/counts.hpp"

namespace chime::proxy {

class Pause {
 public:
  struct Limits {
    std::chrono::nanoseconds spin = std::chrono::microseconds(50);  // before the first sleep
    std::chrono::nanoseconds shortest = std::chrono::microseconds(20);
    std::chrono::nanoseconds longest = std::chrono::milliseconds(1);
  };

  // Where each of `pes` has a processor, on which it and its proxy may take turns; else a proxy
  // that looks again takes time from those who have something for it, and sleeps at once.
  static Limits limits_beside(int pes);

  // `counts`: of the thread that pauses; outlives this.
  Pause(const Limits& limits, Counts& counts);

  // By the thread that pauses, once, before all else.
  void begin();
  // There was something to do.
  void reset() { is_empty_ = false; }
  // There was nothing. Returns after a while, by wake(), or when `descriptor` can be read (-1:
  // there is none): then there is something, and sleeps begin anew. `is_waiting`: somebody waits
  // for what the proxy has begun, or there may be something already, so this sleep is short. False:
  // it has slept to the end, so there was nothing at the descriptor.
  bool take(int descriptor, bool is_waiting);

  // Ends a sleep, or the next one. From any thread.
  void wake();

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kShortestCrowding{10}, kLongestCrowding{100};

  void yield(Clock::time_point now);
  bool sleep(int descriptor, std::chrono::nanoseconds length);

  const Limits limits_;
  const net::Descriptor event_;
  bool is_empty_ = false;
  Clock::time_point empty_since_;
  std::chrono::nanoseconds next_sleep_{};
  Clock::time_point crowded_until_;
  std::chrono::nanoseconds next_crowding_ = kShortestCrowding;
  Counts& counts_;
};

}  // namespace chime::proxy
