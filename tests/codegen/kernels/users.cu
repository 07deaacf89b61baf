// The registers of kernels as users write them: with the C API's names, other work around the
// calls, no launch bounds and no -maxrregcount. A block of 1024 threads has 64 registers for each
// thread; a kernel that needs more fails at launch. The dispatch, the histogram and the exchange
// fit. The ring and the halo do not: their bounds keep the figures that were reached.
#include "chime/chime.h"

namespace exec = chime::exec;

// One block; n_pes chunks of `chunk` elements. In each of the first n_pes - 1 rounds, a chunk goes
// to the right neighbour's inbox for this round, and the neighbour adds it to its own chunk. In the
// later rounds the sums go to their places.
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
    const unsigned threads = exec::block_threads();
    for (size_t i = exec::thread_rank(); i < chunk; i += threads) received[i] += inbox[i];
    exec::sync_block();
  }
}
// PTXAS[80] ring_all_reduce: registers <= 67, stack <= 184
// PTXAS[90] ring_all_reduce: registers <= 70, stack <= 184

// One token for each thread: it reserves the next place at its expert and goes there in two
// halves. The second half signals the expert.
extern "C" CHIME_KERNEL void moe_dispatch(float* experts, const float* tokens, const int* expert_of,
                                          uint64_t* taken, uint64_t* arrived, size_t width,
                                          size_t places) {
  const size_t token = exec::grid_rank();
  const int expert = expert_of[token];
  const int pe = expert % chime_n_pes();
  const uint64_t place = chime_uint64_atomic_fetch_add(taken + expert, 1, pe);
  float* const to = experts + (expert * places + place) * width;
  const float* const from = tokens + token * width;
  chime_float_put_nbi(to, from, width / 2, pe);
  chime_float_put_signal(to + width / 2, from + width / 2, width - width / 2, arrived + expert, 1,
                         CHIME_SIGNAL_ADD, pe);
}
// PTXAS[80] moe_dispatch: registers <= 58, stack <= 184
// PTXAS[90] moe_dispatch: registers <= 62, stack <= 184

// Sends six faces, each with a signal of its own, and waits for the neighbours'.
extern "C" CHIME_KERNEL void halo(double* ghosts, const double* faces, const int* neighbours,
                                  size_t face, uint64_t* arrived, uint64_t step) {
  for (int direction = 0; direction < 6; ++direction) {
    chimex_double_put_signal_nbi_block(ghosts + direction * face, faces + direction * face, face,
                                       arrived + direction, step, CHIME_SIGNAL_SET,
                                       neighbours[direction]);
  }
  for (int direction = 0; direction < 6; ++direction) {
    chimex_signal_wait_until_block(arrived + direction, CHIME_CMP_GE, step);
  }
}
// PTXAS[80] halo: registers <= 68, stack <= 184
// PTXAS[90] halo: registers <= 68, stack <= 184

// Counts values in bins that lie on all PEs.
extern "C" CHIME_KERNEL void histogram(uint64_t* bins, const unsigned* values, size_t count,
                                       unsigned n_bins) {
  for (size_t i = exec::grid_rank(); i < count; i += exec::grid_threads()) {
    const unsigned bin = values[i] % n_bins;
    chime_uint64_atomic_inc(bins + bin, static_cast<int>(bin % chime_n_pes()));
  }
  chime_quiet();
}
// PTXAS[80] histogram: registers <= 53, stack <= 0
// PTXAS[90] histogram: registers <= 57, stack <= 0

// Sends a scaled chunk to each PE, and a count after it; then all PEs meet in a barrier.
extern "C" CHIME_KERNEL void alltoall(float* dst, const float* src, float* scratch,
                                      uint64_t* counts, size_t chunk, float scale) {
  const int me = chime_my_pe(), n_pes = chime_n_pes();
  for (int step = 1; step <= n_pes; ++step) {
    const int pe = (me + step) % n_pes;
    float* const mine = scratch + pe * chunk;
    for (size_t i = exec::thread_rank(); i < chunk; i += exec::block_threads()) {
      mine[i] = src[pe * chunk + i] * scale;
    }
    chimex_float_put_nbi_block(dst + me * chunk, mine, chunk, pe);
    if (exec::thread_rank() == 0) {
      chime_fence();
      chime_uint64_p(counts + me, chunk, pe);
    }
  }
  chimex_barrier_all_block();
  for (int pe = static_cast<int>(exec::thread_rank()); pe < n_pes; pe += exec::block_threads()) {
    chime_uint64_wait_until(counts + pe, CHIME_CMP_EQ, chunk);
  }
}
// PTXAS[80] alltoall: registers <= 64, stack <= 112
// PTXAS[90] alltoall: registers <= 60, stack <= 112
