// The checks of the programs in this folder, and their exit status: 0 passed, 1 failed, 77 skipped.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace chime::tests {

inline int failures = 0;

#define CHIME_CHECK(condition)                                            \
  do {                                                                    \
    if (!(condition)) {                                                   \
      std::printf("%s:%d: failed: %s\n", __FILE__, __LINE__, #condition); \
      std::fflush(stdout); /* the fault may still end the process */      \
      ++chime::tests::failures;                                           \
    }                                                                     \
  } while (false)

// For calls without which the rest makes no sense.
#define CHIME_NEED(condition)                                                   \
  do {                                                                          \
    if (!(condition)) {                                                         \
      std::printf("%s:%d: cannot go on: %s\n", __FILE__, __LINE__, #condition); \
      std::exit(1);                                                             \
    }                                                                           \
  } while (false)

[[noreturn]] inline void skip(const char* why) {
  std::printf("skipped: no CUDA device: %s\n", why);
  std::exit(77);
}

inline int verdict() {
  std::puts(failures == 0 ? "passed" : "FAILED");
  return failures == 0 ? 0 : 1;
}

}  // namespace chime::tests
