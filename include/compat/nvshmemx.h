// NVSHMEM's extensions: all names are in nvshmem.h.
#ifndef CHIME_COMPAT_NVSHMEMX_H_
#define CHIME_COMPAT_NVSHMEMX_H_

#include "compat/nvshmem.h"

#endif  // CHIME_COMPAT_NVSHMEMX_H_
