// Losses of PEs. Each is kept until somebody asks, and reported once per PE.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>

namespace chime::bootstrap {

class LostPeers {
 public:
  using Tell = std::function<void(int pe, std::string why)>;

  // As Bootstrap::on_peer_lost.
  void tell_to(Tell tell) {
    std::lock_guard lock(mutex_);
    tell_ = std::move(tell);
    if (!tell_) return;
    for (const auto& [pe, why] : lost_) tell_(pe, why);
  }

  // The first reason stays.
  void add(int pe, const std::string& why) {
    std::lock_guard lock(mutex_);
    if (lost_.emplace(pe, why).second && tell_) tell_(pe, why);
  }

  // Empty if `pe` is not lost.
  std::string why(int pe) const {
    std::lock_guard lock(mutex_);
    const auto found = lost_.find(pe);
    return found == lost_.end() ? "" : found->second;
  }

 private:
  mutable std::mutex
      mutex_;  // also held while telling: a thread that replaces `tell_` waits for its end
  Tell tell_;
  std::map<int, std::string> lost_;
};

}  // namespace chime::bootstrap
