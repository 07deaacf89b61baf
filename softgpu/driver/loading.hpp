// When kernels are loaded. With CUDA_MODULE_LOADING=LAZY each is loaded at its first launch, and
// then waits for all work of its context, as a driver may. So a program that launches a kernel
// while another kernel waits for it hangs here, too. There is nothing to load; only the wait is
// made.
#pragma once

#include <cuda.h>

#include "softgpu/driver/objects.hpp"

namespace softgpu::driver {

CUmoduleLoadingMode loading_mode();
bool is_loaded(const Function& function);
void load(Function& function);

}  // namespace softgpu::driver
