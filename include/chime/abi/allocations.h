// Where the objects of the symmetric heap begin and end, for device code of a job that checks
// bounds (CHIME_CHECK=2). README.md in this folder says how the table changes.
#ifndef CHIME_ABI_ALLOCATIONS_H_
#define CHIME_ABI_ALLOCATIONS_H_

#include <cstddef>
#include <cstdint>

#include "chime/cxx20.h"

namespace chime::abi {

// One object of the program. chime_malloc is symmetric, so it has the same offset in every PE's
// heap. Owner: the host.
struct Allocation {
  std::uint64_t begin, end;  // offsets in the heap; [begin, end) are the requested bytes
};
static_assert(sizeof(Allocation) == 16);

// Sorted by `begin`, without overlap. Chime's own memory is not in it. Owner: the host.
struct AllocationTable {
  std::uint64_t count;
  Allocation* rows;
};

// `tables[generation % 2]` is in use. The host fills the other table, and then puts it to use by
// adding 1 to `generation` (release; pairs with the acquire in device/bounds.cuh). So a table
// changes only after another one has been in use in between: what a reader found is valid if
// `generation` has not changed.
struct Allocations {
  std::uint64_t generation;
  std::uint64_t reserved;
  AllocationTable tables[2];
};
static_assert(sizeof(Allocations) == 48 && offsetof(Allocations, tables) == 16);

}  // namespace chime::abi

#endif  // CHIME_ABI_ALLOCATIONS_H_
