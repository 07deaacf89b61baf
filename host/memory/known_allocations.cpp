#include "host/memory/known_allocations.hpp"

#include <atomic>
#include <cassert>
#include <cstddef>

namespace chime::host {
namespace {

// Release: a reader of the new word finds the generation that was in use before it (the acquire
// fence in device/bounds.cuh).
void put(std::uint64_t& word, std::uint64_t value) {
  std::atomic_ref(word).store(value, std::memory_order_release);
}

}  // namespace

KnownAllocations::KnownAllocations(Gpu& gpu, std::size_t most)
    : most_(most),
      memory_(gpu.allocate_host_visible(sizeof(abi::Allocations) +
                                        2 * most * sizeof(abi::Allocation))) {
  abi::Allocations& published = table_of(*memory_);
  auto* const rows = reinterpret_cast<abi::Allocation*>(&published + 1);
  published = {.generation = 0, .reserved = 0, .tables = {{0, rows}, {0, rows + most}}};
}

void KnownAllocations::tell(std::span<const abi::Allocation> all) {
  assert(all.size() <= most_);
  abi::Allocations& published = table_of(*memory_);
  const std::uint64_t next = published.generation + 1;  // one thread at a time changes it
  abi::AllocationTable& table = published.tables[next % 2];
  for (std::size_t i = 0; i < all.size(); ++i) {
    put(table.rows[i].begin, all[i].begin);
    put(table.rows[i].end, all[i].end);
  }
  put(table.count, all.size());
  // Pairs with the acquire load in lies_in_one_allocation (device/bounds.cuh): the table is whole.
  put(published.generation, next);
}

}  // namespace chime::host
