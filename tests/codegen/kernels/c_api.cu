// The C names: the state is a constant of this translation unit. Calls read it without a pointer,
// and check it once.
#define CHIME_PATHS CHIME_PATH_P2P  // mapped peers; the NIC is in nic.cu
#include "chime/chime.h"

extern "C" CHIME_KERNEL void pe_numbers(int* out) {
  out[0] = chime_my_pe();
  out[1] = chime_n_pes();
}
// PTX pe_numbers: 1+ ld.const, 0 ld.global, 0 membar

extern "C" CHIME_KERNEL void put_signal_block(float* dst, const float* src, uint64_t* sig, int pe) {
  chimex_float_put_signal_nbi_block(dst, src, 1024, sig, 1, CHIME_SIGNAL_SET, pe);
}
// PTX put_signal_block: 1+ ld.const, 1 st.release.sys.global.u64, 0 fence, 0 membar, 0 red
// PTX put_signal_block: 3 bar.sync
// ORDER put_signal_block: bar.sync, bar.sync, st.release.sys

// The members synchronize when the call begins and when it ends, also an nbi call.
extern "C" CHIME_KERNEL void put_block(float* dst, const float* src, int pe) {
  chimex_float_put_block(dst, src, 1024, pe);
}
// PTX put_block: 2 bar.sync, 0 fence, 0 membar

extern "C" CHIME_KERNEL void put_nbi_block(float* dst, const float* src, int pe) {
  chimex_float_put_nbi_block(dst, src, 1024, pe);
}
// PTX put_nbi_block: 2 bar.sync, 0 fence, 0 membar

extern "C" CHIME_KERNEL void get_nbi_warp(float* dst, const float* src, int pe) {
  chimex_float_get_nbi_warp(dst, src, 1024, pe);
}
// PTX get_nbi_warp: 2 bar.warp.sync, 0 bar.sync, 0 fence, 0 membar

extern "C" CHIME_KERNEL void put_then_quiet(float* dst, int pe) {
  chime_float_p(dst, 1.0f, pe);
  chime_quiet();
}
// PTX put_then_quiet: 1 st.relaxed.sys.global.u32, 1 fence.acq_rel.sys, 0 membar
