// A kernel that the CUDA runtime launches, of which Chime hears nothing, finds its PE behind
// chimex_init_device, and is told of it where chime_init alone came before: no hang, and no PE that
// is not there.
//
//   gpu_plain_launch early|ready
#include <cstring>

#include "chime/chime.h"
#include "kernel_check.cuh"

using namespace chime;
using namespace chime::tests;

static CHIME_KERNEL void by_name(int* pe) { *pe = chime_my_pe() + 100; }

int main(int, char** argv) {
  const bool is_early = std::strcmp(argv[1], "early") == 0;
  need_gpu();
  chime_init();
  if (!is_early) CHIME_NEED(chimex_init_device() == CHIMEX_OK);
  Result<int> pe;
  int* result = pe.device();
  void* arguments[] = {&result};
  CHIME_NEED(cudaLaunchKernel(reinterpret_cast<const void*>(&by_name), dim3(1), dim3(1), arguments,
                              0, nullptr) == cudaSuccess);
  const bool has_run = exec::device_synchronize() == CHIMEX_OK;
  CHIME_CHECK(has_run == !is_early);
  if (is_early) {  // the context is lost
    const int status = verdict();
    std::fflush(nullptr);
    std::_Exit(status);
  }
  CHIME_CHECK(pe.read() == 100);
  chime_finalize();
  return verdict();
}
