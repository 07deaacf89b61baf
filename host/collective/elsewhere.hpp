// Whether a PE for which others wait in a collective call stands in a barrier that waits for them.
// Both calls would last until CHIME_TIMEOUT.
//
// A barrier of the host counts once the same one has been seen for a while. One that is about to
// end does not last so long, unless a PE is still on its way to it; whoever looks is not: it is in
// another call, and no kernel of its own runs that might yet come.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>

namespace chime::host {

// For how long the same barrier must have been seen.
inline constexpr std::chrono::milliseconds kBarrierIsStuck{400};
// How often PEs look that wait in another call, or ask.
inline constexpr std::chrono::milliseconds kLookForBarriersEvery{500};

// What a PE does beside its collective calls.
struct Beside {
  std::function<std::uint64_t()> barrier = [] { return 0; };  // its ControlBlock's word
  std::function<bool()> kernels_run = [] { return true; };    // and may come to a barrier
};

class Elsewhere {
 public:
  using Clock = std::chrono::steady_clock;

  // `in_barrier`: ControlBlock's word of `pe`, as read at `now`. Whether it stands there.
  bool look(int pe, std::uint64_t in_barrier, Clock::time_point now) {
    Seen& seen = seen_[pe];
    if (in_barrier == 0 || in_barrier != seen.barrier) seen = {in_barrier, now};
    return in_barrier != 0 && now - seen.since >= kBarrierIsStuck;
  }

 private:
  struct Seen {
    std::uint64_t barrier = 0;
    Clock::time_point since;
  };
  std::map<int, Seen> seen_;
};

}  // namespace chime::host
