// Moves of data in the form that a kernel of the library takes, and addresses and spans in bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "host/errors/error.hpp"
#include "host/gpu/library_kernel.hpp"
#include "host/ops/gpu/gpu_ops.hpp"
#include "host/ops/typed.cuh"

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

inline void check_element(std::size_t bytes) {
  if (!element_exists(bytes))
    throw Error("", CHIMEX_ERR_INVALID, "elements have 1, 2, 4, 8 or 16 bytes");
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

inline StridedCall strided_of(Operation operation, void* dst, const void* src,
                              const gpu_ops::Strides& strides, int pe) {
  return {.operation = operation,
          .pe = pe,
          .dst = dst,
          .src = src,
          .dst_stride = strides.dst,
          .src_stride = strides.src,
          .count = strides.count,
          .element_bytes = static_cast<std::uint32_t>(strides.element_bytes)};
}

// `value`: of 1, 2, 4, 8 or 16 bytes.
inline ElementCall put_element_of(void* dst, const void* value, std::size_t bytes, int pe) {
  ElementCall element = {.operation = Operation::kP,
                         .pe = pe,
                         .symmetric = dst,
                         .bytes = static_cast<std::uint32_t>(bytes),
                         .value = {},
                         .result = nullptr};
  std::memcpy(element.value, value, bytes);
  return element;
}

}  // namespace chime::host
