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
#define CHIME_GROUP_FORMS(RESULT, PREFIX, STEM, PARAMETERS, TEMPLATE, ARGUMENTS, CALL)          \
  [[maybe_unused]] static CHIME_HOST_DEVICE RESULT PREFIX##STEM PARAMETERS {                    \
    CHIME_IF_DEVICE(return chime::TEMPLATE(chime::self(), chime::Thread() CHIME_AND ARGUMENTS), \
                           return static_cast<RESULT>(CALL));                                   \
  }                                                                                             \
  [[maybe_unused]] static CHIME_DEVICE RESULT chimex_##STEM##_warp PARAMETERS {                 \
    return chime::TEMPLATE(chime::self(), chime::Warp() CHIME_AND ARGUMENTS);                   \
  }                                                                                             \
  [[maybe_unused]] static CHIME_DEVICE RESULT chimex_##STEM##_block PARAMETERS {                \
    return chime::TEMPLATE(chime::self(), chime::Block() CHIME_AND ARGUMENTS);                  \
  }
CHIME_FOR_GROUP_OPERATIONS(CHIME_GROUP_FORMS)
#undef CHIME_GROUP_FORMS

// On a stream: on the host alone.
#define CHIME_STREAM_FORM(RESULT, PREFIX, STEM, PARAMETERS, TEMPLATE, ARGUMENTS, CALL) \
  [[maybe_unused]] static inline RESULT PREFIX##STEM PARAMETERS {                      \
    return static_cast<RESULT>(CALL);                                                  \
  }
CHIME_FOR_STREAM_OPERATIONS(CHIME_STREAM_FORM)
#undef CHIME_STREAM_FORM

#undef CHIME_AND

#endif  // CHIME_DEVICE_API_CUH_
