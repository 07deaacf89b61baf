// Compiled as another unit of the program, as a shared library and as a plug-in; each defines NAME
// differently. The kernel has the same name as the program's: it is local to this file.
#include <nvshmem.h>
#include <nvshmemx.h>

#include "send.hpp"

namespace exec = chime::exec;

static CHIME_KERNEL void send(int* slots, int n) {
  const int right = (nvshmem_my_pe() + 1) % nvshmem_n_pes();
  nvshmem_int_p(slots + n, 100 * n + nvshmem_my_pe(), right);
}
CHIME_REGISTER_KERNEL(send);

CHIME_LINKED_AS int NAME(int* slots, int n) {
  if (nvshmem_n_pes() < 2 || nvshmem_ptr(slots, nvshmem_my_pe()) != slots) return 1;
  if (exec::launch({}, send, slots, n) != CHIMEX_OK) return 2;
  if (exec::device_synchronize() != CHIMEX_OK) return 3;
  nvshmem_quiet();
  return 0;
}
