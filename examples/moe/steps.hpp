// The steps of a layer that several ways of moving rows share, for all blocks of a kernel.
#pragma once

#include "buffers.hpp"

namespace moe {

CHIME_DEVICE int first_of_all() {
  return static_cast<int>(exec::block_rank() * exec::block_threads() + exec::thread_rank());
}
CHIME_DEVICE int all_threads() {
  return static_cast<int>(exec::grid_blocks() * exec::block_threads());
}

// Each layer ends with this, so counts are 0 when one begins.
template <class T>
CHIME_DEVICE void forget_counts(const Layer<T>& layer) {
  for (int e = first_of_all(); e < layer.shape.all_experts(); e += all_threads())
    layer.wanted[e] = layer.placed[e] = 0;
}

template <class T>
CHIME_DEVICE void count_items(const Layer<T>& layer, int iteration) {
  for (int item = first_of_all(); item < layer.shape.items(); item += all_threads())
    exec::atomic_add(layer.wanted + expert_of(layer.shape, layer.me, item, iteration), 1u);
}

// Rows for a PE are in the order of its experts.
template <class T>
CHIME_DEVICE void find_first_rows(const Layer<T>& layer) {
  for (int pe = first_of_all(); pe < layer.shape.n_pes; pe += all_threads()) {
    unsigned row = 0;
    for (int e = pe * layer.shape.experts; e < (pe + 1) * layer.shape.experts; ++e) {
      layer.first_row[e] = row;
      row += layer.wanted[e];
    }
  }
}

// By one thread: a row for the item.
template <class T>
CHIME_DEVICE unsigned take_row(const Layer<T>& layer, int item, int expert) {
  const unsigned row = layer.first_row[expert] + exec::atomic_add(layer.placed + expert, 1u);
  layer.row_of_item[item] = row;
  return row;
}

// By a block: `body(i)` for each i below `count`. A compiler makes vectors of a step that it knows:
// on a CPU, where blocks have one thread if nobody asks for more.
template <class Body>
CHIME_DEVICE void for_each_element(unsigned count, const Body& body) {
  const unsigned threads = exec::block_threads();
  if (threads == 1) {
    for (unsigned i = 0; i < count; ++i) body(i);
    return;
  }
  for (unsigned i = exec::thread_rank(); i < count; i += threads) body(i);
}

// Rows for each PE, one behind another, in `sent`.
template <class T>
CHIME_DEVICE void pack_rows(const Layer<T>& layer, int iteration) {
  const Shape& shape = layer.shape;
  CHIME_SHARED_VAR(unsigned, row);
  const auto dim = static_cast<unsigned>(shape.dim);
  const auto blocks = static_cast<int>(exec::grid_blocks());
  for (int item = static_cast<int>(exec::block_rank()); item < shape.items(); item += blocks) {
    const int expert = expert_of(shape, layer.me, item, iteration);
    if (exec::thread_rank() == 0) row = take_row(layer, item, expert);
    exec::sync_block();
    T* const to = layer.sent + layer.row(expert / shape.experts, row);
    const T* const from = layer.tokens + static_cast<std::size_t>(item / shape.top) * dim;
    for_each_element(dim, [=](unsigned i) { to[i] = from[i]; });
    exec::sync_block();
  }
}

// By a block: the expert's answers to `count` rows of `pe`, from `first` on.
template <class T>
CHIME_DEVICE void compute(const Layer<T>& layer, int iteration, int pe, int expert, unsigned first,
                          unsigned count) {
  const auto dim = static_cast<unsigned>(layer.shape.dim);
  for (unsigned r = first; r < first + count; ++r) {
    const T* const asked = layer.received + layer.row(pe, r);
    T* const answers = layer.answered + layer.row(pe, r);
    const auto give = [=](unsigned i, unsigned next) {
      answers[i] = static_cast<T>(
          answer(expert, iteration, static_cast<float>(asked[i]), static_cast<float>(asked[next])));
    };
    for_each_element(dim - 1, [=](unsigned i) { give(i, i + 1); });
    if (exec::thread_rank() == 0) give(dim - 1, 0);
  }
}

// A block adds the answers to one token after another, each with its weight.
template <class T>
CHIME_DEVICE void combine(const Layer<T>& layer, int iteration) {
  const Shape& shape = layer.shape;
  const auto dim = static_cast<unsigned>(shape.dim);
  const auto blocks = static_cast<int>(exec::grid_blocks());
  for (int token = static_cast<int>(exec::block_rank()); token < shape.tokens; token += blocks) {
    float* const out = layer.out + static_cast<std::size_t>(token) * dim;
    for (int item = token * shape.top; item < (token + 1) * shape.top; ++item) {
      const int pe = expert_of(shape, layer.me, item, iteration) / shape.experts;
      const T* const row = layer.returned + layer.row(pe, layer.row_of_item[item]);
      const float weight = weight_of(shape, item);
      if (item == token * shape.top)
        for_each_element(dim, [=](unsigned i) { out[i] = weight * static_cast<float>(row[i]); });
      else
        for_each_element(dim, [=](unsigned i) { out[i] += weight * static_cast<float>(row[i]); });
    }
  }
}

}  // namespace moe
