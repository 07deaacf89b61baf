// What an atomic operation does to its word.
#ifndef CHIME_ABI_AMO_OP_H_
#define CHIME_ABI_AMO_OP_H_

#include <cstdint>

#include "chime/cxx20.h"

namespace chime {

// kSet and kAdd to kXor have no result when they are posted; every one has when it fetches.
enum class AmoOp : std::uint8_t { kFetch, kSet, kAdd, kAnd, kOr, kXor, kCompareSwap };

}  // namespace chime

#endif  // CHIME_ABI_AMO_OP_H_
