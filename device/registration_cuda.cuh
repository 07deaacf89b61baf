// How a translation unit that was compiled for a GPU tells libchime of its Context
// (state_cuda.cuh). Included by exec_cuda.cuh alone.
#ifndef CHIME_DEVICE_REGISTRATION_CUDA_CUH_
#define CHIME_DEVICE_REGISTRATION_CUDA_CUH_

#include <cuda_runtime.h>

#include <cstddef>

#include "chime/abi/context.h"
#include "chime/abi/tu_state.h"
#include "chime/device/state_cuda.cuh"

namespace chime::exec {

namespace {

// On a stream of its own that no other waits for: kernels of another PE may be running, and may
// wait for the PE that is being filled.
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
  cudaGetLastError();  // not for the program's next look at it
  return cudaGetErrorString(error);
}

const char* address_of_tu_context(void** device_address) {
  const cudaError_t error = cudaGetSymbolAddress(device_address, chime_kernel_state);
  return error == cudaSuccess ? nullptr : cudaGetErrorString(error);
}

// Never launched: the driver knows the unit's module by it.
__global__ void kernel_of_tu() {}

const char* function_of_tu(void** function) {
  cudaFunction_t found = nullptr;
  const cudaError_t error =
      cudaGetFuncBySymbol(&found, reinterpret_cast<const void*>(kernel_of_tu));
  *function = found;
  if (error == cudaSuccess) return nullptr;
  cudaGetLastError();  // not for the program's next look at it
  return cudaGetErrorString(error);
}

// nvcc registers the unit's variables before its static constructors run, so that a library which
// is opened late can be filled from here at once. clang registers them afterwards: such a library
// is filled by the next launch (host/pe/device_state_registry.cpp).
struct TuRegistration {
  chime_tu record{kAbiVersion,           sizeof(Context), __BASE_FILE__, fill_tu_context,
                  address_of_tu_context, nullptr,         function_of_tu};
  TuRegistration() { chime_register_tu(&record); }
  ~TuRegistration() { chime_unregister_tu(&record); }
} tu_registration;

}  // namespace
}  // namespace chime::exec

#endif  // CHIME_DEVICE_REGISTRATION_CUDA_CUH_
