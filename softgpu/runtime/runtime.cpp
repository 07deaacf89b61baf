#include "softgpu/runtime/runtime.hpp"

#include "softgpu/driver/immortal.hpp"
#include "softgpu/driver/of_thread.hpp"
#include "softgpu/runtime/primary_contexts.hpp"

namespace softgpu::runtime {

namespace {

struct LastError {
  cudaError_t error = cudaSuccess;
};

cudaError_t& last_error() { return driver::of_thread<LastError>().error; }

}  // namespace

// A result of "not ready" is no error.
cudaError_t keep(cudaError_t error) {
  if (error != cudaSuccess && error != cudaErrorNotReady) last_error() = error;
  return error;
}

CUresult make_ready() {
  if (const CUresult result = cuInit(0); result != CUDA_SUCCESS) return result;
  CUcontext current = nullptr;
  if (const CUresult result = cuCtxGetCurrent(&current); result != CUDA_SUCCESS) return result;
  return current ? CUDA_SUCCESS : make_primary_current(0);
}

}  // namespace softgpu::runtime

using namespace softgpu::runtime;

SOFTGPU_RUNTIME_API cudaGetLastError() {
  const cudaError_t error = last_error();
  last_error() = cudaSuccess;
  return error;
}

SOFTGPU_RUNTIME_API cudaPeekAtLastError() { return last_error(); }

namespace {

struct Words {
  const char *name, *sentence;
};

Words words_of(cudaError_t error) {
  switch (error) {
#define SOFTGPU_RESULT(driver, runtime, sentence) \
  case runtime:                                   \
    return {#runtime, sentence};
    SOFTGPU_RESULTS(SOFTGPU_RESULT)
#undef SOFTGPU_RESULT
#define SOFTGPU_RESULT(runtime, sentence) \
  case runtime:                           \
    return {#runtime, sentence};
    SOFTGPU_RUNTIME_RESULTS(SOFTGPU_RESULT)
#undef SOFTGPU_RESULT
  }
  return {"unrecognized error code", "unrecognized error code"};
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const char* cudaGetErrorName(cudaError_t error) {
  return words_of(error).name;
}
extern "C" __attribute__((visibility("default"))) const char* cudaGetErrorString(
    cudaError_t error) {
  return words_of(error).sentence;
}

SOFTGPU_RUNTIME_API cudaDriverGetVersion(int* version) { return keep(cuDriverGetVersion(version)); }

SOFTGPU_RUNTIME_API cudaRuntimeGetVersion(int* version) {
  if (!version) return keep(cudaErrorInvalidValue);
  *version = CUDART_VERSION;
  return cudaSuccess;
}

SOFTGPU_RUNTIME_API cudaGetDriverEntryPointByVersion(const char* name, void** function,
                                                     unsigned version, unsigned long long flags,
                                                     cudaDriverEntryPointQueryResult* found) {
  return ready([&] {
    CUdriverProcAddressQueryResult answer = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    const CUresult result =
        cuGetProcAddress(name, function, static_cast<int>(version), flags, &answer);
    if (found) *found = static_cast<cudaDriverEntryPointQueryResult>(answer);
    return result;
  });
}

SOFTGPU_RUNTIME_API cudaGetDriverEntryPoint(const char* name, void** function,
                                            unsigned long long flags,
                                            cudaDriverEntryPointQueryResult* found) {
  return cudaGetDriverEntryPointByVersion(name, function, CUDART_VERSION, flags, found);
}
