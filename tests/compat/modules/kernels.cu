// Kernels that a program loads by itself: each PE sends its right neighbour a row with a signal.
// Compiled to PTX by clang and by NVRTC.
#include <nvshmem.h>
#include <nvshmemx.h>

extern "C" CHIME_KERNEL void send_row(long* to, const long* from, std::uint64_t* signal, int n,
                                      int* seen) {
  const int me = nvshmem_my_pe(), right = (me + 1) % nvshmem_n_pes();
  nvshmemx_long_put_signal_nbi_block(to, from, std::size_t(n), signal, 1, NVSHMEM_SIGNAL_ADD,
                                     right);
  nvshmem_signal_wait_until(signal, NVSHMEM_CMP_GE, 1);
  if (chime::exec::thread_idx().x == 0) *seen = nvshmem_team_n_pes(NVSHMEM_TEAM_WORLD);
}
