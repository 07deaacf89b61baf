// How a translation unit that was compiled for a GPU registers its Context with libchime
// (state_cuda.cuh). Included by exec/exec_cuda.cuh alone.
#ifndef CHIME_DEVICE_REGISTRATION_CUDA_CUH_
#define CHIME_DEVICE_REGISTRATION_CUDA_CUH_

#include <cuda_runtime.h>

#include <cstddef>

#include "chime/abi/context.h"
#include "chime/abi/tu_state.h"
#include "chime/device/state_cuda.cuh"

namespace chime::exec {

namespace {

// Uses a stream of its own that waits for no other: kernels of another PE may be running, and may
// wait for the PE whose Context is being filled.
const char* fill_tu_context(const void* context, std::size_t bytes) {
  cudaStream_t stream;
  cudaError_t error = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  if (error == cudaSuccess) {
    error = cudaMemcpyToSymbolAsync(chime_kernel_state, context, bytes, 0, cudaMemcpyHostToDevice,
                                    stream);
    if (error == cudaSuccess) error = cudaStreamSynchronize(stream);
    cudaStreamDestroy(stream);
  }
  if (error == cudaSuccess) return nullptr;
  cudaGetLastError();  // the program's next check is not to see it
  return cudaGetErrorString(error);
}

const char* address_of_tu_context(void** device_address) {
  const cudaError_t error = cudaGetSymbolAddress(device_address, chime_kernel_state);
  return error == cudaSuccess ? nullptr : cudaGetErrorString(error);
}

// Never launched: by it the driver finds the unit's module.
__global__ void kernel_of_tu() {}

const char* function_of_tu(void** function) {
  cudaFunction_t found = nullptr;
  const cudaError_t error =
      cudaGetFuncBySymbol(&found, reinterpret_cast<const void*>(kernel_of_tu));
  *function = found;
  if (error == cudaSuccess) return nullptr;
  cudaGetLastError();  // the program's next check is not to see it
  return cudaGetErrorString(error);
}

// nvcc registers the unit's variables before its static constructors run, so this can fill a
// library that is opened late at once. clang registers them afterwards: the next launch fills such
// a library (host/pe/device_state_registry.cpp).
struct TuRegistration {
  chime_tu record{kAbiVersion,           sizeof(Context), __BASE_FILE__, fill_tu_context,
                  address_of_tu_context, nullptr,         function_of_tu};
  TuRegistration() { chime_register_tu(&record); }
  ~TuRegistration() { chime_unregister_tu(&record); }
} tu_registration;

}  // namespace
}  // namespace chime::exec

#endif  // CHIME_DEVICE_REGISTRATION_CUDA_CUH_
