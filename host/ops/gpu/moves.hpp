// A put or get as a kernel of the library takes it, and addresses and spans in bytes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "host/gpu/library_kernel.hpp"

namespace chime::host {

inline const std::byte* bytes_at(const void* p) { return static_cast<const std::byte*>(p); }
inline std::byte* bytes_at(void* p) { return static_cast<std::byte*>(p); }

// From the first byte of `count` elements to the end of the last; SIZE_MAX, which no heap has, for
// a stride that goes nowhere and for more than size_t counts.
inline std::size_t span_of(std::ptrdiff_t stride, std::size_t count, std::size_t element) {
  if (stride < 1) return count == 1 ? element : SIZE_MAX;
  std::size_t steps = 0, bytes = 0;
  if (__builtin_mul_overflow(count - 1, static_cast<std::size_t>(stride), &steps) ||
      __builtin_mul_overflow(steps, element, &bytes) ||
      __builtin_add_overflow(bytes, element, &bytes))
    return SIZE_MAX;
  return bytes;
}

inline MoveCall move_of(Operation operation, void* dst, const void* src, std::size_t bytes, int pe,
                        Ends ends = Ends::kAsItSays) {
  return {.operation = operation,
          .pe = pe,
          .dst = dst,
          .src = src,
          .bytes = bytes,
          .ends = ends,
          .signal_op = 0,
          .signal = nullptr,
          .value = 0,
          .room_is_left = nullptr};
}

}  // namespace chime::host
