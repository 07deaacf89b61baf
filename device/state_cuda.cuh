// The Context of this translation unit on a GPU, and its registration with libchime (the picture is
// in chime/abi/tu_state.h). Included by exec_cuda.cuh alone; state.cuh is what others read.
#ifndef CHIME_DEVICE_STATE_CUDA_CUH_
#define CHIME_DEVICE_STATE_CUDA_CUH_

#include <cuda_runtime.h>

#include <cstddef>

#include "chime/abi/context.h"
#include "chime/abi/tu_state.h"

namespace chime::exec {

// One per translation unit: `inline` would need -rdc=true. abi_version 0 until the host fills it.
static __constant__ Context tu_context;

// The PE whose kernels of this translation unit run here; nobody where several share this GPU.
CHIME_DEVICE const Context* launch_context() { return &tu_context; }

namespace {

// On a stream of its own that no other waits for: kernels of another PE may be running, and may
// wait for the PE that is being filled.
const char* fill_tu_context(const void* context, std::size_t bytes) {
  cudaStream_t stream;
  cudaError_t error = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  if (error == cudaSuccess) {
    error = cudaMemcpyToSymbolAsync(tu_context, context, bytes, 0, cudaMemcpyHostToDevice, stream);
    if (error == cudaSuccess) error = cudaStreamSynchronize(stream);
    cudaStreamDestroy(stream);
  }
  if (error == cudaSuccess) return nullptr;
  cudaGetLastError();  // not for the program's next look at it
  return cudaGetErrorString(error);
}

const char* address_of_tu_context(void** device_address) {
  const cudaError_t error = cudaGetSymbolAddress(device_address, tu_context);
  return error == cudaSuccess ? nullptr : cudaGetErrorString(error);
}

// nvcc registers the unit's variables before its static constructors run, so that a library which
// is opened late can be filled from here at once. clang registers them afterwards: such a library
// is filled by the next launch (host/ops/tu_registry.cpp).
struct TuRegistration {
  chime_tu record{kAbiVersion,     sizeof(Context),       __BASE_FILE__,
                  fill_tu_context, address_of_tu_context, nullptr};
  TuRegistration() { chime_register_tu(&record); }
  ~TuRegistration() { chime_unregister_tu(&record); }
} tu_registration;

}  // namespace
}  // namespace chime::exec

#endif  // CHIME_DEVICE_STATE_CUDA_CUH_
