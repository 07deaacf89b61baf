// The effect of an mlx5 atomic on a word. Pure.
#pragma once

#include "wqe.hpp"

namespace softnic {

// The new value of a word of `operands.bytes` whose value was `old`. PRM, "Atomic Operations":
// compare-swap and fetch-add on 8 bytes; their masked ("extended") forms on 4 or 8. A masked
// fetch-add adds fields separately: a set bit in the boundary mask stops the carry out of that bit.
std::uint64_t apply(Opcode opcode, const AtomicOperands& operands, std::uint64_t old);

}  // namespace softnic
