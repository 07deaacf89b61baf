// Devices, and the current one of the calling thread.
#include <cstdio>

#include "softgpu/runtime/primary_contexts.hpp"
#include "softgpu/runtime/runtime.hpp"

using namespace softgpu::runtime;

namespace {

// Runs a call that needs the driver, but no context.
template <class Call>
cudaError_t initialised(Call call) {
  if (const CUresult result = cuInit(0); result != CUDA_SUCCESS) return keep(result);
  return keep(call());
}

CUresult context_of_peer(int peer, CUcontext* context) {
  CUcontext own = nullptr;
  cuCtxGetCurrent(&own);
  const CUresult result = make_primary_current(peer);
  if (result == CUDA_SUCCESS) cuCtxGetCurrent(context);
  cuCtxSetCurrent(own);
  return result;
}

}  // namespace

SOFTGPU_RUNTIME_API cudaGetDeviceCount(int* count) {
  return initialised([&] { return cuDeviceGetCount(count); });
}

SOFTGPU_RUNTIME_API cudaGetDevice(int* device) {
  return initialised([&] {
    if (!device) return CUDA_ERROR_INVALID_VALUE;
    if (cuCtxGetDevice(device) != CUDA_SUCCESS) *device = 0;
    return CUDA_SUCCESS;
  });
}

SOFTGPU_RUNTIME_API cudaSetDevice(int device) {
  return initialised([&] { return make_primary_current(device); });
}

SOFTGPU_RUNTIME_API cudaDeviceGetAttribute(int* value, cudaDeviceAttr which, int device) {
  return initialised(
      [&] { return cuDeviceGetAttribute(value, static_cast<CUdevice_attribute>(which), device); });
}

SOFTGPU_RUNTIME_API cudaDeviceGetPCIBusId(char* address, int bytes, int device) {
  return initialised([&] { return cuDeviceGetPCIBusId(address, bytes, device); });
}

SOFTGPU_RUNTIME_API cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return initialised([&] { return cuDeviceCanAccessPeer(can, device, peer); });
}

SOFTGPU_RUNTIME_API cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  return ready([&] {
    CUcontext context = nullptr;
    const CUresult result = context_of_peer(peer, &context);
    return result == CUDA_SUCCESS ? cuCtxEnablePeerAccess(context, flags) : result;
  });
}

SOFTGPU_RUNTIME_API cudaDeviceDisablePeerAccess(int peer) {
  return ready([&] {
    CUcontext context = nullptr;
    const CUresult result = context_of_peer(peer, &context);
    return result == CUDA_SUCCESS ? cuCtxDisablePeerAccess(context) : result;
  });
}

SOFTGPU_RUNTIME_API cudaDeviceSynchronize() {
  return ready([] { return cuCtxSynchronize(); });
}

SOFTGPU_RUNTIME_API cudaDeviceReset() {
  return initialised([] {
    CUdevice device = 0;
    if (cuCtxGetDevice(&device) != CUDA_SUCCESS) device = 0;
    cuCtxSetCurrent(nullptr);
    forget_primary(device);
    return cuDevicePrimaryCtxReset(device);
  });
}

SOFTGPU_RUNTIME_API cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  return initialised([&] {
    if (!properties) return CUDA_ERROR_INVALID_VALUE;
    cudaDeviceProp p = {};
    if (const CUresult result = cuDeviceGetName(p.name, sizeof p.name, device);
        result != CUDA_SUCCESS)
      return result;
    const auto get = [&](CUdevice_attribute which) {
      int value = 0;
      cuDeviceGetAttribute(&value, which, device);
      return value;
    };
    const auto bytes = [&](CUdevice_attribute which) {
      return static_cast<std::size_t>(get(which));
    };
    cuDeviceTotalMem(&p.totalGlobalMem, device);
    p.sharedMemPerBlock = bytes(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
    p.sharedMemPerBlockOptin = bytes(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    p.regsPerBlock = get(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
    p.warpSize = get(CU_DEVICE_ATTRIBUTE_WARP_SIZE);
    p.maxThreadsPerBlock = get(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    p.maxThreadsDim[0] = get(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X);
    p.maxThreadsDim[1] = get(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y);
    p.maxThreadsDim[2] = get(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z);
    p.maxGridSize[0] = get(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X);
    p.maxGridSize[1] = get(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y);
    p.maxGridSize[2] = get(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z);
    p.major = get(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    p.minor = get(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    p.multiProcessorCount = get(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    p.maxBlocksPerMultiProcessor = get(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
    p.maxThreadsPerMultiProcessor = get(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
    p.integrated = get(CU_DEVICE_ATTRIBUTE_INTEGRATED);
    p.canMapHostMemory = get(CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY);
    p.concurrentKernels = get(CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS);
    p.unifiedAddressing = get(CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING);
    p.cooperativeLaunch = get(CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH);
    // There are no such clocks: these are numbers to compute with.
    p.clockRate = p.memoryClockRate = 1'000'000;
    p.memoryBusWidth = 64;
    char address[16] = "";
    cuDeviceGetPCIBusId(address, sizeof address, device);
    std::sscanf(address, "%x:%x:%x", reinterpret_cast<unsigned*>(&p.pciDomainID),
                reinterpret_cast<unsigned*>(&p.pciBusID),
                reinterpret_cast<unsigned*>(&p.pciDeviceID));
    *properties = p;
    return CUDA_SUCCESS;
  });
}
