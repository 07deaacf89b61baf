// Copies and fills, in the order of a stream.
//
// Memory that the driver has not pinned is pageable in CUDA's terms: when the call returns, the
// copy has read from it or written to it.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <vector>

#include "softgpu/driver/calls/calls.hpp"
#include "softgpu/driver/memory/address_space.hpp"

using namespace softgpu::driver;

namespace {

void* at(CUdeviceptr address) { return reinterpret_cast<void*>(address); }
const void* at_const(CUdeviceptr address) { return reinterpret_cast<const void*>(address); }

struct Copy {
  CUdeviceptr dst, src;
  std::size_t bytes;
};

bool is_pageable(CUdeviceptr address, std::size_t bytes, Access access) {
  if (address == 0) fail(CUDA_ERROR_INVALID_VALUE, "a copy from or to null");
  return !address_space().check(address, bytes, access);
}

// In a stream of any context, which gives the order.
void copy_async(Context& current, const Copy& copy, CUstream handle) {
  const std::shared_ptr<Stream> stream = current.stream_anywhere(handle);
  Context& context = stream->context();
  if (copy.bytes == 0) return;
  const bool from_pageable = is_pageable(copy.src, copy.bytes, Access::kRead);
  const bool to_pageable = is_pageable(copy.dst, copy.bytes, Access::kWrite);
  if (from_pageable && !to_pageable) {
    auto staged = std::make_shared<std::vector<std::byte>>(copy.bytes);
    std::memcpy(staged->data(), at_const(copy.src), copy.bytes);
    return context.queue_call(
        *stream, [copy, staged] { std::memcpy(at(copy.dst), staged->data(), copy.bytes); });
  }
  context.queue_call(*stream,
                     [copy] { std::memmove(at(copy.dst), at_const(copy.src), copy.bytes); });
  if (to_pageable) context.wait_for_work(*stream);
}

CUresult copy(const Copy& copy) {
  return answer_uncaptured("a copy that waits", [&](Context& context) {
    copy_async(context, copy, nullptr);
    context.wait_for_work(*context.stream_of(nullptr));
  });
}

CUresult copy(const Copy& copy, CUstream stream) {
  return answer_in_context([&](Context& context) { copy_async(context, copy, stream); });
}

template <class T>
void fill_async(Context& context, CUdeviceptr address, T value, std::size_t count,
                CUstream handle) {
  const std::shared_ptr<Stream> stream = context.stream_of(handle);
  if (count == 0) return;
  if (address % sizeof(T) != 0)
    fail(CUDA_ERROR_INVALID_VALUE, "%#llx is no multiple of %zu", address, sizeof(T));
  if (!address_space().check(address, count * sizeof(T), Access::kWrite))
    fail(CUDA_ERROR_INVALID_VALUE, "%#llx is no address of the driver's", address);
  context.queue_call(*stream, [=] {
    if constexpr (sizeof(T) == 1)
      std::memset(at(address), value, count);
    else
      std::fill_n(static_cast<T*>(at(address)), count, value);
  });
}

template <class T>
CUresult fill(CUdeviceptr address, T value, std::size_t count) {
  return answer_uncaptured("a fill that waits", [&](Context& context) {
    fill_async(context, address, value, count, nullptr);
    context.wait_for_work(*context.stream_of(nullptr));
  });
}

CUdeviceptr of_host(const void* address) { return reinterpret_cast<CUdeviceptr>(address); }

}  // namespace

SOFTGPU_API cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t bytes) {
  return copy({dst, src, bytes});
}
SOFTGPU_API cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream) {
  return copy({dst, src, bytes}, stream);
}
SOFTGPU_API cuMemcpyHtoD(CUdeviceptr dst, const void* src, size_t bytes) {
  return copy({dst, of_host(src), bytes});
}
SOFTGPU_API cuMemcpyDtoH(void* dst, CUdeviceptr src, size_t bytes) {
  return copy({of_host(dst), src, bytes});
}
SOFTGPU_API cuMemcpyDtoD(CUdeviceptr dst, CUdeviceptr src, size_t bytes) {
  return copy({dst, src, bytes});
}
SOFTGPU_API cuMemcpyHtoDAsync(CUdeviceptr dst, const void* src, size_t bytes, CUstream stream) {
  return copy({dst, of_host(src), bytes}, stream);
}
SOFTGPU_API cuMemcpyDtoHAsync(void* dst, CUdeviceptr src, size_t bytes, CUstream stream) {
  return copy({of_host(dst), src, bytes}, stream);
}
SOFTGPU_API cuMemcpyDtoDAsync(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream) {
  return copy({dst, src, bytes}, stream);
}

SOFTGPU_API cuMemsetD8(CUdeviceptr address, unsigned char value, size_t count) {
  return fill(address, value, count);
}
SOFTGPU_API cuMemsetD8Async(CUdeviceptr address, unsigned char value, size_t count,
                            CUstream stream) {
  return answer_in_context(
      [&](Context& context) { fill_async(context, address, value, count, stream); });
}
SOFTGPU_API cuMemsetD32(CUdeviceptr address, unsigned value, size_t count) {
  return fill(address, value, count);
}
SOFTGPU_API cuMemsetD32Async(CUdeviceptr address, unsigned value, size_t count, CUstream stream) {
  return answer_in_context(
      [&](Context& context) { fill_async(context, address, value, count, stream); });
}
