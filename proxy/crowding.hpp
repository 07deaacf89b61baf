// Whether other threads compute on the proxy's processor: the length of its yields shows it.
//
// A kernel that waits for the proxy on the same processor yields, too, and the two take turns of a
// microsecond. A thread that computes there keeps the processor until its turn ends. So each yield
// costs milliseconds: more than a sleep, after which the kernel lets a thread in at once. One long
// yield says little: it may have been a neighbour's copy of a few megabytes. After two long yields
// the processor counts as crowded for a while, even with a few short yields between the two: since
// Linux 6.6 a thread that has waited for a turn is owed so much time that its next yields find
// nobody else. The yields after that while decide whether it counts for another, each twice as long
// as the one before.
//
// Another processor may not be crowded, so the proxy first tries one. Linux puts a thread that a
// socket wakes beside the thread that wrote to the socket, as if that one were about to sleep. The
// proxies of two PEs on a machine, which send all the time, then both stay on one processor. Where
// kernels wait on the other processors, nothing parts the two again.
#pragma once

#include <algorithm>
#include <chrono>
#include <utility>

namespace chime::proxy {

class Crowding {
 public:
  using Time = std::chrono::steady_clock::time_point;

  static constexpr std::chrono::microseconds kLongYield{500};  // a scheduler's turn is longer
  static constexpr unsigned kFewShortYields = 3;               // 1 or 2 were seen, by Linux 6.18
  static constexpr std::chrono::milliseconds kShortest{10}, kLongest{100};

  bool is_believed(Time now) const { return now < until_; }

  // Whether to try another processor: this one is crowded, and none was tried lately.
  bool may_leave(Time now) const { return is_believed(now) && now >= left_ + kLongest; }
  // The thread runs on another one. If that is as crowded, it is believed for as long as this one
  // would have been.
  void left(Time now) {
    left_ = until_ = now;
    short_yields_ = kFewShortYields + 1;
  }

  // A yield began and ended.
  void yielded(Time began, Time ended) {
    if (began > until_ + kLongest) length_ = kShortest;
    if (began > std::max(until_, last_long_) + kLongest) short_yields_ = kFewShortYields + 1;
    if (ended - began <= kLongYield) {
      short_yields_ = std::min(short_yields_ + 1, kFewShortYields + 1);
      return;
    }
    if (std::exchange(short_yields_, 0) <= kFewShortYields) {
      until_ = ended + length_;
      length_ = std::min(2 * length_, kLongest);
    }
    last_long_ = ended;
  }

 private:
  unsigned short_yields_ = kFewShortYields + 1;  // since the last long one
  Time until_{}, left_{}, last_long_{};
  std::chrono::milliseconds length_ = kShortest;
};

}  // namespace chime::proxy
