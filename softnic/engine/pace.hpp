// How an engine without work spends its time: it polls, then sleeps for longer and longer. A packet
// wakes it; a store to a doorbell page does not.
//
// It polls no longer than a wake-up takes (SOFTNIC_SPIN_US): where cores are scarce, a NIC that
// spins delays the very program that it waits for. There it yields at every look, which gives the
// core to a neighbour's engine and back within a microsecond. But a program that spins on the same
// core keeps it until the scheduler's next tick. After that has happened, the engine does not yield
// for a while, and sleeps when it has woken a neighbour: a thread that wakes from a short sleep
// gets the core.
#pragma once

#include <chrono>

namespace softnic {

class Pace {
 public:
  using Clock = std::chrono::steady_clock;

  // Called by the engine's thread: asks the scheduler for short slices, so that the engine runs at
  // once when it wakes beside a program that spins.
  explicit Pace(std::chrono::microseconds spin);

  // The engine did some work.
  void worked() {
    last_work_ = Clock::now();
    sleep_ = kShortest;
  }

  struct Quiet {
    bool in_flight;       // a request or an answer of this NIC is in flight
    bool has_woken;       // a neighbour, since the last sleep
    unsigned neighbours;  // their engines need cores, too
  };
  // The engine found no work: how long to sleep now. Zero: poll() and look again.
  std::chrono::nanoseconds idle(const Quiet& quiet);
  void poll();

 private:
  static constexpr std::chrono::nanoseconds kShortest{5'000};
  static constexpr std::chrono::milliseconds kFirstCrowding{10};

  void watch_yield();

  std::chrono::microseconds spin_;
  unsigned cores_;
  bool yields_ = false;
  Clock::time_point last_work_ = Clock::now();
  std::chrono::nanoseconds sleep_ = kShortest;
  std::chrono::milliseconds crowding_ = kFirstCrowding;  // how long not to yield next time
  Clock::time_point crowded_until_{};                    // a program spins on this core
};

}  // namespace softnic
