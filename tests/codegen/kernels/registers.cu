// The registers that an operation costs: no kernel that calls it has fewer. All arguments come at
// run time, and there are no launch bounds. The stack belongs to out-of-line functions that stage
// or split what one request cannot carry; the common path uses none.
#include "chime/chime.h"

extern "C" CHIME_KERNEL void p(float* dst, float value, int pe) { chime_float_p(dst, value, pe); }
// PTXAS[80] p: registers <= 38, stack <= 0
// PTXAS[90] p: registers <= 38, stack <= 0

extern "C" CHIME_KERNEL void put(float* dst, const float* src, size_t n, int pe) {
  chime_float_put(dst, src, n, pe);
}
// PTXAS[80] put: registers <= 45, stack <= 112
// PTXAS[90] put: registers <= 48, stack <= 112

extern "C" CHIME_KERNEL void put_signal(float* dst, const float* src, size_t n, uint64_t* sig,
                                        uint64_t value, int op, int pe) {
  chime_float_put_signal(dst, src, n, sig, value, op, pe);
}
// PTXAS[80] put_signal: registers <= 51, stack <= 184
// PTXAS[90] put_signal: registers <= 55, stack <= 184

extern "C" CHIME_KERNEL void quiet() { chime_quiet(); }
// PTXAS[80] quiet: registers <= 32, stack <= 0
// PTXAS[90] quiet: registers <= 32, stack <= 0

extern "C" CHIME_KERNEL void atomic_add(uint64_t* word, uint64_t value, int pe) {
  chime_uint64_atomic_add(word, value, pe);
}
// PTXAS[80] atomic_add: registers <= 35, stack <= 0
// PTXAS[90] atomic_add: registers <= 35, stack <= 0

extern "C" CHIME_KERNEL void float_add(float* word, float value, int pe) {
  chimex_float_atomic_add(word, value, pe);
}
// PTXAS[80] float_add: registers <= 57, stack <= 0
// PTXAS[90] float_add: registers <= 57, stack <= 0
