// The specifications' names: the rows of families.h, stamped into functions. Each form of a name is
// one macro here; a further form is one macro more.
#ifndef CHIME_DEVICE_API_CUH_
#define CHIME_DEVICE_API_CUH_

#include "chime/abi/context.h"
#include "chime/chime.h"
#include "chime/device/amo.cuh"
#include "chime/device/coll/barrier.cuh"
#include "chime/device/exec.cuh"
#include "chime/device/group.cuh"
#include "chime/device/peer_status.cuh"
#include "chime/device/rma.cuh"
#include "chime/device/signal.cuh"
#include "chime/device/state.cuh"
#include "chime/device/sync.cuh"
#include "chime/families.h"
#include "chime/host_ops.h"
#include "chime/on_host.hpp"

// A row's arguments behind others.
#define CHIME_AND(...) __VA_OPT__(, ) __VA_ARGS__

// All have internal linkage: under nvcc they read their translation unit's own copy of the state.

// What a thread does alone: chime_<stem>, in kernels and on the host.
#define CHIME_THREAD_FORM(RESULT, PREFIX, STEM, PARAMETERS, TEMPLATE, ARGUMENTS, CALL) \
  [[maybe_unused]] static CHIME_HOST_DEVICE RESULT PREFIX##STEM PARAMETERS {           \
    CHIME_IF_DEVICE(return chime::TEMPLATE(chime::self() CHIME_AND ARGUMENTS),         \
                           return static_cast<RESULT>(CALL));                          \
  }
CHIME_FOR_THREAD_OPERATIONS(CHIME_THREAD_FORM)
#undef CHIME_THREAD_FORM

// What groups do: chime_<stem> by a thread, in kernels and on the host; in kernels alone
// chimex_<stem>_warp and chimex_<stem>_block.
#define CHIME_SINGLE_FORM(RESULT, PREFIX, STEM, PARAMETERS, TEMPLATE, ARGUMENTS, CALL)          \
  [[maybe_unused]] static CHIME_HOST_DEVICE RESULT PREFIX##STEM PARAMETERS {                    \
    CHIME_IF_DEVICE(return chime::TEMPLATE(chime::self(), chime::Thread() CHIME_AND ARGUMENTS), \
                           return static_cast<RESULT>(CALL));                                   \
  }
CHIME_FOR_GROUP_OPERATIONS(CHIME_SINGLE_FORM)
#undef CHIME_SINGLE_FORM

// Transfers: here the members meet at entry and at exit, for all operations.
#define CHIME_TRANSFER_FORM(SUFFIX, GROUP, STEM, PARAMETERS, TEMPLATE, ARGUMENTS)    \
  [[maybe_unused]] static CHIME_DEVICE void chimex_##STEM##SUFFIX PARAMETERS {       \
    const chime::Together<chime::GROUP> all;                                         \
    if (all.acts()) chime::TEMPLATE(chime::self(), all.group() CHIME_AND ARGUMENTS); \
  }
#define CHIME_TRANSFER_FORMS(RESULT, PREFIX, STEM, PARAMETERS, TEMPLATE, ARGUMENTS, CALL) \
  CHIME_TRANSFER_FORM(_warp, Warp, STEM, PARAMETERS, TEMPLATE, ARGUMENTS)                 \
  CHIME_TRANSFER_FORM(_block, Block, STEM, PARAMETERS, TEMPLATE, ARGUMENTS)
CHIME_FOR_GROUP_TRANSFERS(CHIME_TRANSFER_FORMS)
#undef CHIME_TRANSFER_FORMS
#undef CHIME_TRANSFER_FORM

// Barriers and waits meet by themselves: a barrier at both ends; a wait, which reads nothing of its
// members', where it has its event.
#define CHIME_MEETING_FORM(SUFFIX, GROUP, RESULT, STEM, PARAMETERS, TEMPLATE, ARGUMENTS) \
  [[maybe_unused]] static CHIME_DEVICE RESULT chimex_##STEM##SUFFIX PARAMETERS {         \
    return chime::TEMPLATE(chime::self(), chime::GROUP() CHIME_AND ARGUMENTS);           \
  }
#define CHIME_MEETING_FORMS(RESULT, PREFIX, STEM, PARAMETERS, TEMPLATE, ARGUMENTS, CALL) \
  CHIME_MEETING_FORM(_warp, Warp, RESULT, STEM, PARAMETERS, TEMPLATE, ARGUMENTS)         \
  CHIME_MEETING_FORM(_block, Block, RESULT, STEM, PARAMETERS, TEMPLATE, ARGUMENTS)
CHIME_FOR_GROUP_MEETINGS(CHIME_MEETING_FORMS)
#undef CHIME_MEETING_FORMS
#undef CHIME_MEETING_FORM

// On a stream: on the host alone.
#define CHIME_STREAM_FORM(RESULT, PREFIX, STEM, PARAMETERS, TEMPLATE, ARGUMENTS, CALL) \
  [[maybe_unused]] static inline RESULT PREFIX##STEM PARAMETERS {                      \
    return static_cast<RESULT>(CALL);                                                  \
  }
CHIME_FOR_STREAM_OPERATIONS(CHIME_STREAM_FORM)
#undef CHIME_STREAM_FORM

#undef CHIME_AND

#endif  // CHIME_DEVICE_API_CUH_
