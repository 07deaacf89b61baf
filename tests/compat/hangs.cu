// A kernel waits for a signal that no PE sends, while the host waits in a barrier, until chime-run
// ends the job and each PE reports its activity. With `ended` its host sends the signal late, and
// the kernel then runs for ever in a loop of its own.
#include <nvshmem.h>
#include <unistd.h>

#include <cstdint>

static CHIME_KERNEL void wait_for_nobody(std::uint64_t* signal) {
  nvshmem_uint64_p(signal + 1, 1, nvshmem_my_pe());  // it has begun
  nvshmem_signal_wait_until(signal, NVSHMEM_CMP_EQ, 1);
  while (*const_cast<volatile std::uint64_t*>(signal) == 1) chime::exec::pause();
}

int main(int argc, char**) {
  nvshmem_init();
  auto* const signal = static_cast<std::uint64_t*>(nvshmem_calloc(2, sizeof(std::uint64_t)));
  chime::exec::launch({}, wait_for_nobody, signal);
  if (argc > 1) {
    while (nvshmem_uint64_g(signal + 1, nvshmem_my_pe()) == 0) usleep(10'000);
    sleep(1);
    nvshmem_uint64_p(signal, 1, nvshmem_my_pe());
  }
  if (nvshmem_my_pe() != 0) chime::exec::device_synchronize();
  nvshmem_barrier_all();
  nvshmem_finalize();
}
