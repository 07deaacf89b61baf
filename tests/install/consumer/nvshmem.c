// An NVSHMEM program in C: it includes NVSHMEM's header.
#include <nvshmem.h>
#include <nvshmemx.h>

int main(void) {
  nvshmem_init();
  int* const value = nvshmem_malloc(sizeof(int));
  nvshmem_int_p(value, 42, nvshmem_team_my_pe(NVSHMEM_TEAM_WORLD));
  nvshmem_barrier_all();
  const int found = nvshmem_int_g(value, nvshmem_my_pe());
  nvshmem_free(value);
  nvshmem_finalize();
  return found == 42 ? 0 : 1;
}
