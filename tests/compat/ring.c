// A C program in NVSHMEM's words, of host calls alone.
#include <nvshmem.h>
#include <nvshmemx.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void require(int good, const char* what) {
  if (good) return;
  fprintf(stderr, "failed: %s: %s\n", what, chimex_last_error());
  exit(1);
}

int main(void) {
  nvshmemx_init_attr_t attr = NVSHMEMX_INIT_ATTR_INITIALIZER;
  require(nvshmemx_init_attr(NVSHMEMX_INIT_WITH_SHMEM, &attr) == NVSHMEMX_ERROR_NOT_SUPPORTED,
          "OpenSHMEM is refused");
  require(strstr(chimex_last_error(), "NVSHMEMX_INIT_WITH_UNIQUEID") != NULL, "what to use");
  require(nvshmemx_init_attr(0, NULL) == NVSHMEMX_SUCCESS, "init");

  int major = 0, minor = 0, patch = 0;
  nvshmemx_vendor_get_version_info(&major, &minor, &patch);
  require(10000 * major + 100 * minor + patch == NVSHMEM_VENDOR_VERSION, "version");
  char name[NVSHMEM_MAX_NAME_LEN];
  nvshmem_info_get_name(name);
  require(strncmp(name, "Chime", 5) == 0, "name");

  const int me = nvshmem_my_pe(), n_pes = nvshmem_n_pes();
  const int left = (me + n_pes - 1) % n_pes, right = (me + 1) % n_pes;
  long* const value = nvshmem_calloc(2, sizeof(long));
  uint64_t* const signal = nvshmem_calloc(1, sizeof(uint64_t));
  const long sent[] = {100 + me, 200 + me};
  nvshmem_long_put_signal(value, sent, 2, signal, 1, NVSHMEM_SIGNAL_ADD, right);
  require(nvshmem_signal_wait_until(signal, NVSHMEM_CMP_GE, 1) == 1, "signal");
  require(value[0] == 100 + left && value[1] == 200 + left, "what the left sent");
  require(nvshmem_team_translate_pe(NVSHMEMX_TEAM_NODE, me, NVSHMEM_TEAM_WORLD) == me, "translate");
  require(nvshmem_team_translate_pe(NVSHMEM_TEAM_WORLD, n_pes, NVSHMEMX_TEAM_NODE) == -1, "nobody");
  require(nvshmem_barrier(NVSHMEM_TEAM_WORLD) == NVSHMEMX_SUCCESS, "barrier");
  nvshmem_free(signal);
  nvshmem_free(value);
  nvshmem_finalize();
  return 0;
}
