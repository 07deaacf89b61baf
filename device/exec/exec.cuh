// The platform layer that all device code is written against (device/README.md, "exec"). The only
// file that tests which compiler runs.
#ifndef CHIME_DEVICE_EXEC_CUH_
#define CHIME_DEVICE_EXEC_CUH_

#include "chime/cxx20.h"

#if defined(__CUDACC__) || defined(__CUDA__)  // nvcc; clang
#include "chime/device/exec/exec_cuda.cuh"
#else
#include "chime/device/simt/exec/exec_simt.hpp"
#endif

#endif  // CHIME_DEVICE_EXEC_CUH_
