// Warp collectives and converged groups, for the block's threads (warp.hpp).
#include <utility>

#include "chime/device/simt/threads/block_turns.hpp"

namespace chime::simt {

void Block::release_lanes(unsigned warp, unsigned lanes) {
  if (!lanes) return;
  const int odd = warps_[warp].odd_lane();
  if (odd >= 0) {
    const LaneRequest& request = warps_[warp].request(static_cast<unsigned>(odd));
    kernel_fault(
        threads_[warp * 32 + static_cast<unsigned>(odd)],
        "divergence: it calls %s(mask %08x) where other lanes of that mask call something else",
        name_of(request.op), request.mask);
  }
  runnable_.add_lanes(warp, lanes);
  idle_turns = 0;
}

// A lane comes to a collective. Returns its request, reduced to lanes that exist.
LaneRequest Block::come_to(Thread& self, const LaneRequest& request) {
  check_stack(self);
  end_if_abandoned(self);
  if (!(request.mask >> self.lane & 1)) {
    kernel_fault(self, "divergence: lane %u calls %s with mask %08x, which does not contain it",
                 self.lane, name_of(request.op), request.mask);
  }
  LaneRequest members_only = request;
  members_only.mask &= warps_[self.warp].members();
  return members_only;
}

// As sync_warp, in a run that is not watched (exec::enter_warp).
bool Block::lanes_meet_and_hold(Thread& self, unsigned mask) {
  const LaneRequest request = come_to(self, {WarpOp::kSync, mask, {}, 0, nullptr});
  self.held_lanes = warps_[self.warp].arrive(self.lane, request, nullptr);
  if (self.held_lanes == 0) wait(self, name_of(request.op), request.mask);
  return self.held_lanes != 0;
}

// If the launch was abandoned meanwhile, all lanes have been released to end.
void Block::let_warp_go(Thread& self) {
  end_if_abandoned(self);
  if (!gives_up_) release_lanes(self.warp, std::exchange(self.held_lanes, 0));
}

LaneValue Block::collective(Thread& self, const LaneRequest& request) {
  const LaneRequest members_only = come_to(self, request);
  Warp& warp = warps_[self.warp];
  const bool orders = request.op == WarpOp::kSync;
  const void* cell = sync_cell(kBarriers + self.warp);
  if (orders) {
    happens_before(cell);
    if (weak) stores_.meet_warp(place_of(self));
  }
  const unsigned lanes = warp.arrive(self.lane, members_only, seeded ? &random_ : nullptr);
  if (lanes) {
    release_lanes(self.warp, lanes);
  } else {
    wait(self, name_of(request.op), members_only.mask);
  }
  if (orders) happens_after(cell);
  return warp.result(self.lane);
}

// A group closes when no other lane of the warp can still run to the site, or when a lane of it
// loses patience: after some turns, or with a seed sometimes on arrival.
unsigned Block::converge(Thread& self, const void* site) {
  constexpr unsigned kImpatientOneIn = 16, kSeededTurns = 8, kTurns = 2;
  Warp& warp = warps_[self.warp];
  unsigned patience = kTurns;
  if (seeded) patience = random_.one_in(kImpatientOneIn) ? 0 : kSeededTurns;
  self.group_lanes = 0;
  warp.wait_at_site(self.lane, site);
  for (; !self.group_lanes; yield(self)) {
    const unsigned could_come = runnable_.lanes_of(self.warp) & ~warp.lanes_at_sites();
    if (could_come && patience-- > 0) continue;
    const unsigned lanes = warp.lanes_at_site(site);
    warp.leave_site(lanes);
    for (unsigned lane = 0; lane < 32; ++lane) {
      if (lanes >> lane & 1) threads_[self.warp * 32 + lane].group_lanes = lanes;
    }
    break;
  }
  return self.group_lanes;
}

}  // namespace chime::simt
