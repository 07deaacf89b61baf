// The runtime's additions to the driver: an implicit context, and each thread's last error.
#pragma once

#include <cuda_runtime.h>

#define SOFTGPU_RUNTIME_API extern "C" __attribute__((visibility("default"))) cudaError_t

namespace softgpu::runtime {

// The driver's code as the runtime's; both have the same numbers.
inline cudaError_t as_runtime(CUresult result) { return static_cast<cudaError_t>(result); }

// Every call returns through this: an error becomes the calling thread's last one.
cudaError_t keep(cudaError_t error);
inline cudaError_t keep(CUresult result) { return keep(as_runtime(result)); }

// Initialises the driver, and gives the calling thread a context if it has none: the primary one of
// its device.
CUresult make_ready();

// Runs a call that needs a context.
template <class Call>
cudaError_t ready(Call call) {
  if (const CUresult result = make_ready(); result != CUDA_SUCCESS) return keep(result);
  return keep(call());
}

}  // namespace softgpu::runtime
