// `puts`: what a program writes by hand of puts alone. Rows are packed by PE; a block takes one PE
// after another and puts it all its rows, with a signal, then answers what came from each.
//
// The signal of a PE is the number of the iteration. All of a PE's answers have come before it
// sends again, so its rows and counts were read.
#pragma once

#include "steps.hpp"

namespace moe {

// Symmetric: for each PE that sends.
struct Signals {
  unsigned* rows_here;     // for each of my experts
  std::uint64_t* counted;  // rows_here is of this iteration
  std::uint64_t* here;     // its rows are
  std::uint64_t* back;     // its answers are
};

template <class T>
CHIME_DEVICE void put_rows(const Layer<T>& layer, const Signals& signals, std::uint64_t iteration,
                           int pe) {
  const int experts = layer.shape.experts, last = (pe + 1) * experts - 1;
  const unsigned rows = layer.first_row[last] + layer.wanted[last];
  chimex_putmem_signal_nbi_block(signals.rows_here + layer.me * experts,
                                 layer.wanted + pe * experts,
                                 static_cast<unsigned>(experts) * sizeof(unsigned),
                                 signals.counted + layer.me, iteration, CHIME_SIGNAL_SET, pe);
  chimex_putmem_signal_nbi_block(layer.received + layer.row(layer.me, 0),
                                 layer.sent + layer.row(pe, 0), rows * layer.row_bytes(),
                                 signals.here + layer.me, iteration, CHIME_SIGNAL_SET, pe);
}

template <class T>
CHIME_DEVICE void answer_pe(const Layer<T>& layer, const Signals& signals, int iteration, int pe) {
  const int experts = layer.shape.experts;
  const auto number = static_cast<std::uint64_t>(iteration);
  chimex_signal_wait_until_block(signals.counted + pe, CHIME_CMP_GE, number);
  chimex_signal_wait_until_block(signals.here + pe, CHIME_CMP_GE, number);
  unsigned first = 0;
  for (int e = 0; e < experts; ++e) {
    const unsigned rows = signals.rows_here[pe * experts + e];
    compute(layer, iteration, pe, layer.me * experts + e, first, rows);
    first += rows;
  }
  chimex_putmem_signal_nbi_block(layer.returned + layer.row(layer.me, 0),
                                 layer.answered + layer.row(pe, 0), first * layer.row_bytes(),
                                 signals.back + layer.me, number, CHIME_SIGNAL_SET, pe);
}

// REQUIRES: counts are 0.
template <class T>
CHIME_KERNEL void run_layer_by_puts(Layer<T> layer, Signals signals, int iteration) {
  const auto number = static_cast<std::uint64_t>(iteration);
  const int pes = layer.shape.n_pes, first = static_cast<int>(exec::block_rank());
  const auto blocks = static_cast<int>(exec::grid_blocks());
  count_items(layer, iteration);
  exec::sync_grid();
  find_first_rows(layer);
  exec::sync_grid();
  pack_rows(layer, iteration);
  exec::sync_grid();
  for (int pe = first; pe < pes; pe += blocks) put_rows(layer, signals, number, pe);
  for (int pe = first; pe < pes; pe += blocks) answer_pe(layer, signals, iteration, pe);
  for (int pe = 0; pe < pes; ++pe)
    chimex_signal_wait_until_block(signals.back + pe, CHIME_CMP_GE, number);
  combine(layer, iteration);
  if (first_of_all() == 0) chime_quiet();  // what all have sent may change
  exec::sync_grid();
  forget_counts(layer);
}

}  // namespace moe
