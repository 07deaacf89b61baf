// The names of the specifications: the forms of forms.cuh make functions of the rows of families.h.
#ifndef CHIME_DEVICE_API_CUH_
#define CHIME_DEVICE_API_CUH_

#include "chime/chime.h"
#include "chime/device/forms.cuh"
#include "chime/families.h"

// chime_<stem>, in kernels and on the host.
CHIME_FOR_THREAD_OPERATIONS(CHIME_THREAD_FORM)
CHIME_FOR_GROUP_TRANSFERS(CHIME_SINGLE_FORM)
CHIME_FOR_UNTYPED_GROUP_MEETINGS(CHIME_SINGLE_FORM)
CHIME_FOR_TYPED_COLLECTIVES(CHIME_LAZY_SINGLE_FORM)

// chimex_<stem>_warp and chimex_<stem>_block, in kernels alone.
#define CHIME_GROUP_TRANSFER(RESULT, PREFIX, ...) CHIME_TRANSFER_FORMS(RESULT, chimex_, __VA_ARGS__)
#define CHIME_GROUP_MEETING(RESULT, PREFIX, ...) CHIME_MEETING_FORMS(RESULT, chimex_, __VA_ARGS__)
#define CHIME_COLLECTIVE(RESULT, PREFIX, ...) CHIME_LAZY_MEETING_FORMS(RESULT, chimex_, __VA_ARGS__)
CHIME_FOR_GROUP_TRANSFERS(CHIME_GROUP_TRANSFER)
CHIME_FOR_UNTYPED_GROUP_MEETINGS(CHIME_GROUP_MEETING)
CHIME_FOR_TYPED_COLLECTIVES(CHIME_COLLECTIVE)
#undef CHIME_GROUP_TRANSFER
#undef CHIME_GROUP_MEETING
#undef CHIME_COLLECTIVE

// chimex_<stem>_on_stream, on the host alone.
CHIME_FOR_STREAM_OPERATIONS(CHIME_STREAM_FORM)

#endif  // CHIME_DEVICE_API_CUH_
