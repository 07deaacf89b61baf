/* A user's C program: host functions only. */
#include <chime/chime.h>
#include <stdio.h>

int main(void) {
  int major = 0, minor = 0;
  chime_init();
  chime_info_get_version(&major, &minor);
  void* memory = chime_malloc(4096);
  printf("PE %d of %d, OpenSHMEM %d.%d names\n", chimex_host_my_pe(), chimex_host_n_pes(), major,
         minor);
  chime_free(memory);
  chime_finalize();
  return memory != NULL && major == CHIME_SPEC_MAJOR && minor == CHIME_SPEC_MINOR ? 0 : 1;
}
