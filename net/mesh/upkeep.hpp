// How long a thread may sleep between two looks that find nothing, so that the looks cost only a
// small part of a core. The cost of a wake-up depends on the machine: 3 us are usual, in a virtual
// machine 15 to 40. So it is measured, by the thread's own clock.
#pragma once

#include <algorithm>
#include <chrono>

namespace chime::net {

class Upkeep {
 public:
  using Time = std::chrono::nanoseconds;

  static constexpr int kLooksPerCore = 125;  // of which one after the other would fill it: 0.8 %
  static constexpr unsigned kSleeps = 32;    // of a measurement
  static constexpr std::chrono::milliseconds kMost{5};
  // A thread that had work this recently sleeps no longer than its caller asks, whatever that
  // costs.
  static constexpr std::chrono::seconds kIdle{1};

  // The CPU time that the calling thread has used so far.
  static Time used();

  // For a thread that sleeps for no less than `least`.
  explicit Upkeep(Time least) : least_(least), length_(least) {}

  // There was something to do: the sleeps that are measured begin anew.
  void interrupt() { sleeps_ = 0; }
  // A sleep, and the look behind it, have ended. `used`: reads the thread's time.
  template <class Used>
  void slept(Used used) {
    if (sleeps_ == 0) begun_ = used();
    if (sleeps_++ < kSleeps) return;
    sleeps_ = 0;
    length_ = std::clamp<Time>((used() - begun_) / kSleeps * kLooksPerCore, least_,
                               std::max<Time>(least_, kMost));
  }
  void slept() { slept(&Upkeep::used); }

  // How long the next sleep may be. Until it has been measured, the least.
  Time length() const { return length_; }

 private:
  const Time least_;
  Time length_, begun_{};
  unsigned sleeps_ = 0;
};

}  // namespace chime::net
