// The proxy's path when there is room: its stores, and the fences between them. Waits and failures
// are out-of-line functions, which the remaining calls lead to. Only the proxy reaches peers here:
// rma.cu and nic.cu have the other paths.
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

// A call takes the answer before the kernel reserves the slot.
extern "C" CHIME_KERNEL void fetch_add(const CHIME_GRID_CONSTANT Context ctx, std::uint64_t* dst,
                                       std::uint64_t value, int pe, std::uint64_t* before) {
  *before = atomic_fetch_add(ctx, dst, value, pe);
}
// PTX fetch_add: 2 st.relaxed.sys.global.v2.u64, 0 st.relaxed.gpu.global.u64
// The first load of its end acquires, and so does the loop's. It is freed after that, or unused.
// PTX fetch_add: 2 ld.acquire.sys.global.u64, 2 st.release.gpu.global.u64
// ORDER fetch_add: fence, st.relaxed.sys.global.v2
