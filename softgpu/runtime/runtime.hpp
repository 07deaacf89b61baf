// What the runtime adds to the driver: a context without asking, and each thread's last error.
#pragma once

#include <cuda_runtime.h>

#define SOFTGPU_RUNTIME_API extern "C" __attribute__((visibility("default"))) cudaError_t

namespace softgpu::runtime {

// The driver's code as the runtime's; both have the same numbers.
inline cudaError_t as_runtime(CUresult result) { return static_cast<cudaError_t>(result); }

// What every call returns through: an error is the calling thread's last one from then on.
cudaError_t keep(cudaError_t error);
inline cudaError_t keep(CUresult result) { return keep(as_runtime(result)); }

// The driver is initialised, and the calling thread has a context: the primary one of its device,
// if it has none.
CUresult make_ready();

// What a call does that needs a context.
template <class Call>
cudaError_t ready(Call call) {
  if (const CUresult result = make_ready(); result != CUDA_SUCCESS) return keep(result);
  return keep(call());
}

}  // namespace softgpu::runtime
