// Messages of each member to all, by recursive doubling: a member gets about log2(n), and most send
// as many, in place of n - 1. The members' messages lie one behind another, in the order of ranks.
//
// After step k, members whose ranks are alike but for their k lowest bits are a group, each of
// which has the messages of all. In the next step each gets those of the group beside its own, from
// a member there. The last group may be smaller: its members send to several, at most to all.
#ifndef CHIME_DEVICE_COLL_DOUBLING_CUH_
#define CHIME_DEVICE_COLL_DOUBLING_CUH_

#include <cstddef>
#include <cstdint>

#include "chime/abi/context.h"
#include "chime/device/coll/lane.cuh"
#include "chime/device/coll/message.cuh"
#include "chime/device/coll/words.cuh"
#include "chime/device/copy.cuh"

namespace chime::detail {

// Whether messages of so many bytes go so; the same on all members. Slots have room for all of
// them.
CHIME_DEVICE bool is_doubled(const Context& ctx, Meeting meeting, std::size_t bytes) {
  const abi::Team& team = team_of(ctx, meeting.handle);
  return team.doubles != 0 && bytes <= team.slot_bytes;
}

// From a member's message to the next one's. What has a larger alignment has a multiple of it.
CHIME_DEVICE unsigned doubling_stride(std::size_t bytes) {
  constexpr unsigned kAlignment = sizeof(std::uint64_t);
  return (static_cast<unsigned>(bytes) + kAlignment - 1) / kAlignment * kAlignment;
}

struct RankGroup {
  unsigned first, count;
};
CHIME_DEVICE RankGroup group_from(unsigned first, unsigned most, unsigned members) {
  if (first >= members) return {first, 0};
  return {first, members - first < most ? members - first : most};
}

// Groups of at most so many members become groups of twice as many.
struct Step {
  RankGroup mine, other;
  unsigned place;  // of this member in its group

  CHIME_DEVICE Step(const Context& ctx, Meeting meeting, unsigned most)
      : mine(group_from(rank_of(ctx, meeting) & ~(most - 1), most, size_of(ctx, meeting))),
        other(group_from(mine.first ^ most, most, size_of(ctx, meeting))),
        place(rank_of(ctx, meeting) - mine.first) {}

  // Members of equal places send to each other, counted around in the smaller group. So two
  // members send to each other in one step alone.
  CHIME_DEVICE unsigned receivers() const {
    return place < other.count ? (other.count - place + mine.count - 1) / mine.count : 0;
  }
  CHIME_DEVICE unsigned receiver(unsigned i) const { return other.first + place + i * mine.count; }
  CHIME_DEVICE unsigned sender() const { return other.first + place % other.count; }
};

// What this member's group has goes to some of the other group, and the other way round. Steps are
// made again where they are needed: that takes fewer registers than keeping them.
template <class Group>
CHIME_DEVICE bool double_once(const Context& ctx, Group g, Meeting meeting, unsigned most,
                              unsigned stride) {
  bool failed = false;
  for (unsigned i = 0;; ++i) {
    const Step step(ctx, meeting, most);
    if (i == step.receivers()) break;
    std::byte* const first = slot_of(ctx, meeting, 0) + std::size_t{step.mine.first} * stride;
    const std::size_t bytes = std::size_t{step.mine.count} * stride;
    const Message message = {step.receiver(i), first, first, bytes};
    failed = !send_data(ctx, g, meeting, Round::kPlain, message) || failed;
  }
  g.sync();
  if (g.is_leader()) {
    const Step step(ctx, meeting, most);
    for (unsigned i = 0; i < step.receivers(); ++i)
      send_arrival(ctx, meeting, Round::kPlain, step.receiver(i), 0);
    if (step.other.count != 0) failed = failed || !await_message(ctx, meeting, step.sender(), 0);
  }
  return !g.any(failed);
}

// By all members of the group, when the round has begun: slots have this member's message at
// rank * stride, and get all others'. A stride of 0: they only hear of each other. False if it
// failed; the failure is recorded.
template <class Group>
CHIME_DEVICE bool double_all(const Context& ctx, Group g, Meeting meeting, unsigned stride) {
  for (unsigned most = 1; most < size_of(ctx, meeting); most *= 2)
    if (!double_once(ctx, g, meeting, most, stride)) return false;
  return true;
}

}  // namespace chime::detail

#endif  // CHIME_DEVICE_COLL_DOUBLING_CUH_
