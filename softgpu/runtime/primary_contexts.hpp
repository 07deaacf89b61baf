// The primary contexts that the runtime has retained, for ever, as CUDA's runtime does.
#pragma once

#include <cuda.h>

namespace softgpu::runtime {

// Makes the primary context of `device` current for the calling thread.
CUresult make_primary_current(CUdevice device);

// The primary context of `device` has been reset: it is retained anew when it is needed.
void forget_primary(CUdevice device);

}  // namespace softgpu::runtime
