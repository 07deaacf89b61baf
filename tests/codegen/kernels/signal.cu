// put_signal: the data's stores, the group's barrier, one release by the leader. The wait acquires.
#define CHIME_PATHS CHIME_PATH_P2P  // mapped peers; the NIC is in nic.cu
#include "chime/chime_device.cuh"

using namespace chime;

extern "C" CHIME_KERNEL void put_signal_thread(const CHIME_GRID_CONSTANT Context ctx, double* dst,
                                               const double* src, uint64_t* sig, size_t n, int pe) {
  put_signal(ctx, Thread{}, dst, src, n, signal_of(sig, 1, CHIME_SIGNAL_SET), pe);
}
// PTX put_signal_thread: 1 st.release.sys.global.u64, 0 fence, 0 membar, 0 bar, 0 red
// PTX put_signal_thread: 0 atom.release

extern "C" CHIME_KERNEL void put_signal_block(const CHIME_GRID_CONSTANT Context ctx, double* dst,
                                              const double* src, uint64_t* sig, size_t n, int pe) {
  put_signal(ctx, Block{}, dst, src, n, signal_of(sig, 1, CHIME_SIGNAL_SET), pe);
}
// PTX put_signal_block: 1 st.release.sys.global.u64, 1+ bar.sync, 0 fence, 0 membar, 0 red

extern "C" CHIME_KERNEL void put_signal_add_warp(const CHIME_GRID_CONSTANT Context ctx, double* dst,
                                                 const double* src, uint64_t* sig, size_t n,
                                                 int pe) {
  put_signal(ctx, Warp{}, dst, src, n, signal_of(sig, 1, CHIME_SIGNAL_ADD), pe);
}
// PTX put_signal_add_warp: 1 red.release.sys.global.add.u64, 0 st.release.sys.global.u64, 0 fence
// PTX put_signal_add_warp: 0 membar

extern "C" CHIME_KERNEL void signal_alone(const CHIME_GRID_CONSTANT Context ctx, uint64_t* sig,
                                          int pe) {
  signal_op(ctx, signal_of(sig, 1, CHIME_SIGNAL_ADD), pe);
}
// PTX signal_alone: 1 red.relaxed.sys.global.add.u64, 0 fence, 0 membar

extern "C" CHIME_KERNEL void wait_thread(const CHIME_GRID_CONSTANT Context ctx, uint64_t* sig,
                                         uint64_t* seen) {
  *seen = signal_wait_until(ctx, Thread{}, sig, Cmp::kGe, 7);
}
// PTX wait_thread: 1+ ld.acquire.sys.global.u64, 1 ld.acquire.sys.global.u32, 0 ld.volatile
// PTX wait_thread: 0 fence, 0 membar

extern "C" CHIME_KERNEL void wait_block(const CHIME_GRID_CONSTANT Context ctx, uint64_t* sig,
                                        uint64_t* seen) {
  *seen = signal_wait_until(ctx, Block{}, sig, Cmp::kEq, 7);
}
// PTX wait_block: 1+ ld.acquire.sys.global.u64, 0 fence, 0 membar
