// The families' host functions as symbols of libchime.so, for programs that load it without its
// headers: other languages, dlsym. C and C++ programs get the same bodies inline (families.h).
#define CHIME_HOST_ONLY
#define CHIME_FN extern "C" __attribute__((visibility("default")))
#include "chime/chime.h"
