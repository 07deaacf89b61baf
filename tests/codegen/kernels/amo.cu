// Atomics on mapped peers: relaxed, system scope, a reduction where the old value is not used.
#define CHIME_PATHS CHIME_PATH_P2P  // mapped peers; the NIC is in nic.cu
#include "chime/chime_device.cuh"

using namespace chime;

extern "C" CHIME_KERNEL void add(const CHIME_GRID_CONSTANT Context ctx, int* a, uint64_t* b,
                                 int pe) {
  atomic_add(ctx, a, 1, pe);
  atomic_inc(ctx, b, pe);
}
// PTX add: 1 red.relaxed.sys.global.add.u32, 1 red.relaxed.sys.global.add.u64, 0 fence, 0 membar

extern "C" CHIME_KERNEL void fetch_add(const CHIME_GRID_CONSTANT Context ctx, long* a, int pe) {
  a[1] = atomic_fetch_add(ctx, a, 1, pe);
}
// PTX fetch_add: 1 atom.relaxed.sys.global.add.u64, 0 red, 0 fence, 0 membar

extern "C" CHIME_KERNEL void add_floats(const CHIME_GRID_CONSTANT Context ctx, float* a, double* b,
                                        int pe) {
  atomic_add(ctx, a, 1.0f, pe);
  b[1] = atomic_fetch_add(ctx, b, 1.0, pe);
}
// PTX add_floats: 1 red.relaxed.sys.global.add.f32, 1 atom.relaxed.sys.global.add.f64, 0 fence
// PTX add_floats: 0 membar

extern "C" CHIME_KERNEL void add_half(const CHIME_GRID_CONSTANT Context ctx, exec::half* a,
                                      int pe) {
  atomic_add(ctx, a, exec::half(1.0f), pe);
}
// PTX add_half: 1 ld.relaxed.sys.global.u32, 1 atom.relaxed.sys.global.cas.b32, 0 red, 0 fence

extern "C" CHIME_KERNEL void bits(const CHIME_GRID_CONSTANT Context ctx, unsigned* a, int pe) {
  atomic_and(ctx, a, 1u, pe);
  atomic_or(ctx, a, 2u, pe);
  atomic_xor(ctx, a, 4u, pe);
}
// PTX bits: 1 red.relaxed.sys.global.and.b32, 1 red.relaxed.sys.global.or.b32
// PTX bits: 1 red.relaxed.sys.global.xor.b32, 0 fence

extern "C" CHIME_KERNEL void swaps(const CHIME_GRID_CONSTANT Context ctx, double* a, int64_t* b,
                                   int pe) {
  a[1] = atomic_swap(ctx, a, 1.0, pe);
  b[1] = atomic_compare_swap(ctx, b, 0, 1, pe);
}
// PTX swaps: 1 atom.relaxed.sys.global.exch.b64, 1 atom.relaxed.sys.global.cas.b64, 0 fence
// PTX swaps: 0 membar

extern "C" CHIME_KERNEL void set_and_fetch(const CHIME_GRID_CONSTANT Context ctx, float* a,
                                           int64_t* b, int pe) {
  atomic_set(ctx, a, 1.0f, pe);
  b[1] = atomic_fetch(ctx, b, pe);
}
// PTX set_and_fetch: 1 st.relaxed.sys.global.u32, 1 ld.relaxed.sys.global.u64, 0 fence, 0 membar
