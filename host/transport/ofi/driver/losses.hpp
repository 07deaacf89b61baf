// The lost peers and the reasons, for threads other than the one that polls.
#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace chime::host::ofi {

class Losses {
 public:
  // Asks the thread that polls to give up on `pe`.
  void ask(int pe) {
    const std::lock_guard lock(mutex_);
    asked_.push_back(pe);
    is_asked_.store(true, std::memory_order_relaxed);  // the mutex orders what is found then
  }
  bool is_asked() const { return is_asked_.load(std::memory_order_relaxed); }
  std::vector<int> take_asked() {
    const std::lock_guard lock(mutex_);
    is_asked_.store(false, std::memory_order_relaxed);
    return std::exchange(asked_, {});
  }

  // The first reason counts.
  void record(int pe, std::string why) {
    const std::lock_guard lock(mutex_);
    whys_.try_emplace(pe, std::move(why));
  }
  std::optional<std::string> why(int pe) const {
    const std::lock_guard lock(mutex_);
    const auto found = whys_.find(pe);
    return found == whys_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  std::atomic<bool> is_asked_ = false;
  mutable std::mutex mutex_;  // guards what follows
  std::vector<int> asked_;
  std::map<int, std::string> whys_;
};

}  // namespace chime::host::ofi
