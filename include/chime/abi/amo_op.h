// The effect of an atomic operation on its word.
#ifndef CHIME_ABI_AMO_OP_H_
#define CHIME_ABI_AMO_OP_H_

#include <cstdint>

#include "chime/cxx20.h"

namespace chime {

// A posted kSet, kAdd, kAnd, kOr or kXor has no result; a fetching operation always has one.
enum class AmoOp : std::uint8_t { kFetch, kSet, kAdd, kAnd, kOr, kXor, kCompareSwap };

}  // namespace chime

#endif  // CHIME_ABI_AMO_OP_H_
