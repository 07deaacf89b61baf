// The NIC path when a poster has room and its turn at once: its stores, and the fences between
// them. Waits and failures are out-of-line functions, which the remaining calls lead to. Peers are
// not mapped here: rma.cu has the other path's loads and stores.
#define CHIME_PATHS CHIME_PATH_NIC
#include "chime/chime_device.cuh"

using namespace chime;

extern "C" CHIME_KERNEL void p_double(const CHIME_GRID_CONSTANT Context ctx, double* dst,
                                      double value, int pe) {
  p(ctx, dst, value, pe);
}
// Three segments.
// PTX p_double: 3 st.relaxed.sys.global.v2.u64, 1 st.mmio.relaxed.sys.global.u64
// PTX p_double: 1 st.relaxed.sys.global.u32
// A poster fences twice if it posts a doorbell, else once. The last two fences are one-way where
// the GPU has such fences.
// PTX[80] p_double: 3 fence.acq_rel.sys
// PTX[90] p_double: 1 fence.acq_rel.sys, 2 fence.release.sys
// PTX p_double: 0 fence.acq_rel.gpu, 0 fence.release.gpu
// PTX p_double: 0 fence.sc, 0 fence.acquire, 0 membar, 0 ld.acquire
// PTX p_double: 1 st.release.gpu.global.u64, 1 red.relaxed.gpu.global.add.u64
// PTX p_double: 1 atom.relaxed.gpu.global.add.u64, 0 st.local
// PTX p_double: 0 bar.sync
// device/channel/README.md, "Submit": requests; (a); the record; (c); the doorbell. The poster
// passes its turn on after (b), and never before the doorbell (d).
// ORDER p_double: st.relaxed.sys.global.v2, fence, st.relaxed.sys.global.u32, fence, st.mmio
// ORDER p_double: fence, st.release
// NEVER p_double: st.release, st.mmio

extern "C" CHIME_KERNEL void put_block(const CHIME_GRID_CONSTANT Context ctx, double* dst,
                                       const double* src, size_t n, int pe) {
  put_nbi(ctx, Block{}, dst, src, n, pe);
}
// A group has one poster: no shuffles, no barrier.
// PTX put_block: 0 shfl, 0 bar, 0 match, 0 activemask
// ORDER put_block: st.relaxed.sys.global.v2, fence, st.release
// ORDER put_block: fence, st.relaxed.sys.global.u32, fence, st.mmio
// NEVER put_block: st.release, st.mmio

// The next two call out-of-line functions directly, so that their bodies appear here. Each stores
// its own mark, then loads the other's. Only sequentially consistent fences guarantee that one of
// the two sees the other's mark. The executor cannot test this: there every fence publishes all
// stores at once.
extern "C" CHIME_KERNEL void first_touch(const CHIME_GRID_CONSTANT Context ctx,
                                         abi::Channel* channel) {
  channel::detail::first_touch<Path::kNic>(ctx, *channel);
}
// PTX first_touch: 1 fence.sc.gpu, 0 membar
// ORDER first_touch: red.release.gpu.global.or, fence.sc.gpu, ld.relaxed.gpu

extern "C" CHIME_KERNEL void fence_of_channels(const CHIME_GRID_CONSTANT Context ctx, bool* well) {
  *well = channel::detail::drain_unordered(ctx) == nullptr;
}
// PTX fence_of_channels: 1 fence.sc.gpu, 0 membar
// ORDER fence_of_channels: fence.sc.gpu, ld.acquire.gpu

// The place of a result (device/channel/result.cuh): taking it acquires the release of the thread
// that had it before; freeing it follows the load of the value.
extern "C" CHIME_KERNEL void take_result(const CHIME_GRID_CONSTANT Context ctx,
                                         abi::Channel* channel, std::uint64_t* busy) {
  channel::take_result_place(ctx, *channel, busy);
}
// PTX take_result: 2 ld.acquire.gpu.global.u64, 1 st.relaxed.gpu.global.u64
extern "C" CHIME_KERNEL void free_result(std::uint64_t* busy) { channel::free_result_place(busy); }
// PTX free_result: 1 st.release.gpu.global.u64, 0 st.relaxed
