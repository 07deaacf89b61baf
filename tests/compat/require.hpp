// The checks of a test program, also on Chime's last message: a failed check ends it with 1.
#pragma once

#include <nvshmem.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

inline void require(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "failed: %s: '%s'\n", what, chimex_last_error());
  std::exit(1);
}

inline void require_words(const char* words) {
  require(std::strstr(chimex_last_error(), words) != nullptr, words);
  chimex_clear_last_error();
}
