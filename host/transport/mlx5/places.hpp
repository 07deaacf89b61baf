// Which of the queue pairs that were made at init lead to which peer. A place is one in each slot;
// it is held for a peer from the offer on, and for ever once it is connected.
#pragma once

#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace chime::host::mlx5 {

class Places {
 public:
  explicit Places(unsigned count) : count_(count) {}

  unsigned count() const { return count_; }
  // nullopt: none is held for it.
  std::optional<unsigned> of(int pe) const {
    const auto held = held_.find(pe);
    return held == held_.end() ? std::nullopt : std::optional(held->second);
  }
  // The one that is held for `pe`, or a free one; nullopt: there is none.
  std::optional<unsigned> take(int pe) {
    if (const auto held = of(pe)) return held;
    if (free_.empty() && next_ == count_) return std::nullopt;
    const unsigned place = free_.empty() ? next_++ : free_.back();
    if (!free_.empty()) free_.pop_back();
    held_.emplace(pe, place);
    return place;
  }
  // The one that is held for `pe`, whose queue pairs are about to be connected: it stays with `pe`
  // for ever. REQUIRES: one is held.
  unsigned connect(int pe) {
    connected_.insert(pe);
    return *of(pe);
  }
  // Unless it is connected: nobody else can use its queue pairs then.
  void give_back(int pe) {
    if (connected_.contains(pe)) return;
    if (const auto held = of(pe)) free_.push_back(*held);
    held_.erase(pe);
  }
  bool has_room_for(int pe) const { return of(pe) || !free_.empty() || next_ != count_; }

 private:
  const unsigned count_;
  unsigned next_ = 0;  // those from here on were never taken
  std::vector<unsigned> free_;
  std::unordered_map<int, unsigned> held_;
  std::unordered_set<int> connected_;
};

}  // namespace chime::host::mlx5
