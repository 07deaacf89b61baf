// A put or get as a kernel of the library takes it, and addresses in bytes.
#pragma once

#include <cstddef>

#include "host/gpu/library_kernel.hpp"

namespace chime::host {

inline const std::byte* bytes_at(const void* p) { return static_cast<const std::byte*>(p); }
inline std::byte* bytes_at(void* p) { return static_cast<std::byte*>(p); }

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
