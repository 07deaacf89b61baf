// A library that state_fill_test opens after chime_init.
#include "state_fill.cuh"

extern "C" __attribute__((visibility("default"))) int look_from_late_library(Seen* seen) {
  return chime::exec::launch({}, look, seen);
}
