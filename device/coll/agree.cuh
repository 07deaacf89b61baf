// What the members of a team agree on: the bits that all of them have, and the largest of their
// numbers. For the host, when a team makes another one.
//
// It is a meeting whose announcements carry the words of all PEs that the sender has heard from.
// Both operations give the same whatever is combined twice, so that dissemination does for any
// number of members: ceil(log2(members)) messages a PE. A PE's words may come before the meeting
// that they are for is the receiver's, but not two meetings before: two places a round are enough.
#ifndef CHIME_DEVICE_COLL_AGREE_CUH_
#define CHIME_DEVICE_COLL_AGREE_CUH_

#include <cstdint>

#include "chime/abi/context.h"
#include "chime/device/coll/barrier.cuh"
#include "chime/device/group.cuh"
#include "chime/device/path/ops.cuh"

namespace chime::detail {

// Of abi::Team::agreement, `count` words each.
struct AgreementWords {
  const abi::Team& team;
  unsigned count;

  CHIME_DEVICE std::uint64_t* own() const { return team.agreement; }
  CHIME_DEVICE std::uint64_t* from(int round, std::uint64_t epoch) const {
    return own() + count * (1 + 2 * static_cast<unsigned>(round) + (epoch & 1));
  }
  // The first is a number, the others are bits.
  CHIME_DEVICE void combine(const std::uint64_t* theirs) const {
    if (own()[0] < theirs[0]) own()[0] = theirs[0];
    for (unsigned i = 1; i < count; ++i) own()[i] &= theirs[i];
  }
};

// Makes the first `count` words of the team's agreement, on all members, what they agree on. By one
// thread of each PE. False if it failed; the failure is recorded.
CHIME_DEVICE bool agree(const Context& ctx, const abi::Team& team, unsigned count) {
  // An area of its own: a call that fails ends no meetings of the team.
  const std::int32_t place = team.handle | team.lanes << abi::kTeamIndexBits;
  Meeting meeting(place, Operation::kTeamSplit);
  const AgreementWords words = {team, count};
  const std::uint64_t epoch = next_epoch(ctx, meeting);
  const auto announce = [&] {
    return announce_arrival(ctx, meeting, [&](const auto& path, const SignalUpdate& arrival) {
      const Put put = {words.from(meeting.round(), epoch), words.own(),
                       count * sizeof(std::uint64_t), Until::kLocal};
      path.template put<sizeof(std::uint64_t)>(Thread{}, put);
      path.announce(arrival);
    });
  };
  const auto await = [&] {
    if (!await_arrival(ctx, meeting)) return false;
    words.combine(words.from(meeting.round(), epoch));
    return true;
  };
  if (shares_words(ctx)) channel::quiet(ctx);
  return disseminate(ctx, meeting, announce, await);
}

}  // namespace chime::detail

#endif  // CHIME_DEVICE_COLL_AGREE_CUH_
