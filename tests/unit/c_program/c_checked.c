/* What CHIME_CHECK=1 refuses of a C program's calls. Run with CHIME_ON_ERROR=return. */
#include <chime/chime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void expect_error(const char* call, const char* words) {
  if (strstr(chimex_last_error(), words)) return;
  fprintf(stderr, "%s: '%s' does not say '%s'\n", call, chimex_last_error(), words);
  exit(1);
}

int main(void) {
  chime_init();
  uint64_t* words = chime_calloc(2, sizeof *words);
  static uint64_t outside;
  chime_uint64_put(words, &outside, ((size_t)1 << 61) + 1, 0); /* 8 bytes, modulo 2^64 */
  expect_error("put", "more bytes than size_t counts");
  chime_getmem(&outside, words, 0, chimex_host_n_pes());
  expect_error("getmem", "there is no PE 1");
  chime_uint64_put_signal(words + 1, &outside, 1, words, 7, 42, 0);
  expect_error("put_signal", "there is no signal operation 42");
  chime_uint64_wait_until(&outside, CHIME_CMP_EQ, 0);
  expect_error("wait_until", "is not a symmetric address");
  chime_uint64_test(words, 17, 0);
  expect_error("test", "there is no comparison 17");
  chime_free(words);
  chime_finalize();
  return 0;
}
