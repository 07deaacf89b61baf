// Work that a peer asks this PE's processor to do with its heap: a word to update, a few bytes to
// put.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "chime/error.h"
#include "host/transport/ofi/requests/message.hpp"

namespace chime::host::ofi {

struct Served {
  chimex_status status = CHIMEX_OK;
  std::uint64_t before = 0;  // an atomic's: the word before
};

// Carries out `ask`, which fits the heap of `heap_bytes`, by the owner of its words. An ask that
// cannot be carried out changes nothing.
Served carry_out(WordOwner& owner, std::uint64_t heap_bytes, const Message& ask,
                 std::span<const std::byte> body);

}  // namespace chime::host::ofi
