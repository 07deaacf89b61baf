// Variables of kernels, by their host names.
#include <cstddef>

#include "softgpu/runtime/registration.hpp"
#include "softgpu/runtime/runtime.hpp"

using namespace softgpu::runtime;

namespace {

CUdeviceptr address_of(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

struct Variable {
  CUdeviceptr address = 0;
  std::size_t bytes = 0;
};

// Calls `use(variable)` of the symbol.
template <class Use>
cudaError_t with_variable(const void* symbol, Use use) {
  if (const CUresult result = make_ready(); result != CUDA_SUCCESS) return keep(result);
  Variable variable;
  const CUresult result = variable_of(symbol, &variable.address, &variable.bytes);
  if (result == CUDA_ERROR_NOT_FOUND) return keep(cudaErrorInvalidSymbol);
  if (result != CUDA_SUCCESS) return keep(result);
  return keep(use(variable));
}

// A part of a variable, for copies.
template <class Copy>
cudaError_t with_part(const void* symbol, std::size_t offset, std::size_t bytes, Copy copy) {
  return with_variable(symbol, [&](const Variable& variable) {
    if (offset > variable.bytes || bytes > variable.bytes - offset) return CUDA_ERROR_INVALID_VALUE;
    return copy(variable.address + offset);
  });
}

}  // namespace

SOFTGPU_RUNTIME_API cudaGetSymbolAddress(void** address, const void* symbol) {
  if (!address) return keep(cudaErrorInvalidValue);
  return with_variable(symbol, [&](const Variable& variable) {
    *address = reinterpret_cast<void*>(variable.address);
    return CUDA_SUCCESS;
  });
}

SOFTGPU_RUNTIME_API cudaGetSymbolSize(size_t* bytes, const void* symbol) {
  if (!bytes) return keep(cudaErrorInvalidValue);
  return with_variable(symbol, [&](const Variable& variable) {
    *bytes = variable.bytes;
    return CUDA_SUCCESS;
  });
}

SOFTGPU_RUNTIME_API cudaMemcpyToSymbol(const void* symbol, const void* src, size_t bytes,
                                       size_t offset, cudaMemcpyKind kind) {
  if (kind != cudaMemcpyHostToDevice && kind != cudaMemcpyDeviceToDevice &&
      kind != cudaMemcpyDefault)
    return keep(cudaErrorInvalidMemcpyDirection);
  return with_part(symbol, offset, bytes,
                   [&](CUdeviceptr to) { return cuMemcpy(to, address_of(src), bytes); });
}

SOFTGPU_RUNTIME_API cudaMemcpyToSymbolAsync(const void* symbol, const void* src, size_t bytes,
                                            size_t offset, cudaMemcpyKind kind,
                                            cudaStream_t stream) {
  if (kind != cudaMemcpyHostToDevice && kind != cudaMemcpyDeviceToDevice &&
      kind != cudaMemcpyDefault)
    return keep(cudaErrorInvalidMemcpyDirection);
  return with_part(symbol, offset, bytes, [&](CUdeviceptr to) {
    return cuMemcpyAsync(to, address_of(src), bytes, stream);
  });
}

SOFTGPU_RUNTIME_API cudaMemcpyFromSymbol(void* dst, const void* symbol, size_t bytes, size_t offset,
                                         cudaMemcpyKind kind) {
  if (kind != cudaMemcpyDeviceToHost && kind != cudaMemcpyDeviceToDevice &&
      kind != cudaMemcpyDefault)
    return keep(cudaErrorInvalidMemcpyDirection);
  return with_part(symbol, offset, bytes,
                   [&](CUdeviceptr from) { return cuMemcpy(address_of(dst), from, bytes); });
}

SOFTGPU_RUNTIME_API cudaMemcpyFromSymbolAsync(void* dst, const void* symbol, size_t bytes,
                                              size_t offset, cudaMemcpyKind kind,
                                              cudaStream_t stream) {
  if (kind != cudaMemcpyDeviceToHost && kind != cudaMemcpyDeviceToDevice &&
      kind != cudaMemcpyDefault)
    return keep(cudaErrorInvalidMemcpyDirection);
  return with_part(symbol, offset, bytes, [&](CUdeviceptr from) {
    return cuMemcpyAsync(address_of(dst), from, bytes, stream);
  });
}
