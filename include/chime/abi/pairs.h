// Resources that requests to all peers share lie in pairs, and requests to a peer use one of each
// pair. So a peer that does not answer keeps at most half of them, and any other peer has a quarter
// apart from those. This needs no counter. The answers of a FIFO and the staging slots are shared
// so.
#ifndef CHIME_ABI_PAIRS_H_
#define CHIME_ABI_PAIRS_H_

#include <cstdint>

#include "chime/abi/function.h"

namespace chime::abi {

// Which one of `pair` requests to `pe` may take: 2 * pair or the next one.
CHIME_ABI_FN std::uint32_t one_of_pair(std::uint32_t pair, std::int32_t pe) {
  std::uint32_t mixed = (pair + 1) * 0x9e3779b9u ^ static_cast<std::uint32_t>(pe) * 0x85ebca6bu;
  mixed = (mixed ^ mixed >> 16) * 0x7feb352du;
  mixed = (mixed ^ mixed >> 15) * 0x846ca68bu;
  return 2 * pair + (mixed >> 31);
}

}  // namespace chime::abi

#endif  // CHIME_ABI_PAIRS_H_
