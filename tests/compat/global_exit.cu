// global_exit <what>: a kernel of PE 1, or of the only PE, ends the job with 7, while its other
// threads and a kernel of PE 0 wait for a signal that never comes. <what> is the host's activity on
// PE 1 meanwhile: sleep; or synchronize, and make a call; or leave main without a call.
#include <nvshmem.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include "require.hpp"

namespace exec = chime::exec;

static CHIME_KERNEL void end_the_job(std::uint64_t* signal, bool ends) {
  if (ends && exec::block_idx().x == 1 && exec::thread_idx().x == 5) nvshmem_global_exit(7);
  nvshmem_signal_wait_until(signal, NVSHMEM_CMP_EQ, 1);
}
CHIME_REGISTER_KERNEL(end_the_job);

int main(int, char** argv) {
  const std::string what = argv[1];
  nvshmem_init();
  auto* const signal = static_cast<std::uint64_t*>(nvshmem_calloc(1, sizeof(std::uint64_t)));
  const bool ends = nvshmem_my_pe() == nvshmem_n_pes() - 1;
  require(exec::launch({.grid = exec::dim3(2), .block = exec::dim3(64)}, end_the_job, signal,
                       ends) == 0,
          "launch");
  if (!ends || what == "sleep") sleep(100);
  exec::device_synchronize();
  if (what == "leave") return 0;
  nvshmem_quiet();
  sleep(100);
}
