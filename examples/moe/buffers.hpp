// The memory of a PE's layer. Rows of a pair of PEs have a place of their own at both ends, so no
// PE asks another one where to put them.
#pragma once

#include <chime/chime.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/program.hpp"
#include "routing.hpp"

namespace moe {

namespace exec = chime::exec;

using examples::fail;
using examples::must;
using examples::must_call;
using examples::of_device;
using examples::symmetric;

// What a kernel gets. A row is a token's elements. Row r that comes from a PE or goes to it is row
// row(pe, r) of an array here; at that PE it is row(me, r).
template <class T>
struct Layer {
  Shape shape;
  int me;

  // Symmetric.
  T* tokens;
  T* sent;      // rows that were packed before they are sent: not `device`
  T* received;  // from each PE
  T* answered;  // to each PE
  T* returned;  // from each PE

  // Memory of the device, which other PEs do not reach.
  float* out;             // shape.tokens rows
  unsigned* wanted;       // items for each expert
  unsigned* placed;       // items for each expert that have a row already
  unsigned* first_row;    // of each expert among the rows for its PE
  unsigned* row_of_item;  // among the rows for the item's PE

  CHIME_DEVICE std::size_t row(int pe, unsigned r) const {
    return (static_cast<std::size_t>(pe) * static_cast<unsigned>(shape.items()) + r) *
           static_cast<unsigned>(shape.dim);
  }
  CHIME_HOST_DEVICE std::size_t row_bytes() const {
    return static_cast<unsigned>(shape.dim) * sizeof(T);
  }
};

template <class T>
Layer<T> make_layer(const Shape& shape) {
  const auto items = static_cast<std::size_t>(shape.items()),
             dim = static_cast<std::size_t>(shape.dim);
  const auto pairs = static_cast<std::size_t>(shape.n_pes) * items * dim;
  const auto experts = static_cast<std::size_t>(shape.all_experts());
  Layer<T> layer = {.shape = shape,
                    .me = chime_my_pe(),
                    .tokens = symmetric<T>(static_cast<std::size_t>(shape.tokens) * dim),
                    .sent = symmetric<T>(pairs),
                    .received = symmetric<T>(pairs),
                    .answered = symmetric<T>(pairs),
                    .returned = symmetric<T>(pairs),
                    .out = of_device<float>(static_cast<std::size_t>(shape.tokens) * dim),
                    .wanted = of_device<unsigned>(experts),
                    .placed = of_device<unsigned>(experts),
                    .first_row = of_device<unsigned>(experts),
                    .row_of_item = of_device<unsigned>(items)};
  std::vector<T> mine;
  for (int token = 0; token < shape.tokens; ++token)
    for (int i = 0; i < shape.dim; ++i) mine.push_back(static_cast<T>(element(layer.me, token, i)));
  must(exec::copy(layer.tokens, mine.data(), mine.size() * sizeof(T)), "filling tokens");
  return layer;
}

template <class T>
void free_layer(const Layer<T>& layer) {
  exec::device_free(layer.out);
  // By vectors: nvcc takes no list in a loop of a template.
  for (unsigned* memory :
       std::vector{layer.wanted, layer.placed, layer.first_row, layer.row_of_item})
    exec::device_free(memory);
  for (T* memory :
       std::vector{layer.returned, layer.answered, layer.received, layer.sent, layer.tokens})
    chime_free(memory);
}

}  // namespace moe
