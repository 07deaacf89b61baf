// put and get on mapped peers: loads and stores only, no fence.
#define CHIME_PATHS CHIME_PATH_P2P  // mapped peers; the NIC is in nic.cu
#include "chime/chime_device.cuh"

using namespace chime;

// A put by a thread, in words of its type's alignment. System scope: peers are outside this GPU.
extern "C" CHIME_KERNEL void put_thread(const CHIME_GRID_CONSTANT Context ctx, int* dst,
                                        const int* src, size_t n, int pe) {
  put(ctx, Thread{}, dst, src, n, pe);
}
// PTX put_thread: 1+ st.relaxed.sys.global.u32, 1+ st.relaxed.sys.global.v2.u64
// PTX put_thread: 0 st.relaxed.sys.global.u16
// PTX put_thread: 0 st.relaxed.sys.global.u8, 0 fence, 0 membar, 0 red, 0 st.release.sys.global.u64
// PTX put_thread: 0 bar

extern "C" CHIME_KERNEL void put_block_nbi(const CHIME_GRID_CONSTANT Context ctx, double* dst,
                                           const double* src, size_t n, int pe) {
  put_nbi(ctx, Block{}, dst, src, n, pe);
}
// PTX put_block_nbi: 1+ st.relaxed.sys.global.u64, 1+ st.relaxed.sys.global.v2.u64
// PTX put_block_nbi: 0 st.relaxed.sys.global.u32
// PTX put_block_nbi: 0 fence, 0 membar, 0 bar

// A group's blocking put: its members may reuse the source afterwards, so they synchronize once.
extern "C" CHIME_KERNEL void put_block(const CHIME_GRID_CONSTANT Context ctx, double* dst,
                                       const double* src, size_t n, int pe) {
  put(ctx, Block{}, dst, src, n, pe);
}
// PTX put_block: 1 bar.sync, 0 fence, 0 membar

extern "C" CHIME_KERNEL void put_warp(const CHIME_GRID_CONSTANT Context ctx, double* dst,
                                      const double* src, size_t n, int pe) {
  put(ctx, Warp{}, dst, src, n, pe);
}
// PTX put_warp: 1 bar.warp.sync, 0 bar.sync, 0 fence, 0 membar

extern "C" CHIME_KERNEL void p_float(const CHIME_GRID_CONSTANT Context ctx, float* dst, float value,
                                     int pe) {
  p(ctx, dst, value, pe);
}
// PTX p_float: 1 st.relaxed.sys.global.u32, 0 fence, 0 membar, 0 bar

extern "C" CHIME_KERNEL void g_double(const CHIME_GRID_CONSTANT Context ctx, const double* src,
                                      double* out, int pe) {
  *out = g(ctx, src, pe);
}
// PTX g_double: 1 ld.relaxed.sys.global.u64, 0 fence, 0 membar

extern "C" CHIME_KERNEL void get_block(const CHIME_GRID_CONSTANT Context ctx, double* dst,
                                       const double* src, size_t n, int pe) {
  get(ctx, Block{}, dst, src, n, pe);
}
// PTX get_block: 1+ ld.relaxed.sys.global.v2.u64, 1+ ld.relaxed.sys.global.u64, 1 bar.sync, 0 fence
// PTX get_block: 0 membar
