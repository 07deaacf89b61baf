// The Context of this translation unit on a GPU (the picture is in chime/abi/tu_state.h). Included
// by exec/exec_cuda.cuh alone; other files read state.cuh.
#ifndef CHIME_DEVICE_STATE_CUDA_CUH_
#define CHIME_DEVICE_STATE_CUDA_CUH_

#include "chime/abi/context.h"

// One for each translation unit: `inline` would need -rdc=true. abi_version is 0 until the host
// fills it: when the unit registers, or by this name where a program loads the unit's code by
// itself (chimex_cumodule_init).
CHIME_UNIT_CONSTANT(chime::Context chime_kernel_state = chime::unfilled_context());

namespace chime::exec {

// The PE whose kernels of this translation unit run here. Unfilled where several PEs share this
// GPU.
CHIME_DEVICE const Context* launch_context() { return &chime_kernel_state; }
// Whether launch_context() may be null. (Without this a compiler assumes that it may.)
CHIME_DEVICE constexpr bool may_run_for_nobody() { return false; }

}  // namespace chime::exec

#endif  // CHIME_DEVICE_STATE_CUDA_CUH_
