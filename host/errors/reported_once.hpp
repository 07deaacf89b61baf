// Why the job is aborted is told once for each PE that is to blame, by whichever thread meets it
// first.
#pragma once

#include <mutex>
#include <set>
#include <utility>

namespace chime::host {

class ReportedOnce {
 public:
  // Calls `tell` unless `pe` was told of. Whoever returns finds it told, not half told by another
  // thread: it may end the process. What `tell` throws is thrown, and the next call tells it.
  // -1: an abort that no PE is to blame for.
  template <class Tell>
  void report(int pe, Tell&& tell) {
    const std::lock_guard lock(one_teller_);
    const auto [place, is_first] = told_.insert(pe);
    if (!is_first) return;
    try {
      std::forward<Tell>(tell)();
    } catch (...) {
      told_.erase(place);
      throw;
    }
  }

 private:
  std::mutex one_teller_;
  std::set<int> told_;
};

}  // namespace chime::host
