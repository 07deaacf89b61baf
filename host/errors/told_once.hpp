// Why the job is aborted is told once a PE, by whichever of its threads meets it first.
#pragma once

#include <mutex>
#include <utility>

namespace chime::host {

class ToldOnce {
 public:
  // Calls `tell` unless the last one told of was `pe`. Whoever returns finds it told, not half told
  // by another thread: it may end the process.
  template <class Tell>
  void tell_of(int pe, Tell&& tell) {
    const std::lock_guard lock(one_teller_);
    if (std::exchange(last_, pe) != pe) std::forward<Tell>(tell)();
  }

 private:
  std::mutex one_teller_;
  int last_ = -2;  // nobody; -1 is an abort that no PE is to blame for
};

}  // namespace chime::host
