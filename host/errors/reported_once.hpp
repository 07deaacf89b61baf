// The reason of an abort is reported once for each PE that is to blame, by the first thread that
// meets it.
#pragma once

#include <mutex>
#include <set>
#include <utility>

namespace chime::host {

class ReportedOnce {
 public:
  // Calls `tell` unless `pe` was reported. When it returns, the report is complete, also where
  // another thread has made it: the caller may end the process. An exception of `tell` is passed
  // on, and the next call reports again. -1: an abort that no PE is to blame for.
  template <class Tell>
  void report(int pe, Tell&& tell) {
    const std::lock_guard lock(one_teller_);
    const auto [place, is_first] = reported_.insert(pe);
    if (!is_first) return;
    try {
      std::forward<Tell>(tell)();
    } catch (...) {
      reported_.erase(place);
      throw;
    }
  }

 private:
  std::mutex one_teller_;
  std::set<int> reported_;
};

}  // namespace chime::host
