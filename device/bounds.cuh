// Whether memory of the heap belongs to one object of the program, in a job that checks bounds
// (CHIME_CHECK=2). abi/allocations.h has the table, its README the order of accesses.
//
// chime_malloc is symmetric: this PE's table holds for the other end of an operation, too. The
// table is read only where other checks are made, and out of line, so that a job without checks
// pays nothing.
#ifndef CHIME_DEVICE_BOUNDS_CUH_
#define CHIME_DEVICE_BOUNDS_CUH_

#include <cstddef>
#include <cstdint>

#include "chime/abi/allocations.h"
#include "chime/abi/context.h"
#include "chime/device/exec/exec.cuh"
#include "chime/device/symmetric.cuh"

namespace chime::detail {

CHIME_DEVICE bool is_within(const abi::Allocation& allocation, std::uint64_t offset,
                            std::size_t bytes) {
  return offset >= allocation.begin && offset < allocation.end && bytes <= allocation.end - offset;
}

// The last allocation of the table that begins at or before `offset`; an empty one if none does.
CHIME_DEVICE abi::Allocation allocation_before(const abi::AllocationTable& table,
                                               std::uint64_t offset) {
  using exec::Order;
  using exec::Scope;
  std::uint64_t low = 0, high = exec::ld<Order::kRelaxed, Scope::kSystem>(&table.count);
  while (low < high) {
    const std::uint64_t middle = (low + high) / 2;
    if (exec::ld<Order::kRelaxed, Scope::kSystem>(&table.rows[middle].begin) <= offset) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == 0) return {0, 0};
  const abi::Allocation& row = table.rows[low - 1];
  return {exec::ld<Order::kRelaxed, Scope::kSystem>(&row.begin),
          exec::ld<Order::kRelaxed, Scope::kSystem>(&row.end)};
}

// Whether one allocation has all of the `bytes` at `offset`. Looks again if the table changed
// meanwhile, which happens no more often than the program allocates and frees. After kLooks changes
// it refuses nothing.
CHIME_DEVICE bool lies_in_one_allocation(const abi::Allocations& all, std::uint64_t offset,
                                         std::size_t bytes) {
  using exec::Order;
  using exec::Scope;
  constexpr int kLooks = 64;
  for (int look = 0; look < kLooks; ++look) {
    // Pairs with the release of the host's step to a new table (host/memory/known_allocations.cpp).
    const auto generation = exec::ld<Order::kAcquire, Scope::kSystem>(&all.generation);
    const bool is_found =
        is_within(allocation_before(all.tables[generation % 2], offset), offset, bytes);
    // Pairs with the release of each word that the host writes into a table that was in use before:
    // a thread that reads one of them also finds the later generation.
    exec::fence<Order::kAcquire, Scope::kSystem>();
    if (exec::ld<Order::kRelaxed, Scope::kSystem>(&all.generation) == generation) return is_found;
  }
  return true;
}

// REQUIRES: the job checks bounds.
CHIME_DEVICE_OUT_OF_LINE bool keeps_to_one_allocation(const Context& ctx, const void* p,
                                                      std::size_t bytes) {
  const std::uint64_t offset = heap_offset(ctx, p);
  return bytes == 0 || offset >= ctx.pe.heap_bytes ||
         lies_in_one_allocation(*ctx.pe.allocations, offset, bytes);
}

}  // namespace chime::detail

namespace chime {

// Whether the `bytes` at `p` lie in one allocation, or begin outside the heap, where no bounds are
// known. True in a job that does not check bounds.
CHIME_DEVICE bool is_in_bounds(const Context& ctx, const void* p, std::size_t bytes) {
  return ctx.pe.allocations == nullptr || detail::keeps_to_one_allocation(ctx, p, bytes);
}

}  // namespace chime

#endif  // CHIME_DEVICE_BOUNDS_CUH_
