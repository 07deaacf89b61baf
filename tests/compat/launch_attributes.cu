// launch_attributes [refuse]: the "cooperative" attribute of a collective launch counts. A launch
// without it is cooperative. On GPUs alone.
#include <nvshmem.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace exec = chime::exec;

static void require(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "failed: %s: %s\n", what, chimex_last_error());
  std::exit(1);
}

// Traps where the launch is not cooperative.
static CHIME_KERNEL void meet() { exec::sync_grid(); }

static int launch(cudaLaunchAttribute* attributes, unsigned count) {
  const nvshmemx_collective_launch_attr_t attr{
      {exec::dim3(2), exec::dim3(32), 0, nullptr, attributes, count}};
  const int status =
      nvshmemx_collective_launch_attr(&attr, reinterpret_cast<const void*>(meet), nullptr);
  return status != NVSHMEMX_SUCCESS ? status : exec::device_synchronize();
}

int main(int argc, char**) {
  nvshmem_init();
  require(chimex_init_device() == CHIMEX_OK, "the device");
  cudaLaunchAttribute own[2] = {};
  own[0].id = own[1].id = cudaLaunchAttributeCooperative;
  own[0].val.cooperative = own[1].val.cooperative = 1;
  require(launch(nullptr, 0) == 0, "none");
  require(launch(own, 1) == 0, "the same of the program's own");
  require(launch(own, 65) != 0, "more than there are kinds");
  if (argc > 1) {
    own[0].val.cooperative = 0;
    require(launch(own, 1) != 0, "a launch that is not to be cooperative");
    std::_Exit(0);
  }
  nvshmem_finalize();
}
