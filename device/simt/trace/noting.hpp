// How operations come on the timeline that were compiled for a GPU: the softgpu's. Nothing here is
// of include/chime, because code that translates kernels includes it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "chime/device/simt/exec/export.hpp"

namespace chime::simt {

// The PE that an operation is of.
struct TracingPe {
  std::int32_t pe;
  const void* heap;
  std::uint64_t heap_bytes;
};

// As abi::TracedWork.
struct NotedWork {
  std::uint32_t operation;
  int pe;
  const void* address;
  std::size_t bytes;
  std::uint64_t value;
  int how;
};

// Null: nothing records, or there is no room left.
CHIME_SIMT_EXPORT void* begin_noted(const TracingPe& me, const NotedWork& work);
CHIME_SIMT_EXPORT void end_traced(void* event);
CHIME_SIMT_EXPORT void note_seen(void* event, std::uint64_t value);

}  // namespace chime::simt
