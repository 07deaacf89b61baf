// What operations cost their kernel in registers: of whoever calls one, this is the least. All
// arguments come at run time, and no launch bounds help. Stack: of leaves that stage or split what
// one request cannot carry; nothing lies there on the straight path.
#include "chime/chime.h"

extern "C" CHIME_KERNEL void p(float* dst, float value, int pe) { chime_float_p(dst, value, pe); }
// PTXAS[80] p: registers <= 37, stack <= 0
// PTXAS[90] p: registers <= 41, stack <= 0

extern "C" CHIME_KERNEL void put(float* dst, const float* src, size_t n, int pe) {
  chime_float_put(dst, src, n, pe);
}
// PTXAS[80] put: registers <= 52, stack <= 96
// PTXAS[90] put: registers <= 58, stack <= 96

extern "C" CHIME_KERNEL void put_signal(float* dst, const float* src, size_t n, uint64_t* sig,
                                        uint64_t value, int op, int pe) {
  chime_float_put_signal(dst, src, n, sig, value, op, pe);
}
// PTXAS[80] put_signal: registers <= 59, stack <= 176
// PTXAS[90] put_signal: registers <= 64, stack <= 176

extern "C" CHIME_KERNEL void quiet() { chime_quiet(); }
// PTXAS[80] quiet: registers <= 38, stack <= 0
// PTXAS[90] quiet: registers <= 40, stack <= 0

extern "C" CHIME_KERNEL void barrier_all() { chime_barrier_all(); }
// PTXAS[80] barrier_all: registers <= 45, stack <= 0
// PTXAS[90] barrier_all: registers <= 51, stack <= 0

extern "C" CHIME_KERNEL void barrier_all_block() { chimex_barrier_all_block(); }
// PTXAS[80] barrier_all_block: registers <= 47, stack <= 0
// PTXAS[90] barrier_all_block: registers <= 52, stack <= 0

extern "C" CHIME_KERNEL void atomic_add(uint64_t* word, uint64_t value, int pe) {
  chime_uint64_atomic_add(word, value, pe);
}
// PTXAS[80] atomic_add: registers <= 39, stack <= 0
// PTXAS[90] atomic_add: registers <= 42, stack <= 0

extern "C" CHIME_KERNEL void float_add(float* word, float value, int pe) {
  chimex_float_atomic_add(word, value, pe);
}
// PTXAS[80] float_add: registers <= 56, stack <= 0
// PTXAS[90] float_add: registers <= 59, stack <= 0

// One block; n_pes chunks of `chunk` elements. In the first n_pes - 1 rounds a chunk goes to the
// right neighbour's inbox of the round, and is added to its own; then, whole, to its place.
extern "C" CHIME_KERNEL void ring_all_reduce(float* data, float* inboxes, size_t chunk,
                                             uint64_t* arrived, uint64_t before) {
  const int me = chime_my_pe(), n_pes = chime_n_pes();
  const int right = (me + 1) % n_pes;
  for (int round = 0; round < 2 * (n_pes - 1); ++round) {
    const bool reduces = round < n_pes - 1;
    float* const sent = data + (me + 2 * n_pes - round) % n_pes * chunk;
    float* const inbox = inboxes + round * chunk;
    const uint64_t now = before + round + 1;
    if (reduces) {
      chimex_float_put_signal_block(inbox, sent, chunk, arrived, now, CHIME_SIGNAL_SET, right);
    } else {
      chimex_float_put_signal_block(sent, sent, chunk, arrived, now, CHIME_SIGNAL_SET, right);
    }
    chimex_signal_wait_until_block(arrived, CHIME_CMP_GE, now);
    if (!reduces) continue;
    float* const received = data + (me + 2 * n_pes - round - 1) % n_pes * chunk;
    const unsigned threads = chime::exec::block_threads();
    for (size_t i = chime::exec::thread_rank(); i < chunk; i += threads) received[i] += inbox[i];
    chime::exec::sync_block();
  }
}
// PTXAS[80] ring_all_reduce: registers <= 102, stack <= 176
// PTXAS[90] ring_all_reduce: registers <= 106, stack <= 176
