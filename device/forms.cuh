// The forms of a name: macros that make a function of a row of families.h, one macro for each form.
// api.cuh makes the names of the specifications with them, include/compat/nvshmem.h those of
// NVSHMEM.
//
// All functions have internal linkage: under nvcc they read their translation unit's own copy of
// the state.
#ifndef CHIME_DEVICE_FORMS_CUH_
#define CHIME_DEVICE_FORMS_CUH_

#include "chime/abi/context.h"
#include "chime/device/amo.cuh"
#include "chime/device/coll/barrier.cuh"
#include "chime/device/coll/move.cuh"
#include "chime/device/coll/reduce.cuh"
#include "chime/device/coll/scan.cuh"
#include "chime/device/coll/strided.cuh"
#include "chime/device/coll/team.cuh"
#include "chime/device/coll/timed.cuh"
#include "chime/device/coll/uneven.cuh"
#include "chime/device/exec/exec.cuh"
#include "chime/device/group.cuh"
#include "chime/device/peer_status.cuh"
#include "chime/device/rma.cuh"
#include "chime/device/signal.cuh"
#include "chime/device/state.cuh"
#include "chime/device/sync.cuh"
#include "chime/families.h"
#include "chime/host_ops.h"
#ifndef __CUDACC_RTC__
#include "chime/on_host.hpp"

template <>
inline constexpr bool chime::on_host::kIsBfloat16<chime_bfloat16_t> = true;
#endif

// A row's arguments behind others.
#define CHIME_AND(...) __VA_OPT__(, ) __VA_ARGS__

// Operations of one thread, in kernels and on the host.
#define CHIME_THREAD_FORM(RESULT, PREFIX, STEM, PARAMETERS, TEMPLATE, ARGUMENTS, CALL) \
  [[maybe_unused]] static CHIME_HOST_DEVICE RESULT PREFIX##STEM PARAMETERS {           \
    CHIME_IF_DEVICE(return chime::TEMPLATE(chime::self() CHIME_AND ARGUMENTS),         \
                           return static_cast<RESULT>(CALL));                          \
  }

// Operations of a group, called by one thread, in kernels and on the host.
#define CHIME_SINGLE_FORM(RESULT, PREFIX, STEM, PARAMETERS, TEMPLATE, ARGUMENTS, CALL)          \
  [[maybe_unused]] static CHIME_HOST_DEVICE RESULT PREFIX##STEM PARAMETERS {                    \
    CHIME_IF_DEVICE(return chime::TEMPLATE(chime::self(), chime::Thread() CHIME_AND ARGUMENTS), \
                           return static_cast<RESULT>(CALL));                                   \
  }

// Transfers by a group, in kernels alone: the members meet here at entry and at exit, for all
// operations. Out of line, because a kernel with several inlined calls would keep registers for
// each of them, and a thread of a block of 1024 has 64. The call costs little beside the meetings.
#define CHIME_TRANSFER_FORM(PREFIX, SUFFIX, GROUP, STEM, PARAMETERS, TEMPLATE, ARGUMENTS) \
  [[maybe_unused]] static CHIME_DEVICE_OUT_OF_LINE void PREFIX##STEM##SUFFIX PARAMETERS { \
    const chime::Together<chime::GROUP> all;                                              \
    if (all.acts()) chime::TEMPLATE(chime::self(), all.group() CHIME_AND ARGUMENTS);      \
  }
#define CHIME_TRANSFER_FORMS(RESULT, PREFIX, STEM, PARAMETERS, TEMPLATE, ARGUMENTS, CALL) \
  CHIME_TRANSFER_FORM(PREFIX, _warp, Warp, STEM, PARAMETERS, TEMPLATE, ARGUMENTS)         \
  CHIME_TRANSFER_FORM(PREFIX, _block, Block, STEM, PARAMETERS, TEMPLATE, ARGUMENTS)

// Barriers and waits meet by themselves: a barrier at both ends, a wait at its event, because it
// reads nothing that its members wrote.
#define CHIME_MEETING_FORM(PREFIX, SUFFIX, GROUP, RESULT, STEM, PARAMETERS, TEMPLATE, ARGUMENTS) \
  [[maybe_unused]] static CHIME_DEVICE RESULT PREFIX##STEM##SUFFIX PARAMETERS {                  \
    return chime::TEMPLATE(chime::self(), chime::GROUP() CHIME_AND ARGUMENTS);                   \
  }
#define CHIME_MEETING_FORMS(RESULT, PREFIX, STEM, PARAMETERS, TEMPLATE, ARGUMENTS, CALL) \
  CHIME_MEETING_FORM(PREFIX, _warp, Warp, RESULT, STEM, PARAMETERS, TEMPLATE, ARGUMENTS) \
  CHIME_MEETING_FORM(PREFIX, _block, Block, RESULT, STEM, PARAMETERS, TEMPLATE, ARGUMENTS)

// The same, compiled in the kernels that call them alone: templates of no argument. There are many,
// and each would compile its whole operation.
#define CHIME_LAZY_SINGLE_FORM(...) \
  template <class = void>           \
  CHIME_SINGLE_FORM(__VA_ARGS__)
#define CHIME_LAZY_MEETING_FORMS(RESULT, PREFIX, STEM, PARAMETERS, TEMPLATE, ARGUMENTS, CALL) \
  template <class = void>                                                                     \
  CHIME_MEETING_FORM(PREFIX, _warp, Warp, RESULT, STEM, PARAMETERS, TEMPLATE, ARGUMENTS)      \
  template <class = void>                                                                     \
  CHIME_MEETING_FORM(PREFIX, _block, Block, RESULT, STEM, PARAMETERS, TEMPLATE, ARGUMENTS)

// On the host alone. NVRTC has no host code.
#ifdef __CUDACC_RTC__
#define CHIME_HOST_FORM(...)
#else
#define CHIME_HOST_FORM(RESULT, PREFIX, STEM, PARAMETERS, TEMPLATE, ARGUMENTS, CALL) \
  [[maybe_unused]] static inline RESULT PREFIX##STEM PARAMETERS {                    \
    return static_cast<RESULT>(CALL);                                                \
  }
#endif

#endif  // CHIME_DEVICE_FORMS_CUH_
