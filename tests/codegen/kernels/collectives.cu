// The registers that collectives cost (as in registers.cu), in a module of their own.
#include "chime/chime.h"

extern "C" CHIME_KERNEL void reduce_thread(float* dst, const float* src, size_t n) {
  chime_float_sum_reduce(CHIME_TEAM_WORLD, dst, src, n);
}
// PTXAS[80] reduce_thread: registers <= 96, stack <= 232
// PTXAS[90] reduce_thread: registers <= 98, stack <= 232

extern "C" CHIME_KERNEL void reduce_block(float* dst, const float* src, size_t n) {
  chimex_float_sum_reduce_block(CHIME_TEAM_WORLD, dst, src, n);
}
// PTXAS[80] reduce_block: registers <= 96, stack <= 232
// PTXAS[90] reduce_block: registers <= 98, stack <= 232

extern "C" CHIME_KERNEL void broadcast_block(float* dst, const float* src, size_t n) {
  chimex_float_broadcast_block(CHIME_TEAM_WORLD, dst, src, n, 0);
}
// PTXAS[80] broadcast_block: registers <= 86, stack <= 232
// PTXAS[90] broadcast_block: registers <= 90, stack <= 232

extern "C" CHIME_KERNEL void alltoall_block(float* dst, const float* src, size_t n) {
  chimex_float_alltoall_block(CHIME_TEAM_WORLD, dst, src, n);
}
// PTXAS[80] alltoall_block: registers <= 86, stack <= 232
// PTXAS[90] alltoall_block: registers <= 90, stack <= 232
