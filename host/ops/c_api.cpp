// The families' host functions as symbols of libchime.so: for C, for C++ without the device side,
// and for programs that load it without its headers (other languages, dlsym). C++ programs with the
// device side get the same calls inline (device/api.cuh).
#define CHIME_HOST_ONLY
#include "chime/chime.h"
#include "chime/families.h"
#include "chime/host_ops.h"
#include "chime/on_host.hpp"

#define CHIME_SYMBOL(RESULT, PREFIX, STEM, PARAMETERS, TEMPLATE, ARGUMENTS, CALL) \
  RESULT PREFIX##STEM PARAMETERS { return static_cast<RESULT>(CALL); }
CHIME_FOR_THREAD_OPERATIONS(CHIME_SYMBOL)
CHIME_FOR_GROUP_OPERATIONS(CHIME_SYMBOL)
CHIME_FOR_STREAM_OPERATIONS(CHIME_SYMBOL)
#undef CHIME_SYMBOL
