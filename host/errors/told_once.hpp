// Why the job is aborted is told once for each PE that is to blame, by whichever thread meets it
// first.
#pragma once

#include <mutex>
#include <set>
#include <utility>

namespace chime::host {

class ToldOnce {
 public:
  // Calls `tell` unless `pe` was told of. Whoever returns finds it told, not half told by another
  // thread: it may end the process. -1: an abort that no PE is to blame for.
  template <class Tell>
  void tell_of(int pe, Tell&& tell) {
    const std::lock_guard lock(one_teller_);
    if (told_.insert(pe).second) std::forward<Tell>(tell)();
  }

 private:
  std::mutex one_teller_;
  std::set<int> told_;
};

}  // namespace chime::host
