// The user's choices for mapped peers (CHIME_P2P).
#pragma once

namespace chime::host {

// Which PEs of a node map each other's heaps: those of the same group of so many, counted from PE
// 0.
struct P2pGroups {
  static constexpr unsigned kAll = ~0u;
  unsigned size = kAll;  // 0: none

  bool is_off() const { return size == 0; }
  bool maps(int pe, int other) const {
    return !is_off() && static_cast<unsigned>(pe) / size == static_cast<unsigned>(other) / size;
  }
};

}  // namespace chime::host
