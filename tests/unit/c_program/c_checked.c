/* The refusals of CHIME_CHECK=1 for a C program's calls. Run with CHIME_ON_ERROR=return. */
#include <chime/chime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void expect_error(const char* call, const char* words) {
  if (strstr(chimex_last_error(), words) && chimex_last_status() == CHIMEX_ERR_INVALID) {
    chimex_clear_last_error();
    return;
  }
  fprintf(stderr, "%s: '%s' (status %d) does not say '%s'\n", call, chimex_last_error(),
          chimex_last_status(), words);
  exit(1);
}

static void expect_no_error(const char* call) {
  if (chimex_last_status() == CHIMEX_OK && *chimex_last_error() == 0) return;
  fprintf(stderr, "%s: '%s' (status %d)\n", call, chimex_last_error(), chimex_last_status());
  exit(1);
}

int main(void) {
  expect_no_error("nothing yet");
  chime_malloc(8);
  if (chimex_last_status() != CHIMEX_ERR_NOT_INITIALIZED) return 1;
  chimex_clear_last_error();
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
  chime_uint64_put(words, words + 1, 1, 0);
  expect_no_error("a good put");
  chime_getmem(&outside, words, 8, 7);
  chime_uint64_put(words, words + 1, 1, 0); /* keeps the earlier failure */
  expect_error("getmem", "there is no PE 7");
  if (chimex_uint64_wait_until_timeout(words, CHIME_CMP_EQ, 1, 1000) != CHIMEX_ERR_TIMEOUT)
    return 1;
  expect_no_error("a timeout that was asked for");
  chime_free(words);
  chime_finalize();
  return 0;
}
