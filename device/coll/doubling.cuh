// Messages of each member to all, by recursive doubling: a member gets about log2(n), and most send
// as many, in place of n - 1. The members' messages lie one behind another, in the order of ranks.
//
// After step k, members whose ranks are alike but for their k lowest bits are a group, each of
// which has the messages of all. In the next step each gets those of the group beside its own, from
// a member there (step.cuh).
#ifndef CHIME_DEVICE_COLL_DOUBLING_CUH_
#define CHIME_DEVICE_COLL_DOUBLING_CUH_

#include <cstddef>
#include <cstdint>

#include "chime/abi/context.h"
#include "chime/device/coll/lane.cuh"
#include "chime/device/coll/message.cuh"
#include "chime/device/coll/step.cuh"
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

// What this member's group has goes to some of the other group, and the other way round. Steps are
// made again where they are needed: that takes fewer registers than keeping them.
CHIME_DEVICE Step step_of(const Context& ctx, Meeting meeting, unsigned most) {
  return Step(rank_of(ctx, meeting), size_of(ctx, meeting), most);
}
template <class Group>
CHIME_DEVICE bool double_once(const Context& ctx, Group g, Meeting meeting, unsigned most,
                              unsigned stride) {
  bool failed = false;
  for (unsigned i = 0;; ++i) {
    const Step step = step_of(ctx, meeting, most);
    if (i == step.receivers()) break;
    std::byte* const first = slot_of(ctx, meeting, 0) + std::size_t{step.mine.first} * stride;
    const std::size_t bytes = std::size_t{step.mine.count} * stride;
    const Message message = {step.receiver(i), first, first, bytes};
    failed = !send_data(ctx, g, meeting, Round::kPlain, message) || failed;
  }
  g.sync();
  if (g.is_leader()) {
    const Step step = step_of(ctx, meeting, most);
    for (unsigned i = 0; i < step.receivers(); ++i)
      send_arrival(ctx, meeting, Round::kPlain, step.receiver(i), 0);
    if (step.other.count != 0)
      failed = failed || !await_message(ctx, meeting, step.sender(), kByDoubling);
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
