// Whether another thread computes on the core of a thread that only waits. Its yields show it.
//
// A yield gives the core to a neighbour. If that one waits, too, the core comes back within a
// microsecond. A neighbour that computes keeps it until its turn ends, so each yield costs
// milliseconds. After such a yield, naps replace yields for a while, because a thread that wakes
// from a nap gets the core at once. Each crowding that follows another is assumed to last twice as
// long: finding out costs a turn.
#pragma once

#include <algorithm>
#include <chrono>

namespace chime::simt {

class Crowding {
 public:
  using Clock = std::chrono::steady_clock;
  using Time = Clock::time_point;

  static constexpr unsigned kHopefulTurns = 64, kHopefulTurnsAlone = 256;
  static constexpr std::chrono::nanoseconds kEmptyYield{500};  // two switches take longer
  static constexpr std::chrono::microseconds kLongYield{500};  // a scheduler's turn is longer
  static constexpr std::chrono::milliseconds kShortest{10}, kLongest{1000};

  bool is_believed(Time now) const { return now < until_; }

  // A yield began and ended.
  void yielded(Time began, Time ended) {
    hopeful_turns_ = ended - began < kEmptyYield ? kHopefulTurnsAlone : kHopefulTurns;
    if (ended - began > kLongYield) {
      until_ = ended + length_;
      length_ = std::min(length_ * 2, kLongest);
    } else if (ended > until_ + kLongest) {
      length_ = kShortest;
    }
  }

  // For how many turns of a wait the thread polls without pauses before it makes room: few, unless
  // the last yield found no other thread that wanted the core. Then for longer than a NIC's answer
  // takes, 10 us.
  unsigned hopeful_turns() const { return hopeful_turns_; }

 private:
  unsigned hopeful_turns_ = kHopefulTurns;
  Time until_{};
  std::chrono::milliseconds length_ = kShortest;
};

}  // namespace chime::simt
