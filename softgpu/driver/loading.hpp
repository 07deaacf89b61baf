// When kernels are loaded. With CUDA_MODULE_LOADING=LAZY each is at its first launch, and waits
// then for all work of its context, as a driver may: who launches it while another kernel waits for
// it hangs here, too. There is nothing to load; the wait is all that is made.
#pragma once

#include <cuda.h>

#include "softgpu/driver/objects.hpp"

namespace softgpu::driver {

CUmoduleLoadingMode loading_mode();
bool is_loaded(const Function& function);
void load(Function& function);

}  // namespace softgpu::driver
