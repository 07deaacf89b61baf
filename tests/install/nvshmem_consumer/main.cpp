// A host program for NVSHMEM, which includes parts of its headers by their usual names: each PE
// puts its number into its right neighbour.
#include <bootstrap_device_host/nvshmem_uniqueid.h>
#include <device/nvshmem_defines.h>
#include <device/nvshmemx_defines.h>
#include <device_host/nvshmem_types.h>
#include <host/nvshmem_api.h>
#include <host/nvshmemx_api.h>
#include <host/nvshmemx_coll_api.h>
#include <nvshmem.h>
#include <nvshmem_host.h>
#include <nvshmemx.h>

#include <cstdio>

int main() {
  nvshmem_init();
  const int pe = nvshmem_my_pe(), n = nvshmem_n_pes();
  int* const slot = static_cast<int*>(nvshmem_calloc(1, sizeof(int)));
  nvshmem_int_p(slot, 100 + pe, (pe + 1) % n);
  nvshmem_barrier_all();
  const int found = nvshmem_int_g(slot, pe);
  std::printf("PE %d of %d got %d\n", pe, n, found);
  nvshmem_free(slot);
  nvshmem_finalize();
  return found == 100 + (pe + n - 1) % n ? 0 : 1;
}
