// `device`: one kernel dispatches, computes and combines. Rows travel one by one, so an expert
// begins with a PE's rows while others are on their way. There is no barrier over PEs.
//
// Counters never go back. Each expert answers each PE in each iteration, also if it got nothing:
// then a PE that has all answers knows that its counts and rows were read, and may overwrite them.
#pragma once

#include "steps.hpp"

namespace moe {

// What PEs tell each other. `told` and `here` have a word for each PE that sends and expert here.
struct Counters {
  // Symmetric.
  std::uint64_t* told;  // from each PE: iteration, and in the low half rows so far for the expert
  std::uint64_t* here;  // from each PE: rows so far for the expert that have come
  std::uint64_t* back;  // from each PE: answers so far, and one for each expert and iteration
  // Memory of the device, which other PEs do not reach.
  std::uint64_t* sent_to_expert;  // rows so far, for each expert of all
  std::uint64_t* seen[2];         // of told: rows before an iteration, by its parity
};

constexpr int kRowsBits = 32;
constexpr std::uint64_t kRowsMask = (std::uint64_t{1} << kRowsBits) - 1;

// Tells each expert how many rows it gets, also if it gets none.
template <class T>
CHIME_DEVICE void tell_counts(const Layer<T>& layer, const Counters& counters, int iteration) {
  const Shape& shape = layer.shape;
  for (int e = first_of_all(); e < shape.all_experts(); e += all_threads()) {
    const std::uint64_t rows = counters.sent_to_expert[e] += layer.wanted[e];
    chime_uint64_p(counters.told + layer.me * shape.experts + e % shape.experts,
                   static_cast<std::uint64_t>(iteration) << kRowsBits | rows, e / shape.experts);
  }
}

template <class T>
CHIME_DEVICE void send_rows(const Layer<T>& layer, const Counters& counters, int iteration) {
  const Shape& shape = layer.shape;
  CHIME_SHARED_VAR(unsigned, row);
  const auto blocks = static_cast<int>(exec::grid_blocks());
  for (int item = static_cast<int>(exec::block_rank()); item < shape.items(); item += blocks) {
    const int expert = expert_of(shape, layer.me, item, iteration), pe = expert / shape.experts;
    if (exec::thread_rank() == 0) row = take_row(layer, item, expert);
    exec::sync_block();
    chimex_putmem_signal_nbi_block(
        layer.received + layer.row(layer.me, row),
        layer.tokens +
            static_cast<std::size_t>(item / shape.top) * static_cast<unsigned>(shape.dim),
        layer.row_bytes(), counters.here + layer.me * shape.experts + expert % shape.experts, 1,
        CHIME_SIGNAL_ADD, pe);
  }
}

// By one thread: rows from `pe` for one of my experts in this iteration.
CHIME_DEVICE unsigned await_count(const Counters& counters, int word, int iteration) {
  chime_uint64_wait_until(counters.told + word, CHIME_CMP_GE,
                          static_cast<std::uint64_t>(iteration) << kRowsBits);
  const std::uint64_t rows = chime_signal_fetch(counters.told + word) & kRowsMask;
  return static_cast<unsigned>(rows - counters.seen[iteration % 2][word]);
}

// A block takes one PE's rows for one expert after another, and answers them when all are there.
template <class T>
CHIME_DEVICE void answer_rows(const Layer<T>& layer, const Counters& counters, int iteration) {
  const Shape& shape = layer.shape;
  CHIME_SHARED_ARRAY(unsigned, rows, 2);  // the first, how many
  const auto blocks = static_cast<int>(exec::grid_blocks());
  for (int word = static_cast<int>(exec::block_rank()); word < shape.all_experts();
       word += blocks) {
    const int pe = word / shape.experts, expert = word % shape.experts;
    if (exec::thread_rank() == 0) {
      rows[0] = rows[1] = 0;  // a wait that fails ends this thread
      unsigned first = 0;
      for (int before = pe * shape.experts; before < word; ++before)
        first += await_count(counters, before, iteration);
      const unsigned count = await_count(counters, word, iteration);
      const std::uint64_t all = counters.seen[iteration % 2][word] + count;
      counters.seen[(iteration + 1) % 2][word] = all;
      chime_signal_wait_until(counters.here + word, CHIME_CMP_GE, all);
      rows[0] = first, rows[1] = count;
    }
    exec::sync_block();
    compute(layer, iteration, pe, layer.me * shape.experts + expert, rows[0], rows[1]);
    chimex_putmem_signal_nbi_block(
        layer.returned + layer.row(layer.me, rows[0]), layer.answered + layer.row(pe, rows[0]),
        rows[1] * layer.row_bytes(), counters.back + layer.me, rows[1] + 1, CHIME_SIGNAL_ADD, pe);
  }
}

// By each block's first thread, then all may read what came back.
template <class T>
CHIME_DEVICE void await_answers(const Layer<T>& layer, const Counters& counters, int iteration) {
  const int experts = layer.shape.experts;
  if (exec::thread_rank() == 0) {
    for (int pe = 0; pe < layer.shape.n_pes; ++pe) {
      auto all = static_cast<std::uint64_t>(experts) * static_cast<unsigned>(iteration);
      for (int e = pe * experts; e < (pe + 1) * experts; ++e) all += counters.sent_to_expert[e];
      chime_signal_wait_until(counters.back + pe, CHIME_CMP_GE, all);
    }
  }
  exec::sync_block();
}

// REQUIRES: counts are 0.
template <class T>
CHIME_KERNEL void run_layer(Layer<T> layer, Counters counters, int iteration) {
  count_items(layer, iteration);
  exec::sync_grid();
  find_first_rows(layer);
  tell_counts(layer, counters, iteration);
  exec::sync_grid();
  send_rows(layer, counters, iteration);
  answer_rows(layer, counters, iteration);
  exec::sync_grid();  // every item has its row
  forget_counts(layer);
  await_answers(layer, counters, iteration);
  combine(layer, iteration);
  if (first_of_all() == 0) chime_quiet();  // what all have sent may change
}

}  // namespace moe
