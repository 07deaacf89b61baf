// The proxy's path where there is room: what is written and in which order it is fenced. Waits and
// failures are functions of their own; the calls that are left lead to them.
// Of a job whose peers are reached by the proxy alone: the other paths are in rma.cu and nic.cu.
#define CHIME_PATHS CHIME_PATH_PROXY
#include "chime/chime_device.cuh"

using namespace chime;

extern "C" CHIME_KERNEL void p_double(const CHIME_GRID_CONSTANT Context ctx, double* dst,
                                      double value, int pe) {
  p(ctx, dst, value, pe);
}
// One slot: one atomic, one fence, two halves.
// PTX p_double: 2 st.relaxed.sys.global.v2.u64, 0 st.mmio, 0 st.release, 0 red
// PTX p_double: 1 atom.relaxed.gpu.global.add.u64
// PTX[80] p_double: 1 fence.acq_rel.sys
// PTX[90] p_double: 0 fence.acq_rel, 1 fence.release.sys
// PTX p_double: 0 fence.sc, 0 fence.acquire, 0 membar, 0 ld.acquire, 0 bar.sync, 0 st.local
// ORDER p_double: fence, st.relaxed.sys.global.v2
// NEVER p_double: st.relaxed.sys.global.v2, fence
// PTXAS p_double: registers <= 40, stack <= 0

extern "C" CHIME_KERNEL void add(const CHIME_GRID_CONSTANT Context ctx, std::uint64_t* dst,
                                 std::uint64_t value, int pe) {
  atomic_add(ctx, dst, value, pe);
}
// PTX add: 2 st.relaxed.sys.global.v2.u64, 0 st.mmio, 0 st.release, 0 red
// PTX[80] add: 1 fence.acq_rel.sys
// PTX[90] add: 0 fence.acq_rel, 1 fence.release.sys
// ORDER add: fence, st.relaxed.sys.global.v2

// The answer is taken by a call, before the slot is reserved.
extern "C" CHIME_KERNEL void fetch_add(const CHIME_GRID_CONSTANT Context ctx, std::uint64_t* dst,
                                       std::uint64_t value, int pe, std::uint64_t* before) {
  *before = atomic_fetch_add(ctx, dst, value, pe);
}
// PTX fetch_add: 2 st.relaxed.sys.global.v2.u64, 0 st.relaxed.gpu.global.u64
// Its end is acquired, by the first look or a later one. It is freed behind that, or unused.
// PTX fetch_add: 2 ld.acquire.sys.global.u64, 2 st.release.gpu.global.u64
// ORDER fetch_add: fence, st.relaxed.sys.global.v2
