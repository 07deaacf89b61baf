// Where the objects of the symmetric heap begin and end, as device code looks it up in a job that
// checks bounds (CHIME_CHECK=2). README.md beside this file says how the table changes.
#ifndef CHIME_ABI_ALLOCATIONS_H_
#define CHIME_ABI_ALLOCATIONS_H_

#include <cstddef>
#include <cstdint>

#include "chime/cxx20.h"

namespace chime::abi {

// One object of the program. chime_malloc is symmetric, so it lies there in every PE's heap.
// Owner: the host.
struct Allocation {
  std::uint64_t begin, end;  // offsets in the heap; [begin, end) are the bytes that were asked for
};
static_assert(sizeof(Allocation) == 16);

// Sorted by `begin`, apart from each other. Chime's own memory is not among them. Owner: the host.
struct AllocationTable {
  std::uint64_t count;
  Allocation* rows;
};

// `tables[generation % 2]` is the one in use. The host fills the other one and then makes it the
// one in use by adding 1 to `generation` (release; pairs with the acquire in device/bounds.cuh). So
// a table changes only after another has been in use since: what a reader found is true if
// `generation` is still what it was before.
struct Allocations {
  std::uint64_t generation;
  std::uint64_t reserved;
  AllocationTable tables[2];
};
static_assert(sizeof(Allocations) == 48 && offsetof(Allocations, tables) == 16);

}  // namespace chime::abi

#endif  // CHIME_ABI_ALLOCATIONS_H_
