// PE 0 of two, for which PE 1 has come to all meetings already; watches PE 1's flag.
#pragma once

#include <algorithm>
#include <atomic>

#include "chime/device/coll/barrier.cuh"

namespace chime::tests {

template <class Job>
class Meeting {
 public:
  explicit Meeting(Job& pe) : pe_(pe), flag_(pe.context(1).teams.entries->areas->flags[0].arrived) {
    pe.context().teams.entries->areas->flags[0].arrived = 1000;
    pe.watch([this] { look(); });
  }
  // The last arrival may still be in flight.
  ~Meeting() { pe_.watch({}); }
  Meeting(const Meeting&) = delete;
  Meeting& operator=(const Meeting&) = delete;

  std::uint64_t flag() const { return std::atomic_ref(flag_).load(); }
  bool went_back() const { return went_back_; }

 private:
  // After each request, or step of one.
  void look() {
    const std::uint64_t now = flag();
    if (now < highest_) went_back_ = true;
    highest_ = std::max(highest_, now);
  }

  Job& pe_;
  std::uint64_t& flag_;
  std::atomic<bool> went_back_{false};
  std::uint64_t highest_ = 0;  // the stand-in's thread alone
};

}  // namespace chime::tests
