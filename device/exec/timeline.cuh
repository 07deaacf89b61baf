// Where operations are noted on the timeline (CHIME_TRACE): one line where an operation
// begins and one where it has ended. On a GPU it is no instruction; on the CPU device one test of a
// word beside the one that says whether the job is checked.
#ifndef CHIME_DEVICE_EXEC_TIMELINE_CUH_
#define CHIME_DEVICE_EXEC_TIMELINE_CUH_

#include <cstdint>
#include <type_traits>

#include "chime/abi/context.h"
#include "chime/device/exec/exec.cuh"

namespace chime::detail {

// By all members of the group; its leader's operation is noted.
template <class Group>
CHIME_DEVICE exec::Traced trace(const Context& ctx, Group g, const abi::TracedWork& work) {
  return exec::Traced(ctx, ctx.pe.traced, g.is_leader(), work);
}

// An element's word as the timeline shows it; 16 bytes are not shown.
template <class W>
CHIME_DEVICE constexpr std::uint64_t shown(const W& word) {
  if constexpr (std::is_integral_v<W>) {
    return static_cast<std::uint64_t>(word);
  } else {
    return 0;
  }
}

}  // namespace chime::detail

#endif  // CHIME_DEVICE_EXEC_TIMELINE_CUH_
