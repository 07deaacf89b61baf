// A kernel waits for a signal that nobody sends, and the host meets the others meanwhile: until
// chime-run ends the job, and says what each did.
#include <nvshmem.h>

#include <cstdint>

static CHIME_KERNEL void wait_for_nobody(std::uint64_t* signal) {
  nvshmem_signal_wait_until(signal, NVSHMEM_CMP_EQ, 1);
}

int main() {
  nvshmem_init();
  auto* const signal = static_cast<std::uint64_t*>(nvshmem_calloc(1, sizeof(std::uint64_t)));
  chime::exec::launch({}, wait_for_nobody, signal);
  if (nvshmem_my_pe() != 0) chime::exec::device_synchronize();
  nvshmem_barrier_all();
  nvshmem_finalize();
}
