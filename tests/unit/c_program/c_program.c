/* chime.h is a C header: this program is C11 and uses the host API as C users do. */
#include <chime/chime.h>
#include <stdio.h>
#include <stdlib.h>

static void check(int condition, const char* what) {
  if (condition) return;
  fprintf(stderr, "failed: %s\n", what);
  exit(1);
}

int main(void) {
  check(chimex_init_status() == CHIMEX_STATUS_NOT_INITIALIZED, "status before init");
  check(chimex_buffer_register(&(int){0}, sizeof(int)) == CHIMEX_ERR_NOT_INITIALIZED,
        "register before init");
  chime_init();
  check(chimex_init_status() == CHIMEX_STATUS_INITIALIZED, "status after init");
  int me = chimex_host_my_pe(), n = chimex_host_n_pes();
  check(me >= 0 && me < n, "PE numbers");
  long* words = chime_calloc(n, sizeof *words);
  check(words != NULL && words[0] == 0, "calloc");
  chime_free(words);
  long local[4] = {0};
  check(chimex_buffer_register(local, sizeof local) == CHIMEX_OK, "register");
  check(chimex_buffer_unregister(local) == CHIMEX_OK, "unregister");
  chime_finalize();
  check(chimex_host_my_pe() == -1, "PE number after finalize");
  return 0;
}
