// Kernels of reductions, and what they ought to give, to the bit: combined by the host in a tree.
#pragma once

#include <cstring>
#include <type_traits>

#include "chime/device/coll/reduce.cuh"
#include "collectives/collectives.hpp"

namespace chime::tests {

template <class Op, class T, class Group>
CHIME_KERNEL void reduce_once(CHIME_GRID_CONSTANT const Context context, chime_team_t team, T* dst,
                              const T* src, std::size_t n, int* failed) {
  const Group g{};
  const int status = reduce<Op>(context, g, team, dst, src, n);
  if (g.is_leader() && status != CHIMEX_OK) *failed = status;
}
template <class Op, class T, class Group>
CHIME_KERNEL void scatter_once(CHIME_GRID_CONSTANT const Context context, chime_team_t team, T* dst,
                               const T* src, std::size_t n, int* failed) {
  const Group g{};
  const int status = reducescatter<Op>(context, g, team, dst, src, n);
  if (g.is_leader() && status != CHIMEX_OK) *failed = status;
}

// What is combined in is wider than float16.
template <class T>
using In = std::conditional_t<std::is_integral_v<T> || std::is_same_v<T, double>, T, float>;

// Elements `first` on, of all members.
template <class T, class Apply>
std::vector<T> expected(const std::vector<int>& pes, std::size_t first, std::size_t n, int round,
                        Apply apply) {
  std::vector<T> all;
  for (std::size_t i = first; i < first + n; ++i) {
    std::vector<In<T>> values;
    for (const int pe : pes) values.push_back(static_cast<In<T>>(brought<T>(pe, i, round)));
    all.push_back(static_cast<T>(in_a_tree(values, apply)));
  }
  return all;
}

template <class T>
void expect_same(const std::vector<T>& expected, std::vector<T> got) {
  got.resize(expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    ASSERT_EQ(0, std::memcmp(&expected[i], &got[i], sizeof(T)))
        << "element " << i << " of " << expected.size() << ": "
        << static_cast<double>(static_cast<In<T>>(got[i])) << ", and not "
        << static_cast<double>(static_cast<In<T>>(expected[i]));
}

}  // namespace chime::tests
