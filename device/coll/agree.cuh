// What the members of a team agree on: the bits that all of them have, and the largest of their
// numbers. For the host, when a team makes another one.
//
// It is a meeting whose announcements carry what the sender has heard of all PEs' words so far.
// Both operations give the same whatever is combined twice, so that dissemination does for any
// number of members: ceil(log2(members)) messages a PE. Words may arrive one meeting before the
// receiver reads them, never two: two places a round are enough.
#ifndef CHIME_DEVICE_COLL_AGREE_CUH_
#define CHIME_DEVICE_COLL_AGREE_CUH_

#include <cstdint>

#include "chime/abi/context.h"
#include "chime/device/coll/barrier.cuh"
#include "chime/device/group.cuh"
#include "chime/device/path/ops.cuh"

namespace chime::detail {

// The places in abi::Team::agreement. Each has `count` words and the epoch that they are for.
struct AgreementWords {
  const abi::Team& team;
  unsigned count;

  CHIME_DEVICE std::uint64_t* own() const { return team.agreement; }
  CHIME_DEVICE std::uint64_t* from(int round, std::uint64_t epoch) const {
    return own() + (count + 1) * (1 + 2 * static_cast<unsigned>(round) + (epoch & 1));
  }
  // The first is a number, the others are bits.
  CHIME_DEVICE void combine(const std::uint64_t* theirs) const {
    if (own()[0] < theirs[0]) own()[0] = theirs[0];
    for (unsigned i = 1; i < count; ++i) own()[i] &= theirs[i];
  }
};

// Makes the first `count` words of the team's agreement, on all members, what they agree on. By one
// thread of each PE. False if it failed; the failure is recorded. Other members may have agreed all
// the same, and confirm() then fails on them.
CHIME_DEVICE bool agree(const Context& ctx, const abi::Team& team, unsigned count) {
  // An area of its own: a call that fails ends no meetings of the team.
  const std::int32_t place = team.handle | team.lanes << abi::kTeamIndexBits;
  Meeting meeting(place, Operation::kTeamSplit);
  const AgreementWords words = {team, count};
  const std::uint64_t epoch = next_epoch(ctx, meeting);
  words.own()[count] = epoch;
  const auto announce = [&] {
    return announce_arrival(ctx, meeting, [&](const auto& path, const SignalUpdate& arrival) {
      const Put put = {words.from(meeting.round(), epoch), words.own(),
                       (count + 1) * sizeof(std::uint64_t), Until::kLocal};
      path.template put<sizeof(std::uint64_t)>(Thread{}, put);
      path.announce(arrival);
    });
  };
  const auto await = [&](Waits) {
    if (!await_arrival(ctx, meeting)) return false;
    const std::uint64_t* const theirs = words.from(meeting.round(), epoch);
    if (theirs[count] != epoch) {  // the words were lost, and the arrival was not
      fail_arrival(ctx, meeting, {CHIMEX_ERR_NETWORK, pe_before(ctx, meeting), 0});
      return false;
    }
    words.combine(theirs);
    return true;
  };
  return come_together(ctx, meeting, announce, await);
}

// Whether all members have agreed. If a member has not, this fails on each of them.
CHIME_DEVICE bool confirm(const Context& ctx, const abi::Team& team) {
  const std::int32_t place = team.handle | team.lanes << abi::kTeamIndexBits;
  return come_together(ctx, Meeting(place, Operation::kTeamSplit));
}

}  // namespace chime::detail

#endif  // CHIME_DEVICE_COLL_AGREE_CUH_
