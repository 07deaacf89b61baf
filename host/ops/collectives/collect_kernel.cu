// The kernel by which a GPU's host and streams call collectives. Apart from the library's other
// kernels (host/ops/library_kernels.cu), because it takes as long to compile as they do.
// Before others, because it says how functions for kernels are declared.
#include "chime/device/exec/exec.cuh"
#include "host/ops/collectives/collect.cuh"

using chime::Context;
using namespace chime::host;  // NOLINT: this file only forwards

extern "C" CHIME_KERNEL void chime_library_collect(const CHIME_GRID_CONSTANT Context ctx,
                                                   const CHIME_GRID_CONSTANT CollectCall call) {
  if (chime::exec::in_kernel()) {
    collect(ctx, chime::Block{}, call);
  } else {
    collect(ctx, chime::Thread{}, call);
  }
}
