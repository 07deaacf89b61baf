// One warp: lanes that meet in collectives, and groups of lanes that reach a call site together.
//
// A collective of mask m is complete when every live lane of m waits in a collective of the same
// mask. Lanes of other masks may wait meanwhile. The lane that completes it computes all results.
#pragma once

#include <array>
#include <cstdint>

#include "chime/device/simt/threads/random.hpp"
#include "chime/device/simt/threads/thread.hpp"

namespace chime::simt {

struct LaneRequest {
  WarpOp op = WarpOp::kNone;
  unsigned mask = 0;
  LaneValue value;
  unsigned argument = 0;
  Combine combine = nullptr;
};

class Warp {
 public:
  void set_up(unsigned members);

  unsigned members() const { return members_; }
  unsigned live() const { return live_; }

  // The lanes that `lane`'s arrival releases, itself included; 0 if it must wait.
  unsigned arrive(unsigned lane, const LaneRequest& request, Random* random);
  LaneValue result(unsigned lane) const { return results_[lane]; }

  // The lane ends; if it waited, it no longer does.
  void forget_waiting_lane(unsigned lane) {
    arrived_ &= ~(1u << lane);
    at_sites_ &= ~(1u << lane);
  }

  // A lane has ended. Returns the lanes that waited for it alone.
  unsigned count_out(unsigned lane, Random* random);

  // Lanes of a complete collective that called different functions: -1 if all agree, else one that
  // differs.
  int odd_lane() const { return odd_lane_; }
  const LaneRequest& request(unsigned lane) const { return requests_[lane]; }

  // ---- Converged groups: lanes waiting at a call site ----

  void wait_at_site(unsigned lane, const void* site);
  unsigned lanes_at_site(const void* site) const;
  void leave_site(unsigned lanes) { at_sites_ &= ~lanes; }
  unsigned lanes_at_sites() const { return at_sites_; }

 private:
  bool is_complete(unsigned mask) const;
  unsigned finish(unsigned mask, Random* random);
  void compute(WarpOp op, unsigned lanes, Random* random);

  unsigned members_ = 0, live_ = 0, arrived_ = 0;
  unsigned at_sites_ = 0;
  bool masks_differ_ = false;  // some lanes wait with different masks
  int odd_lane_ = -1;
  std::array<LaneRequest, 32> requests_;
  std::array<LaneValue, 32> results_;
  std::array<const void*, 32> sites_;
};

const char* name_of(WarpOp op);

}  // namespace chime::simt
