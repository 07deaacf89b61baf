// Checks that operations of a stream or the host make before they start, and the addresses at which
// a peer's copy of symmetric memory is mapped for the driver's copies.
#pragma once

#include <cstddef>
#include <cstdint>

#include "host/pe/runtime.hpp"

namespace chime::host {

// Throws Error unless `pe` exists and some path leads there.
void check_reached(const Runtime& runtime, int pe);

// Whether the driver's copies reach the memory of `pe`, which is mapped; else requests do. It is
// decided here alone, for calls of the host and of streams. Throws as check_reached.
bool is_reached_by_copies(const Runtime& runtime, int pe);

// Throws Error unless `pe` exists and has the `bytes` at symmetric `address`, mapped here or not;
// for a word, also unless it is aligned. The calling PE has them at any address. With CHIME_CHECK=2
// all bytes lie in one allocation.
void check_place(const Runtime& runtime, const void* address, std::size_t bytes, int pe);
void check_word(const Runtime& runtime, const void* address, std::size_t bytes, int pe);

// Throws Error if what is moved from or to here is in the heap, and in no one allocation, with
// CHIME_CHECK=2.
void check_here(const Runtime& runtime, const void* here, std::size_t bytes);

// The address at which the `bytes` at symmetric `address` of `pe` are mapped here. Throws Error if
// these are not in the heap, and `pe` is another PE. REQUIRES: is_reached_by_copies(pe).
std::byte* mapped_at(const Runtime& runtime, const void* address, std::size_t bytes, int pe);

// Whether it is memory of this PE that is not symmetric, and that its device does not reach: the
// host itself updates words there.
bool is_of_the_host_alone(const Runtime& runtime, const void* address, int pe);

// Throws Error unless there is such a signal operation.
void check_signal_op(int op);

// Whether the driver may signal at `pe` by itself, after the checks that kernels make of a signal:
// the word is mapped, and only PEs that have mapped a word update it.
bool is_signalled_by_driver(const Runtime& runtime, int pe);

// The same word where it is mapped. REQUIRES: is_signalled_by_driver.
std::uint64_t* mapped_signal_at(const Runtime& runtime, const std::uint64_t* word, int pe);

}  // namespace chime::host
