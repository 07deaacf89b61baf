// Memory: of the device, of the host, and copies between them.
#include <cstddef>

#include "softgpu/runtime/runtime.hpp"

using namespace softgpu::runtime;

namespace {

CUdeviceptr address_of(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

bool is_direction(cudaMemcpyKind kind) {
  return kind >= cudaMemcpyHostToHost && kind <= cudaMemcpyDefault;
}

template <class Allocate>
cudaError_t allocate(void** address, std::size_t bytes, Allocate call) {
  if (!address) return keep(cudaErrorInvalidValue);
  *address = nullptr;
  return ready([&] { return bytes == 0 ? CUDA_SUCCESS : call(); });
}

}  // namespace

SOFTGPU_RUNTIME_API cudaMemGetInfo(size_t* free, size_t* total) {
  return ready([&] { return cuMemGetInfo(free, total); });
}

// ---- Allocation -------------------------------------------------------------------------------

SOFTGPU_RUNTIME_API cudaMalloc(void** address, size_t bytes) {
  return allocate(address, bytes,
                  [&] { return cuMemAlloc(reinterpret_cast<CUdeviceptr*>(address), bytes); });
}

SOFTGPU_RUNTIME_API cudaMallocManaged(void** address, size_t bytes, unsigned flags) {
  return allocate(address, bytes, [&] {
    return cuMemAllocManaged(reinterpret_cast<CUdeviceptr*>(address), bytes, flags);
  });
}

SOFTGPU_RUNTIME_API cudaHostAlloc(void** address, size_t bytes, unsigned flags) {
  return allocate(address, bytes, [&] { return cuMemHostAlloc(address, bytes, flags); });
}

SOFTGPU_RUNTIME_API cudaMallocHost(void** address, size_t bytes) {
  return cudaHostAlloc(address, bytes, cudaHostAllocDefault);
}

SOFTGPU_RUNTIME_API cudaFree(void* address) {
  return ready([&] { return cuMemFree(address_of(address)); });
}

SOFTGPU_RUNTIME_API cudaFreeAsync(void* address, cudaStream_t stream) {
  return ready([&] { return cuMemFreeAsync(address_of(address), stream); });
}

SOFTGPU_RUNTIME_API cudaFreeHost(void* address) {
  return ready([&] { return address ? cuMemFreeHost(address) : CUDA_SUCCESS; });
}

SOFTGPU_RUNTIME_API cudaHostRegister(void* address, size_t bytes, unsigned flags) {
  return ready([&] { return cuMemHostRegister(address, bytes, flags); });
}

SOFTGPU_RUNTIME_API cudaHostUnregister(void* address) {
  return ready([&] { return cuMemHostUnregister(address); });
}

SOFTGPU_RUNTIME_API cudaHostGetDevicePointer(void** device, void* host, unsigned flags) {
  return ready([&] {
    return cuMemHostGetDevicePointer(reinterpret_cast<CUdeviceptr*>(device), host, flags);
  });
}

// Memory that the driver does not know is no error here.
SOFTGPU_RUNTIME_API cudaPointerGetAttributes(cudaPointerAttributes* attributes,
                                             const void* address) {
  if (!attributes) return keep(cudaErrorInvalidValue);
  return ready([&] {
    const auto get = [&](auto* value, CUpointer_attribute which) {
      return cuPointerGetAttribute(value, which, address_of(address)) == CUDA_SUCCESS;
    };
    void* const own = const_cast<void*>(address);
    *attributes = {cudaMemoryTypeUnregistered, -1, nullptr, own};
    CUmemorytype type = CU_MEMORYTYPE_HOST;
    unsigned managed = 0;
    if (!get(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE)) return CUDA_SUCCESS;
    get(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED);
    get(&attributes->device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL);
    attributes->devicePointer = own;
    attributes->type = managed                      ? cudaMemoryTypeManaged
                       : type == CU_MEMORYTYPE_HOST ? cudaMemoryTypeHost
                                                    : cudaMemoryTypeDevice;
    attributes->hostPointer = attributes->type == cudaMemoryTypeDevice ? nullptr : own;
    return CUDA_SUCCESS;
  });
}

// ---- Copies -----------------------------------------------------------------------------------

SOFTGPU_RUNTIME_API cudaMemcpyAsync(void* dst, const void* src, size_t bytes, cudaMemcpyKind kind,
                                    cudaStream_t stream) {
  if (!is_direction(kind)) return keep(cudaErrorInvalidMemcpyDirection);
  return ready([&] { return cuMemcpyAsync(address_of(dst), address_of(src), bytes, stream); });
}

SOFTGPU_RUNTIME_API cudaMemcpy(void* dst, const void* src, size_t bytes, cudaMemcpyKind kind) {
  if (!is_direction(kind)) return keep(cudaErrorInvalidMemcpyDirection);
  return ready([&] { return cuMemcpy(address_of(dst), address_of(src), bytes); });
}

SOFTGPU_RUNTIME_API cudaMemsetAsync(void* address, int byte, size_t bytes, cudaStream_t stream) {
  return ready([&] {
    return cuMemsetD8Async(address_of(address), static_cast<unsigned char>(byte), bytes, stream);
  });
}

SOFTGPU_RUNTIME_API cudaMemset(void* address, int byte, size_t bytes) {
  return ready(
      [&] { return cuMemsetD8(address_of(address), static_cast<unsigned char>(byte), bytes); });
}
