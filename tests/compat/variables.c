// variables <bytes that fit> <bytes that do not>: NVSHMEM_SYMMETRIC_SIZE, or the variable that
// takes precedence, is the heap's size. Runs with CHIME_ON_ERROR=return.
#include <nvshmem.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  nvshmem_init();
  void* const fits = nvshmem_malloc(strtoull(argv[1], NULL, 10));
  void* const does_not = nvshmem_malloc(strtoull(argv[2], NULL, 10));
  if (!fits || does_not) {
    fprintf(stderr, "failed: %p, %p: '%s'\n", fits, does_not, chimex_last_error());
    return 1;
  }
  nvshmem_free(fits);
  nvshmem_finalize();
  return 0;
}
