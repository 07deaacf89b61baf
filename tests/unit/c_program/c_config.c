/* Settings that a C program makes itself take precedence over the environment. */
#define _POSIX_C_SOURCE 200809L /* unsetenv */
#include <chime/chime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(int condition, const char* what) {
  if (condition) return;
  fprintf(stderr, "failed: %s (%s)\n", what, chimex_last_error());
  exit(1);
}

static int init_with(size_t count, const chimex_setting_t* settings) {
  chimex_config_t config = CHIMEX_CONFIG_INITIALIZER;
  config.count = count;
  config.settings = settings;
  return chimex_init_config(CHIMEX_INIT_WITH_LAUNCHER, NULL, &config);
}

static void expect_refusal(const char* name, const char* value, const char* words) {
  chimex_setting_t setting = {name, value};
  check(init_with(1, &setting) == CHIMEX_ERR_INVALID, words);
  check(strstr(chimex_last_error(), words) != NULL, words);
  check(chimex_init_status() == CHIME_STATUS_NOT_INITIALIZED, "nothing has begun");
}

static void check_refusals(void) {
  expect_refusal("CHIME_SYMETRIC_SIZE", "4M", "did you mean CHIME_SYMMETRIC_SIZE?");
  expect_refusal("symmetric_size", "4M", "the setting 'symmetric_size' means nothing to Chime");
  expect_refusal("CHIME_SYMMETRIC_SIZE", "big", "'big' is not a number of bytes");
  expect_refusal("CHIME_RUN_PE", "0", "is read from the environment alone");
  expect_refusal("CHIME_SIMT_SEED", "3", "is read from the environment alone");
  expect_refusal("CHIME_LOG", NULL, "null name or value");
  chimex_setting_t twice[] = {{"CHIME_LOG", "off"}, {"CHIME_LOG", "warn"}};
  check(init_with(2, twice) == CHIMEX_ERR_INVALID, "one setting twice");
  check(init_with(1, NULL) == CHIMEX_ERR_INVALID, "settings at null");
  chimex_config_t config = CHIMEX_CONFIG_INITIALIZER;
  config.version = 77;
  check(chimex_init_config(CHIMEX_INIT_WITH_LAUNCHER, NULL, &config) == CHIMEX_ERR_INVALID,
        "another version");
}

/* The environment has 2M and exit. */
int main(void) {
  enum { kThreeMebibytes = 3 << 20 };
  check_refusals();
  chimex_setting_t settings[] = {{"CHIME_SYMMETRIC_SIZE", "8M"}, {"CHIME_ON_ERROR", "return"}};
  check(init_with(2, settings) == CHIMEX_OK, "init with settings");
  check(init_with(1, NULL) == CHIMEX_ERR_INVALID, "config is checked though the PE is there");
  char* memory = chime_malloc(kThreeMebibytes);
  check(memory != NULL, "what is explicit counts before the environment");
  chimex_clear_last_error();
  chime_putmem(memory, memory + 1, 1, 99);
  check(chimex_last_status() == CHIMEX_ERR_INVALID, "a failure returns");
  chime_finalize();

  settings[0] = settings[1]; /* the size is the environment's again */
  check(init_with(1, settings) == CHIMEX_OK, "init with one setting");
  check(chime_malloc(kThreeMebibytes) == NULL, "the environment counts before the default");
  check(chimex_last_status() == CHIMEX_ERR_OUT_OF_MEMORY, "its status");
  chime_finalize();

  unsetenv("CHIME_SYMMETRIC_SIZE");
  check(chimex_init_config(CHIMEX_INIT_WITH_LAUNCHER, NULL, NULL) == CHIMEX_OK, "no config");
  check(chime_malloc(kThreeMebibytes) != NULL, "the default");
  chime_finalize();
  return 0;
}
