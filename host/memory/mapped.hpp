// Where a peer's copy of symmetric memory is mapped for the driver's copies: operations that a
// stream or the host makes, checked before they start.
#pragma once

#include <cstddef>
#include <cstdint>

#include "host/pe/runtime.hpp"

namespace chime::host {

// Throws Error unless `pe` exists and its heap is mapped here.
void check_pe(const Runtime& runtime, int pe);

// Throws Error unless `pe` exists and has the `bytes` at symmetric `address`, mapped here or not;
// of a word, also unless it is aligned.
void check_place(const Runtime& runtime, const void* address, std::size_t bytes, int pe);
void check_word(const Runtime& runtime, const void* address, std::size_t bytes, int pe);

// Where the `bytes` at symmetric `address` of `pe` are mapped here. Throws Error if they are not.
std::byte* mapped_at(const Runtime& runtime, const void* address, std::size_t bytes, int pe);

// The same for a word of `bytes` (a power of two), which must be aligned.
std::byte* mapped_word_at(const Runtime& runtime, const void* address, std::size_t bytes, int pe);

// Throws Error unless there is such a signal operation.
void check_signal_op(int op);

// The word that a stream or the driver signals at `pe`. Throws Error also if there is no such
// operation, or if the owners' NICs make the job's additions: another's would lose some of them.
std::uint64_t* mapped_signal_at(const Runtime& runtime, const std::uint64_t* word, int op, int pe);

}  // namespace chime::host
