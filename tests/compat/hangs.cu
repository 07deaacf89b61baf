// A kernel waits for a signal that no PE sends, while the host waits in a barrier, until chime-run
// ends the job and each PE reports its activity. With `ended` its host sends the signal late, and
// the kernel then runs for ever in a loop of its own. With `compiles` the kernel ends at once: a
// first launch, at which the softgpu compiles it.
#include <nvshmem.h>
#include <unistd.h>

#include <cstdint>
#include <string>

static CHIME_KERNEL void wait_for_nobody(std::uint64_t* signal, bool ends) {
  if (ends) return;
  nvshmem_uint64_p(signal + 1, 1, nvshmem_my_pe());  // it has begun
  nvshmem_signal_wait_until(signal, NVSHMEM_CMP_EQ, 1);
  while (*const_cast<volatile std::uint64_t*>(signal) == 1) chime::exec::pause();
}

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  nvshmem_init();
  auto* const signal = static_cast<std::uint64_t*>(nvshmem_calloc(2, sizeof(std::uint64_t)));
  chime::exec::launch({}, wait_for_nobody, signal, what == "compiles");
  if (what == "ended") {
    while (nvshmem_uint64_g(signal + 1, nvshmem_my_pe()) == 0) usleep(10'000);
    sleep(1);
    nvshmem_uint64_p(signal, 1, nvshmem_my_pe());
  }
  if (nvshmem_my_pe() != 0) chime::exec::device_synchronize();
  nvshmem_barrier_all();
  nvshmem_finalize();
}
