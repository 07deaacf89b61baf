// The primary contexts that the runtime has retained, for ever, as CUDA's does.
#pragma once

#include <cuda.h>

namespace softgpu::runtime {

// The calling thread's context is from here on the primary one of `device`.
CUresult make_primary_current(CUdevice device);

// The primary context of `device` has been reset: what is retained is made anew when it is asked
// for.
void forget_primary(CUdevice device);

}  // namespace softgpu::runtime
