// A step of recursive doubling, as a member sees it: which members it sends to (doubling.cuh).
//
// Groups of at most so many members become groups of twice as many. The last group may be smaller:
// its members send to several of the other one, at most to all.
#ifndef CHIME_DEVICE_COLL_STEP_CUH_
#define CHIME_DEVICE_COLL_STEP_CUH_

#include "chime/device/exec/exec.cuh"

namespace chime::detail {

struct RankGroup {
  unsigned first, count;
};
CHIME_DEVICE RankGroup group_from(unsigned first, unsigned most, unsigned members) {
  if (first >= members) return {first, 0};
  return {first, members - first < most ? members - first : most};
}

// The step that member `rank` of `members` takes. REQUIRES: `most` is a power of two.
struct Step {
  RankGroup mine, other;
  unsigned place;  // of the member in its group

  CHIME_DEVICE Step(unsigned rank, unsigned members, unsigned most)
      : mine(group_from(rank & ~(most - 1), most, members)),
        other(group_from(mine.first ^ most, most, members)),
        place(rank - mine.first) {}

  // Members of equal places send to each other, counted around in the smaller group. So two
  // members send to each other in one step alone.
  CHIME_DEVICE unsigned receivers() const {
    return place < other.count ? (other.count - place + mine.count - 1) / mine.count : 0;
  }
  CHIME_DEVICE unsigned receiver(unsigned i) const { return other.first + place + i * mine.count; }
  // REQUIRES: there is another group.
  CHIME_DEVICE unsigned sender() const { return other.first + place % other.count; }
};

// The most members of a group in the step in which these two send to each other.
CHIME_DEVICE unsigned most_between(unsigned rank, unsigned other) {
  unsigned most = 1;
  while ((rank ^ other) >= 2 * most) most *= 2;
  return most;
}

}  // namespace chime::detail

#endif  // CHIME_DEVICE_COLL_STEP_CUH_
