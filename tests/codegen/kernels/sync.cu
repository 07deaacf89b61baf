// fence and quiet on mapped peers are one fence; a barrier releases and acquires by system scope.
#define CHIME_PATHS CHIME_PATH_P2P  // mapped peers; the NIC is in nic.cu
#include "chime/chime_device.cuh"

using namespace chime;

extern "C" CHIME_KERNEL void fence_all(const CHIME_GRID_CONSTANT Context ctx) { fence(ctx); }
// PTX fence_all: 1 fence.acq_rel.sys, 0 fence.sc, 0 membar, 0 st.relaxed, 0 st.release, 0 atom

extern "C" CHIME_KERNEL void quiet_all(const CHIME_GRID_CONSTANT Context ctx) { quiet(ctx); }
// PTX quiet_all: 1 fence.acq_rel.sys, 0 fence.sc, 0 membar, 0 st.relaxed, 0 st.release, 0 atom

extern "C" CHIME_KERNEL void put_fence_put(const CHIME_GRID_CONSTANT Context ctx, int* dst,
                                           int pe) {
  p(ctx, dst, 1, pe);
  fence(ctx);
  p(ctx, dst + 1, 2, pe);
}
// PTX put_fence_put: 2 st.relaxed.sys.global.u32, 1 fence.acq_rel.sys, 0 membar

extern "C" CHIME_KERNEL void wait_int(const CHIME_GRID_CONSTANT Context ctx, int* flag) {
  wait_until(ctx, flag, Cmp::kGe, 3);
}
// PTX wait_int: 1+ ld.acquire.sys.global.u32, 0 ld.volatile, 0 fence, 0 membar

extern "C" CHIME_KERNEL void barrier_block(const CHIME_GRID_CONSTANT Context ctx) {
  barrier_all(ctx, Block{});
}
// PTX barrier_block: 1 bar.sync, 1 bar.red.or.pred, 0 membar, 0 fence.sc

// A vote orders no memory. So there is a barrier of the warp before all else, and one after the
// vote: by it all lanes get what the waiting lane has acquired.
extern "C" CHIME_KERNEL void barrier_warp(const CHIME_GRID_CONSTANT Context ctx) {
  barrier_all(ctx, Warp{});
}
// PTX barrier_warp: 1 vote.sync.any.pred, 2 bar.warp.sync, 0 membar, 0 fence.sc

// The leader's round in both barriers, where it is an out-of-line function.
extern "C" CHIME_KERNEL void barrier_round(const CHIME_GRID_CONSTANT Context ctx, int round,
                                           bool* ok) {
  detail::Meeting meeting(ctx.team, Operation::kBarrierAll);
  meeting.step += static_cast<unsigned>(round) << detail::Meeting::kRoundShift;
  const auto announce = [](const auto& path, const SignalUpdate& arrival) {
    path.announce(arrival);
  };
  *ok = detail::announce_arrival(ctx, meeting, announce) && detail::await_arrival(ctx, meeting);
}
// PTX barrier_round: 1+ st.release.sys.global.u64, 1+ ld.acquire.sys.global.u64, 0 membar
// NEVER barrier_round: ld.acquire.sys.global.u64, st.release.sys.global.u64

// The first round of members that meet directly. Its fence is the release of all rounds.
extern "C" CHIME_KERNEL void direct_round(const CHIME_GRID_CONSTANT Context ctx, bool* ok) {
  *ok = detail::store_directly(ctx, detail::Meeting(ctx.team, Operation::kBarrierAll));
}
// PTX direct_round: 1 fence.acq_rel.sys, 1 st.relaxed.sys.global.u64, 0 st.release, 0 membar
// ORDER direct_round: fence.acq_rel.sys, st.relaxed.sys.global.u64
