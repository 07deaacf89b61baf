#include "atomics.hpp"

namespace softnic {
namespace {

std::uint64_t add_fields(std::uint64_t a, std::uint64_t b, std::uint64_t boundaries,
                         unsigned bits) {
  std::uint64_t sum = 0;
  std::uint64_t carry = 0;
  for (unsigned bit = 0; bit < bits; ++bit) {
    const std::uint64_t column = (a >> bit & 1) + (b >> bit & 1) + carry;
    sum |= (column & 1) << bit;
    carry = boundaries >> bit & 1 ? 0 : column >> 1;
  }
  return sum;
}

}  // namespace

std::uint64_t apply(Opcode opcode, const AtomicOperands& o, std::uint64_t old) {
  switch (opcode) {
    case Opcode::kCompareSwap:
    case Opcode::kMaskedCompareSwap:
      if ((old & o.compare_mask) != (o.compare & o.compare_mask)) return old;
      return (old & ~o.swap_mask) | (o.swap_or_add & o.swap_mask);
    case Opcode::kFetchAdd:
      return old + o.swap_or_add;
    default:
      return add_fields(old, o.swap_or_add, o.compare, o.bytes * 8u);
  }
}

}  // namespace softnic
