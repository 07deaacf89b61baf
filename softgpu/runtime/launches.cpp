// Kernels by their host names: launches, attributes, occupancy.
#include "chime/device/simt/launch/launcher.hpp"
#include "softgpu/runtime/registration.hpp"
#include "softgpu/runtime/runtime.hpp"

using namespace softgpu::runtime;

namespace {

// Calls `use(function)` of the kernel.
template <class Use>
cudaError_t with_function(const void* kernel, Use use) {
  if (const CUresult result = make_ready(); result != CUDA_SUCCESS) return keep(result);
  CUfunction function = nullptr;
  const CUresult result = function_of(kernel, &function);
  if (result == CUDA_ERROR_NOT_FOUND) return keep(cudaErrorInvalidDeviceFunction);
  if (result != CUDA_SUCCESS) return keep(result);
  return keep(use(function));
}

int attribute_of_current_device(CUdevice_attribute which) {
  CUdevice device = 0;
  int value = 0;
  cuCtxGetDevice(&device);
  cuDeviceGetAttribute(&value, which, device);
  return value;
}

// To the driver this is an invalid value; the runtime has a code of its own.
bool can_be(dim3 grid, dim3 block) {
  const auto most = [](CUdevice_attribute which) {
    return static_cast<unsigned>(attribute_of_current_device(which));
  };
  const unsigned long long threads = 1ull * block.x * block.y * block.z;
  return threads != 0 && threads <= most(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK) &&
         block.z <= most(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z) && grid.x != 0 && grid.y != 0 &&
         grid.z != 0 && grid.x <= most(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X) &&
         grid.y <= most(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y) &&
         grid.z <= most(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z);
}

cudaError_t launch(const cudaLaunchConfig_t& config, bool cooperative, const void* kernel,
                   void** arguments) {
  if (const CUresult result = make_ready(); result != CUDA_SUCCESS) return keep(result);
  const dim3 grid = config.gridDim, block = config.blockDim;
  if (!can_be(grid, block)) return keep(cudaErrorInvalidConfiguration);
  chime::simt::before_foreign_launch();
  const auto shared = static_cast<unsigned>(config.dynamicSmemBytes);
  return with_function(kernel, [&](CUfunction function) {
    return cooperative
               ? cuLaunchCooperativeKernel(function, grid.x, grid.y, grid.z, block.x, block.y,
                                           block.z, shared, config.stream, arguments)
               : cuLaunchKernel(function, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared,
                                config.stream, arguments, nullptr);
  });
}

cudaLaunchConfig_t configuration(dim3 grid, dim3 block, std::size_t dynamic_shared_bytes,
                                 cudaStream_t stream) {
  return {.gridDim = grid,
          .blockDim = block,
          .dynamicSmemBytes = dynamic_shared_bytes,
          .stream = stream,
          .attrs = nullptr,
          .numAttrs = 0};
}

}  // namespace

SOFTGPU_RUNTIME_API cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                     size_t dynamic_shared_bytes, cudaStream_t stream) {
  return launch(configuration(grid, block, dynamic_shared_bytes, stream), false, kernel, arguments);
}

// clang calls this for <<<>>> if each thread has a null stream of its own
// (-fgpu-default-stream=per-thread).
SOFTGPU_RUNTIME_API cudaLaunchKernel_ptsz(const void* kernel, dim3 grid, dim3 block,
                                          void** arguments, size_t dynamic_shared_bytes,
                                          cudaStream_t stream) {
  return launch(
      configuration(grid, block, dynamic_shared_bytes, stream ? stream : cudaStreamPerThread),
      false, kernel, arguments);
}

SOFTGPU_RUNTIME_API cudaLaunchCooperativeKernel(const void* kernel, dim3 grid, dim3 block,
                                                void** arguments, size_t dynamic_shared_bytes,
                                                cudaStream_t stream) {
  return launch(configuration(grid, block, dynamic_shared_bytes, stream), true, kernel, arguments);
}

SOFTGPU_RUNTIME_API cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* kernel,
                                        void** arguments) {
  if (!config) return keep(cudaErrorInvalidValue);
  bool cooperative = false;
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    if (config->attrs[i].id != cudaLaunchAttributeCooperative) return keep(cudaErrorNotSupported);
    cooperative = config->attrs[i].val.cooperative != 0;
  }
  return launch(*config, cooperative, kernel, arguments);
}

SOFTGPU_RUNTIME_API cudaFuncGetName(const char** name, const void* kernel) {
  return with_function(kernel, [&](CUfunction f) { return cuFuncGetName(name, f); });
}

SOFTGPU_RUNTIME_API cudaGetFuncBySymbol(cudaFunction_t* function, const void* kernel) {
  if (!function) return keep(cudaErrorInvalidValue);
  return with_function(kernel, [&](CUfunction f) {
    *function = f;
    return CUDA_SUCCESS;
  });
}

SOFTGPU_RUNTIME_API cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute which, int value) {
  return with_function(kernel, [&](CUfunction f) {
    return cuFuncSetAttribute(f, static_cast<CUfunction_attribute>(which), value);
  });
}

SOFTGPU_RUNTIME_API cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* kernel) {
  if (!attributes) return keep(cudaErrorInvalidValue);
  return with_function(kernel, [&](CUfunction f) {
    CUresult failed = CUDA_SUCCESS;
    const auto get = [&](CUfunction_attribute which) {
      int value = 0;
      const CUresult result = cuFuncGetAttribute(&value, which, f);
      if (failed == CUDA_SUCCESS) failed = result;
      return value;
    };
    const auto bytes = [&](CUfunction_attribute which) {
      return static_cast<std::size_t>(get(which));
    };
    *attributes = {
        .sharedSizeBytes = bytes(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES),
        .constSizeBytes = bytes(CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES),
        .localSizeBytes = bytes(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES),
        .maxThreadsPerBlock = get(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
        .numRegs = get(CU_FUNC_ATTRIBUTE_NUM_REGS),
        .ptxVersion = get(CU_FUNC_ATTRIBUTE_PTX_VERSION),
        .binaryVersion = get(CU_FUNC_ATTRIBUTE_BINARY_VERSION),
        .maxDynamicSharedSizeBytes = get(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES),
        .preferredShmemCarveout = get(CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT)};
    return failed;
  });
}

SOFTGPU_RUNTIME_API cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* kernel,
                                                                  int threads,
                                                                  size_t dynamic_shared_bytes) {
  return with_function(kernel, [&](CUfunction f) {
    return cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, f, threads, dynamic_shared_bytes);
  });
}

SOFTGPU_RUNTIME_API cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t call, void* argument) {
  return ready([&] { return cuLaunchHostFunc(stream, call, argument); });
}
