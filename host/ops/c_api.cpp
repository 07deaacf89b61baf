// The families' host functions as symbols of libchime.so: for C, for C++ without the device side,
// and for programs that load it without its headers (other languages, dlsym). C++ programs with the
// device side get the same calls inline (device/api.cuh). NVSHMEM's names are further names of the
// same symbols, with a type or without; names that are no rows are in host/setup/nvshmem_api.cpp.
#define CHIME_HOST_ONLY
#include "chime/chime.h"
#include "chime/complex.h"
#include "chime/families.h"
#include "chime/host_ops.h"
#include "chime/on_host.hpp"
#include "compat/spelling.h"

#define CHIME_SYMBOL(RESULT, PREFIX, STEM, PARAMETERS, TEMPLATE, ARGUMENTS, CALL) \
  RESULT PREFIX##STEM PARAMETERS { return static_cast<RESULT>(CALL); }
CHIME_FOR_THREAD_OPERATIONS(CHIME_SYMBOL)
CHIME_FOR_GROUP_OPERATIONS(CHIME_SYMBOL)
CHIME_FOR_STREAM_OPERATIONS(CHIME_SYMBOL)
CHIME_FOR_LONG_DOUBLE_COLLECTIVES(CHIME_SYMBOL)
CHIME_FOR_COMPLEX_COLLECTIVES(CHIME_SYMBOL)
#undef CHIME_SYMBOL

#define CHIME_ALIAS(RESULT, PREFIX, STEM, PARAMETERS, ALIASED) \
  extern "C" CHIME_EXPORT RESULT PREFIX##STEM PARAMETERS __attribute__((alias(ALIASED)));
#define CHIME_NVSHMEM_SYMBOL(RESULT, PREFIX, STEM, PARAMETERS, TEMPLATE, ARGUMENTS, CALL) \
  CHIME_STAMP(CHIME_ALIAS, RESULT, CHIME_NVSHMEM_##PREFIX, STEM, PARAMETERS, #PREFIX #STEM)
CHIME_FOR_NVSHMEM_THREAD_OPERATIONS(CHIME_NVSHMEM_SYMBOL)
CHIME_FOR_NVSHMEM_GROUP_OPERATIONS(CHIME_NVSHMEM_SYMBOL)
CHIME_FOR_NVSHMEM_STREAM_OPERATIONS(CHIME_NVSHMEM_SYMBOL)
#undef CHIME_NVSHMEM_SYMBOL
#undef CHIME_ALIAS
