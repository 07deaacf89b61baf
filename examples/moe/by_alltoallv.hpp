// `stream` and `host`: rows are packed, an alltoallv takes them to the experts' PEs, another one
// takes the answers back. On a stream nothing waits for the host.
#pragma once

#include "steps.hpp"

namespace moe {

// Numbers for each PE; counts and offsets in bytes.
struct Shares {
  std::uint64_t *rows_sent, *rows_here;  // symmetric: for each PE and expert
  std::size_t *sent, *here, *back;       // of the device, as all others
  std::size_t* offsets;
};

template <class T>
CHIME_KERNEL void count(Layer<T> layer, int iteration) {
  count_items(layer, iteration);
}

// By one block.
template <class T>
CHIME_KERNEL void make_shares(Layer<T> layer, Shares shares) {
  const Shape& shape = layer.shape;
  find_first_rows(layer);
  exec::sync_block();
  const std::size_t most = static_cast<unsigned>(shape.items()) * layer.row_bytes();
  for (int pe = first_of_all(); pe < shape.n_pes; pe += all_threads()) {
    const int last = (pe + 1) * shape.experts - 1;
    shares.sent[pe] = (layer.first_row[last] + layer.wanted[last]) * layer.row_bytes();
    shares.here[pe] = shares.back[pe] = most;
  }
  for (int e = first_of_all(); e < shape.all_experts(); e += all_threads())
    shares.rows_sent[e] = layer.wanted[e];
}

template <class T>
CHIME_KERNEL void pack(Layer<T> layer, int iteration) {
  pack_rows(layer, iteration);
}

template <class T>
CHIME_KERNEL void compute_all(Layer<T> layer, Shares shares, int iteration) {
  const Shape& shape = layer.shape;
  const auto blocks = static_cast<int>(exec::grid_blocks());
  for (int word = static_cast<int>(exec::block_rank()); word < shape.all_experts();
       word += blocks) {
    const int pe = word / shape.experts;
    unsigned first = 0;
    for (int before = pe * shape.experts; before < word; ++before)
      first += static_cast<unsigned>(shares.rows_here[before]);
    compute(layer, iteration, pe, layer.me * shape.experts + word % shape.experts, first,
            static_cast<unsigned>(shares.rows_here[word]));
  }
}

template <class T>
CHIME_KERNEL void combine_all(Layer<T> layer, int iteration) {
  combine(layer, iteration);
  forget_counts(layer);
}

inline Shares make_all_shares(const Shape& shape) {
  const auto pes = static_cast<std::size_t>(shape.n_pes);
  const auto experts = static_cast<std::size_t>(shape.all_experts());
  return {symmetric<std::uint64_t>(experts), symmetric<std::uint64_t>(experts),
          of_device<std::size_t>(pes),       of_device<std::size_t>(pes),
          of_device<std::size_t>(pes),       of_device<std::size_t>(pes)};
}
template <class T>
void fill_offsets(const Layer<T>& layer, const Shares& shares) {
  std::vector<std::size_t> offsets;
  for (int pe = 0; pe < layer.shape.n_pes; ++pe)
    offsets.push_back(static_cast<std::size_t>(pe) * static_cast<unsigned>(layer.shape.items()) *
                      layer.row_bytes());
  must(exec::copy(shares.offsets, offsets.data(), offsets.size() * sizeof(std::size_t)),
       "filling offsets");
}
inline void free_shares(const Shares& shares) {
  for (std::size_t* memory : {shares.sent, shares.here, shares.back, shares.offsets})
    exec::device_free(memory);
  chime_free(shares.rows_here);
  chime_free(shares.rows_sent);
}

// The calls, by the host: it waits for the stream before each.
struct ByHost {
  exec::Stream stream;

  int alltoall(std::uint64_t* dst, const std::uint64_t* src, std::size_t n) const {
    must(exec::stream_synchronize(stream), "waiting for kernels");
    return chime_uint64_alltoall(CHIME_TEAM_WORLD, dst, src, n);
  }
  int alltoallv(void* dst, std::size_t* dst_counts, const std::size_t* dst_offsets, const void* src,
                const std::size_t* src_counts, const std::size_t* src_offsets) const {
    must(exec::stream_synchronize(stream), "waiting for kernels");
    return chimex_alltoallvmem(CHIME_TEAM_WORLD, dst, dst_counts, dst_offsets, src, src_counts,
                               src_offsets);
  }
};
struct OnStream {
  exec::Stream stream;

  int alltoall(std::uint64_t* dst, const std::uint64_t* src, std::size_t n) const {
    return chimex_uint64_alltoall_on_stream(CHIME_TEAM_WORLD, dst, src, n, stream);
  }
  int alltoallv(void* dst, std::size_t* dst_counts, const std::size_t* dst_offsets, const void* src,
                const std::size_t* src_counts, const std::size_t* src_offsets) const {
    return chimex_alltoallvmem_on_stream(CHIME_TEAM_WORLD, dst, dst_counts, dst_offsets, src,
                                         src_counts, src_offsets, stream);
  }
};

// REQUIRES: counts are 0. Source and destination of each call are used again only after another
// call in between, in which all members heard from all.
template <class T, class Calls>
void run_layer_by(const Layer<T>& layer, const Shares& shares, Calls& calls,
                  const exec::LaunchConfig& config, int iteration) {
  exec::LaunchConfig one_block = config;
  one_block.grid = 1;
  must(exec::launch(config, count<T>, layer, iteration), "counting items");
  must(exec::launch(one_block, make_shares<T>, layer, shares), "dividing rows");
  must(exec::launch(config, pack<T>, layer, iteration), "packing rows");
  must_call(calls.alltoall(shares.rows_here, shares.rows_sent,
                           static_cast<std::size_t>(layer.shape.experts)),
            "telling counts");
  must_call(calls.alltoallv(layer.received, shares.here, shares.offsets, layer.sent, shares.sent,
                            shares.offsets),
            "sending rows");
  must(exec::launch(config, compute_all<T>, layer, shares, iteration), "computing");
  must_call(calls.alltoallv(layer.returned, shares.back, shares.offsets, layer.answered,
                            shares.here, shares.offsets),
            "sending answers");
  must(exec::launch(config, combine_all<T>, layer, iteration), "combining");
}

}  // namespace moe
