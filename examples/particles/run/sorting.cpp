#include "run/sorting.hpp"

#include <thrust/binary_search.h>
#include <thrust/copy.h>
#include <thrust/execution_policy.h>
#include <thrust/extrema.h>
#include <thrust/gather.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>

#include <limits>

#include "system/arrays.hpp"

namespace particles {
namespace {

using Index = std::int32_t;

// Thrust's CPU back end runs in the calling thread: kernels of the stream must have ended.
auto on_device() {
  check_kernels(exec::stream_synchronize({}), "waiting for the device");
  return thrust::device;
}

struct Equals {
  Index wanted;
  CHIME_HOST_DEVICE bool operator()(Index value) const { return value == wanted; }
};
struct Differs {
  Index unwanted;
  CHIME_HOST_DEVICE bool operator()(Index value) const { return value != unwanted; }
};

template <class Predicate>
int select(const Index* value, int count, Predicate predicate, Index* chosen) {
  const thrust::counting_iterator<Index> first(0);
  return static_cast<int>(
      thrust::copy_if(on_device(), first, first + count, value, chosen, predicate) - chosen);
}

Index read(const Index* at) {
  Index value = 0;
  download(&value, at, 1);
  return value;
}

}  // namespace

int select_equal(const Index* value, int count, Index wanted, Index* chosen) {
  return select(value, count, Equals{wanted}, chosen);
}
int select_other(const Index* value, int count, Index unwanted, Index* chosen) {
  return select(value, count, Differs{unwanted}, chosen);
}

void gather(const Index* from, const Index* at, int count, Index* to) {
  thrust::gather(on_device(), at, at + count, from, to);
}

void fill_sequence(Index* to, int count) { thrust::sequence(on_device(), to, to + count); }

void sort_by_key(Index* key, Index* value, int count) {
  thrust::stable_sort_by_key(on_device(), key, key + count, value);
}

void find_starts(const Index* sorted_key, int count, Index* start, int bounds) {
  const thrust::counting_iterator<Index> first(0);
  thrust::lower_bound(on_device(), sorted_key, sorted_key + count, first, first + bounds, start);
}

int exclusive_sum(const Index* value, int count, Index* to) {
  if (count == 0) return 0;
  thrust::exclusive_scan(on_device(), value, value + count, to);
  return read(to + count - 1) + read(value + count - 1);
}

int maximum(const Index* value, int count) {
  return count == 0 ? std::numeric_limits<int>::min()
                    : read(thrust::max_element(on_device(), value, value + count));
}
int minimum(const Index* value, int count) {
  return count == 0 ? std::numeric_limits<int>::max()
                    : read(thrust::min_element(on_device(), value, value + count));
}

}  // namespace particles
