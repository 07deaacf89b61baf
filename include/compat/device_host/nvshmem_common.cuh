// Programs include a part of NVSHMEM by this name; nvshmem.h has every part.
#include "compat/nvshmem.h"  // IWYU pragma: export
