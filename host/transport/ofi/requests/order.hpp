// The one place where an atomic is held back: until all puts that were posted before it to the same
// PE have passed the point from where nothing can overtake them. Puts pass each other, and atomics
// that are held back; so between a put and its signal nothing else is waited for.
//
//   posted   put a, put b, ATOMIC 1, put c, ATOMIC 2, put d
//   groups   {a, b | 1}  {c | 2}  {d | }         an atomic goes when its group and those before are
//                                                empty: put d holds nobody back
//
// One object for each peer. Empty, it costs four words.
#pragma once

#include <cstdint>
#include <list>
#include <utility>
#include <vector>

namespace chime::host::ofi {

template <class Atomic>
class Order {
  struct Group {
    std::uint64_t puts = 0;  // that have not passed
    std::vector<Atomic> behind = {};
  };

 public:
  // Which group a put is of.
  using Turn = Group*;

  // A put is posted.
  Turn enter() {
    if (groups_.empty() || !groups_.back().behind.empty()) groups_.emplace_back();
    ++groups_.back().puts;
    ++puts_;
    return &groups_.back();
  }

  // Whether an atomic that is posted now must be held. `together`: puts that have not passed, but
  // stand before it in the batch of messages that it goes by.
  bool must_wait(std::uint64_t together = 0) const { return puts_ != together; }
  // REQUIRES: must_wait().
  void hold(Atomic atomic) { groups_.back().behind.push_back(std::move(atomic)); }

  // A put has passed. Returns the atomics that need not wait any more, in the order of holding.
  std::vector<Atomic> leave(Turn turn) {
    --turn->puts;
    --puts_;
    std::vector<Atomic> free;
    while (!groups_.empty() && groups_.front().puts == 0) {
      for (Atomic& atomic : groups_.front().behind) free.push_back(std::move(atomic));
      groups_.pop_front();
    }
    return free;
  }

  // The peer is lost: nothing is held back, and no turn is left any more.
  void clear() {
    groups_.clear();
    puts_ = 0;
  }

 private:
  std::list<Group> groups_;
  std::uint64_t puts_ = 0;  // of all groups
};

}  // namespace chime::host::ofi
