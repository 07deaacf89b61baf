// The C names: the state is this translation unit's constant, read without a pointer to it, and
// checked once.
#define CHIME_PATHS (1 << 1)  // mapped peers; the NIC is in nic.cu
#include "chime/chime.h"

extern "C" CHIME_KERNEL void who(int* out) {
  out[0] = chime_my_pe();
  out[1] = chime_n_pes();
}
// PTX who: 1+ ld.const, 0 ld.global, 0 membar

extern "C" CHIME_KERNEL void put_signal_block(float* dst, const float* src, uint64_t* sig, int pe) {
  chimex_float_put_signal_nbi_block(dst, src, 1024, sig, 1, CHIME_SIGNAL_SET, pe);
}
// PTX put_signal_block: 1+ ld.const, 1 st.release.sys.global.u64, 0 fence, 0 membar, 0 red

extern "C" CHIME_KERNEL void put_then_quiet(float* dst, int pe) {
  chime_float_p(dst, 1.0f, pe);
  chime_quiet();
}
// PTX put_then_quiet: 1 st.relaxed.sys.global.u32, 1 fence.acq_rel.sys, 0 membar
