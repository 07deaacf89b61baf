// Where operations are noted on the timeline (CHIME_TRACE). On a GPU that is no instruction;
// with CHIME_TRACE_DEVICE (chime-cc --trace) kernels call functions by which the softgpu notes
// operations. On the CPU device short operations are compiled twice: the test that says whether the
// job is checked also leads to the copy that notes.
#ifndef CHIME_DEVICE_EXEC_TIMELINE_CUH_
#define CHIME_DEVICE_EXEC_TIMELINE_CUH_

#include <cstdint>
#include <type_traits>

#include "chime/abi/context.h"
#include "chime/device/exec/exec.cuh"

namespace chime::detail {

// Notes an operation until end() of what it returns. For those that take long: on the CPU device it
// costs two tests. By all members of the group; its leader's operation is noted.
template <class Group>
CHIME_DEVICE exec::Traced trace(const Context& ctx, Group g, const abi::TracedWork& work) {
  return exec::Traced(ctx, ctx.pe, g.is_leader(), work);
}

// The copies of a short operation. (One function for both would not be inlined.)
struct Quick;
struct Noting;

// A short operation is there twice: do_it() where a job does nothing besides, and else
//   if (may_note(ctx)) return note(ctx, g, work, [](const Context& ctx, Group g, ...) {
//       return do_it(ctx, g, ...); }, ...);
// Its arguments are numbers and pointers: a struct would be in memory before the test.
CHIME_DEVICE bool may_note(const Context& ctx) { return exec::may_note(ctx.pe); }
template <class Group, class Act, class... Arguments>
CHIME_DEVICE auto note(const Context& ctx, Group g, const abi::TracedWork& work, Act act,
                       Arguments... arguments) {
  return exec::note(ctx, ctx.pe, g, work, act, arguments...);
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
