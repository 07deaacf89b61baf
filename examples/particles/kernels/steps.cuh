// The step loop, on the device: one cooperative kernel runs velocity Verlet steps, exchanging
// ghosts by itself, until the PEs agree that lists must be rebuilt or an output step is reached.
#pragma once

#include "kernels/agree.cuh"
#include "kernels/forces.cuh"
#include "kernels/halo.cuh"
#include "kernels/sums.cuh"

namespace particles {

// The first thread of the grid learns the PEs' decision; after the barrier every thread knows it.
template <class Real>
CHIME_DEVICE bool agree_in_grid(const View<Real>& a, std::int64_t step) {
  if (exec::grid_rank() == 0) *a.decision = any_pe_wants_rebuild(a, step);
  exec::sync_grid();
  return *a.decision != 0;
}

// True when the new ghosts are in place and all PEs go on with them; false when all must rebuild
// first.
template <int kLanes, class Real>
CHIME_DEVICE bool move_to_step(const View<Real>& a, std::int64_t step, std::uint64_t exchange) {
  drift<kLanes>(a, step);
  exec::sync_grid();
  send_ghosts(a, static_cast<int>(step & 1), exchange);
  wait_for_ghosts(a, exchange);
  return !agree_in_grid(a, step);
}

template <int kLanes, bool kForceShift, class Real>
CHIME_KERNEL void run_steps(CHIME_GRID_CONSTANT const View<Real> a,
                            CHIME_GRID_CONSTANT const StepsArguments args, StepsResult* result) {
  std::int64_t step = args.step;
  std::uint64_t exchange = args.exchange;
  Reason reason = Reason::kOutput;
  if (args.entry != Entry::kContinue) {
    compute_forces<kLanes, kForceShift>(a, step, args.entry == Entry::kRebuilt, step == args.stop);
  }
  while (step < args.stop) {
    ++step;
    ++exchange;
    if (!move_to_step<kLanes>(a, step, exchange)) {
      reason = Reason::kRebuild;
      break;
    }
    compute_forces<kLanes, kForceShift>(a, step, true, step == args.stop);
  }
  if (reason == Reason::kOutput) sum_system<kLanes>(a);
  if (exec::grid_rank() == 0) *result = {step, exchange, reason};
}

}  // namespace particles
