// What collectives cost: registers (as in registers.cu), in a module of their own, and how words
// move. A word's data and number are one scalar of 64 bits, without a fence.
#include "chime/chime.h"
#include "chime/device/coll/words.cuh"

extern "C" CHIME_KERNEL void send_words(uint64_t* words, const std::byte* src, size_t bytes) {
  chime::detail::store_words(chime::Thread{}, words, src, bytes, 7);
}
// PTX send_words: 1+ st.relaxed.sys.global.u64, 0 st.relaxed.sys.global.v2, 0 st.volatile, 0 fence
// PTX send_words: 0 membar

extern "C" CHIME_KERNEL void take_words(std::byte* dst, const uint64_t* words,
                                        const std::byte* slot, unsigned count) {
  unsigned seen = 0;
  while (!chime::detail::have_come(words, count, 7, seen)) {
  }
  chime::detail::unpack(chime::Thread{}, dst, words, slot, 4 * count, 7);
}
// PTX take_words: 2+ ld.relaxed.sys.global.u64, 0 ld.relaxed.sys.global.v2, 0 ld.acquire, 0 fence

extern "C" CHIME_KERNEL void reduce_thread(float* dst, const float* src, size_t n) {
  chime_float_sum_reduce(CHIME_TEAM_WORLD, dst, src, n);
}
// PTXAS[80] reduce_thread: registers <= 93, stack <= 184
// PTXAS[90] reduce_thread: registers <= 102, stack <= 184

extern "C" CHIME_KERNEL void reduce_block(float* dst, const float* src, size_t n) {
  chimex_float_sum_reduce_block(CHIME_TEAM_WORLD, dst, src, n);
}
// PTXAS[80] reduce_block: registers <= 100, stack <= 184
// PTXAS[90] reduce_block: registers <= 103, stack <= 184

extern "C" CHIME_KERNEL void broadcast_block(float* dst, const float* src, size_t n) {
  chimex_float_broadcast_block(CHIME_TEAM_WORLD, dst, src, n, 0);
}
// PTXAS[80] broadcast_block: registers <= 93, stack <= 184
// PTXAS[90] broadcast_block: registers <= 96, stack <= 184

extern "C" CHIME_KERNEL void alltoall_block(float* dst, const float* src, size_t n) {
  chimex_float_alltoall_block(CHIME_TEAM_WORLD, dst, src, n);
}
// PTXAS[80] alltoall_block: registers <= 95, stack <= 184
// PTXAS[90] alltoall_block: registers <= 96, stack <= 184

extern "C" CHIME_KERNEL void inscan_block(float* dst, const float* src, size_t n) {
  chimex_float_sum_inscan_block(CHIME_TEAM_WORLD, dst, src, n);
}
// PTXAS[80] inscan_block: registers <= 103, stack <= 184
// PTXAS[90] inscan_block: registers <= 106, stack <= 184
