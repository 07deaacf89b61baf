// The promises of NVSHMEM's documentation about memory, seen from the host (docs/porting.md).
#include <nvshmem.h>
#include <stdio.h>
#include <stdlib.h>

static void require(int good, const char* what) {
  if (good) return;
  fprintf(stderr, "failed: %s: '%s'\n", what, chimex_last_error());
  exit(1);
}

int main(void) {
  int x = 0;
  require(nvshmem_my_pe() == -1 && nvshmem_n_pes() == -1, "no PE before init");
  nvshmem_init();
  require(nvshmem_malloc(0) == NULL, "malloc of nothing");
  require(nvshmem_align(64, 0) == NULL, "align of nothing");
  require(nvshmem_calloc(0, 8) == NULL && nvshmem_calloc(8, 0) == NULL, "calloc of nothing");
  nvshmem_free(NULL);
  char* const aligned = nvshmem_align(4096, 10);
  require((uintptr_t)aligned % 4096 == 0, "alignment");
  require(nvshmem_ptr(&x, nvshmem_my_pe()) == NULL, "no address of what is not symmetric");
  nvshmem_putmem(aligned, NULL, 0, (nvshmem_my_pe() + 1) % nvshmem_n_pes());
  nvshmem_free(aligned);
  require(chimex_last_status() == NVSHMEMX_SUCCESS, "no error in all of it");
  nvshmem_finalize();
  return 0;
}
