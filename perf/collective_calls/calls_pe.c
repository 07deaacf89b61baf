// A PE that makes only collective host calls: chime_malloc and chime_free in turns. PE 0 prints how
// long a call took, in ms: mean of the first tenth, mean of the last.
#define CHIME_HOST_ONLY
#include <chime/chime.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

// The time of one call.
static double make_calls_ms(int calls) {
  const double begin = now_ms();
  for (int call = 0; call < calls; call += 2) chime_free(chime_malloc(64));
  return (now_ms() - begin) / calls;
}

int main(int argc, char** argv) {
  const int calls = argc > 1 ? atoi(argv[1]) : 1000;
  const int tenth = calls / 10 / 2 * 2;
  if (tenth == 0) return 2;
  chime_init();
  const double first = make_calls_ms(tenth);
  make_calls_ms(calls - 2 * tenth);
  const double last = make_calls_ms(tenth);
  if (chime_my_pe() == 0) printf("ms a call: %.4f %.4f\n", first, last);
  chime_finalize();
  return 0;
}
