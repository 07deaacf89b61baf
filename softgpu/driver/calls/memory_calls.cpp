// Device memory, pinned memory of the host, and the driver's knowledge of an address.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "chime/device/simt/memory/memory_kind.hpp"
#include "softgpu/driver/calls/calls.hpp"
#include "softgpu/driver/device.hpp"
#include "softgpu/driver/memory/address_space.hpp"
#include "softgpu/driver/memory/pool.hpp"

using namespace softgpu::driver;

namespace {

using chime::simt::MarkedMemory;
using chime::simt::MemoryKind;

// A piece of device memory, and its kind on a GPU.
struct DevicePiece {
  std::shared_ptr<PoolPiece> piece;
  MarkedMemory marked;
};

CUdeviceptr device_address(const void* address) { return reinterpret_cast<CUdeviceptr>(address); }

void wait_for_users_of(const Range& range) {
  if (const std::shared_ptr<Context> owner = find_context(range.context)) owner->synchronize();
}

Range allocated_at(CUdeviceptr address) {
  const std::optional<Range> range = address_space().find(address);
  if (range && range->begin == address &&
      (range->kind == Kind::kDevice || range->kind == Kind::kManaged))
    return *range;
  fail(CUDA_ERROR_INVALID_VALUE, "%#llx is not what cuMemAlloc gave, or freed already", address);
}

CUdeviceptr allocate(Context& context, std::size_t bytes, Kind kind) {
  if (bytes == 0) fail(CUDA_ERROR_INVALID_VALUE, "0 bytes of device memory");
  std::shared_ptr<PoolPiece> piece = context.device().pool().allocate(bytes);
  const std::byte* const address = piece->address();
  const int fd = piece->fd();
  const std::size_t offset = piece->offset();
  auto memory = std::shared_ptr<DevicePiece>(
      new DevicePiece{std::move(piece), {address, bytes, MemoryKind::kDevice}});
  address_space().add({.begin = device_address(address),
                       .bytes = bytes,
                       .kind = kind,
                       .context = context.handle(),
                       .device = context.device().ordinal(),
                       .memory = std::move(memory),
                       .fd = fd,
                       .offset = offset});
  return device_address(address);
}

// Pages of the host that the driver itself has mapped.
struct HostPages {
  explicit HostPages(std::size_t size)
      : bytes(size),
        address(
            ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    if (address == MAP_FAILED) fail(CUDA_ERROR_OUT_OF_MEMORY, "%zu bytes of the host", bytes);
  }
  HostPages(const HostPages&) = delete;
  ~HostPages() { ::munmap(address, bytes); }
  const std::size_t bytes;
  void* const address;
};

// Whether all pages of it are mapped in this process, which mincore says.
bool is_mapped(const void* address, std::size_t bytes) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto first = reinterpret_cast<std::uintptr_t>(address) & ~(page - 1);
  const auto end = (reinterpret_cast<std::uintptr_t>(address) + bytes + page - 1) & ~(page - 1);
  std::vector<unsigned char> resident((end - first) / page);
  return ::mincore(reinterpret_cast<void*>(first), end - first, resident.data()) == 0;
}

Range need_range(CUdeviceptr address) {
  const std::optional<Range> range = address_space().find(address);
  if (!range || range->kind == Kind::kReserved)
    fail(CUDA_ERROR_INVALID_VALUE, "%#llx is no address of the driver's", address);
  return *range;
}

}  // namespace

// ---- Device memory ----------------------------------------------------------------------------

SOFTGPU_API cuMemGetInfo(size_t* free, size_t* total) {
  return answer_in_context([&](Context& context) {
    required(free) = context.device().free_bytes();
    required(total) = context.device().total_bytes();
  });
}

SOFTGPU_API cuMemAlloc(CUdeviceptr* address, size_t bytes) {
  return answer_uncaptured("cuMemAlloc", [&](Context& context) {
    required(address) = allocate(context, bytes, Kind::kDevice);
  });
}

SOFTGPU_API cuMemAllocManaged(CUdeviceptr* address, size_t bytes, unsigned flags) {
  return answer_uncaptured("cuMemAllocManaged", [&](Context& context) {
    if (flags != CU_MEM_ATTACH_GLOBAL)
      fail(CUDA_ERROR_INVALID_VALUE, "cuMemAllocManaged: flags %#x", flags);
    required(address) = allocate(context, bytes, Kind::kManaged);
  });
}

// Waits for all work of the context that allocated it, as the driver does: a kernel may still use
// the memory.
SOFTGPU_API cuMemFree(CUdeviceptr address) {
  return answer_uncaptured("cuMemFree", [&](Context&) {
    if (address == 0) return;
    wait_for_users_of(allocated_at(address));
    address_space().remove(address);
  });
}

// Waits for nothing: the memory is freed when the stream has done its earlier work.
SOFTGPU_API cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  return answer_in_context([&](Context& context) {
    if (address == 0) return;
    allocated_at(address);
    context.queue_call(*context.stream_of(stream), [address] { address_space().remove(address); });
  });
}

SOFTGPU_API cuMemGetAddressRange(CUdeviceptr* base, size_t* bytes, CUdeviceptr address) {
  return answer_in_context([&](Context&) {
    const std::optional<Range> range = address_space().find(address);
    if (!range) fail(CUDA_ERROR_NOT_FOUND, "%#llx is no address of the driver's", address);
    if (base) *base = range->begin;
    if (bytes) *bytes = range->bytes;
  });
}

// ---- Memory of the host -----------------------------------------------------------------------

// Memory that only the device reads may be write-combined; here that makes no difference.
SOFTGPU_API cuMemHostAlloc(void** address, size_t bytes, unsigned flags) {
  return answer_uncaptured("cuMemHostAlloc", [&](Context& context) {
    need(address);
    if (flags &
        ~(CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED))
      fail(CUDA_ERROR_INVALID_VALUE, "pinned memory with flags %#x", flags);
    if (bytes == 0) fail(CUDA_ERROR_INVALID_VALUE, "0 bytes of pinned memory");
    auto pages = std::make_shared<HostPages>(bytes);
    *address = pages->address;
    address_space().add({.begin = device_address(*address),
                         .bytes = bytes,
                         .kind = Kind::kHost,
                         .context = context.handle(),
                         .device = context.device().ordinal(),
                         .memory = pages});
  });
}

SOFTGPU_API cuMemFreeHost(void* address) {
  return answer_uncaptured("cuMemFreeHost", [&](Context&) {
    const std::optional<Range> range = address_space().find(device_address(address));
    if (!range || range->begin != device_address(address) || range->kind != Kind::kHost)
      fail(CUDA_ERROR_INVALID_VALUE, "%p is not what cuMemHostAlloc gave, or freed already",
           address);
    wait_for_users_of(*range);
    address_space().remove(range->begin);
  });
}

SOFTGPU_API cuMemHostRegister(void* address, size_t bytes, unsigned flags) {
  return answer_uncaptured("cuMemHostRegister", [&](Context& context) {
    constexpr unsigned kKnown =
        CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP | CU_MEMHOSTREGISTER_IOMEMORY;
    if (!address || bytes == 0 || (flags & ~kKnown))
      fail(CUDA_ERROR_INVALID_VALUE, "cuMemHostRegister: %zu bytes at %p, flags %#x", bytes,
           address, flags);
    if (!is_mapped(address, bytes))
      fail(CUDA_ERROR_INVALID_VALUE, "cuMemHostRegister: not all of %zu bytes at %p is mapped",
           bytes, address);
    if (address_space().overlaps(device_address(address), bytes))
      fail(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, "a part of %zu bytes at %p is registered",
           bytes, address);
    std::shared_ptr<void> marked;
    if (flags & CU_MEMHOSTREGISTER_IOMEMORY)
      marked = std::make_shared<MarkedMemory>(address, bytes, MemoryKind::kBar);
    address_space().add({.begin = device_address(address),
                         .bytes = bytes,
                         .kind = Kind::kRegistered,
                         .context = context.handle(),
                         .device = context.device().ordinal(),
                         .memory = std::move(marked)});
  });
}

SOFTGPU_API cuMemHostUnregister(void* address) {
  return answer_uncaptured("cuMemHostUnregister", [&](Context&) {
    const std::optional<Range> range = address_space().find(device_address(address));
    if (!range || range->begin != device_address(address) || range->kind != Kind::kRegistered)
      fail(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, "no registered memory begins at %p", address);
    address_space().remove(range->begin);
  });
}

SOFTGPU_API cuMemHostGetDevicePointer(CUdeviceptr* device, void* host, unsigned flags) {
  return answer_in_context([&](Context&) {
    if (flags != 0) fail(CUDA_ERROR_INVALID_VALUE, "cuMemHostGetDevicePointer: flags are 0");
    const std::optional<Range> range = address_space().find(device_address(host));
    if (!range || !range->is_of_host())
      fail(CUDA_ERROR_INVALID_VALUE, "%p is not pinned memory of the host", host);
    required(device) = device_address(host);
  });
}

// ---- Addresses --------------------------------------------------------------------------------

SOFTGPU_API cuPointerGetAttribute(void* value, CUpointer_attribute which, CUdeviceptr address) {
  return answer_in_context([&](Context&) {
    need(value);
    const Range range = need_range(address);
    switch (which) {
      case CU_POINTER_ATTRIBUTE_CONTEXT:
        *static_cast<CUcontext*>(value) = range.context;
        return;
      case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *static_cast<CUmemorytype*>(value) =
            range.is_of_host() ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
        return;
      case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        *static_cast<CUdeviceptr*>(value) = address;
        return;
      case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        if (!range.is_of_host() && range.kind != Kind::kManaged)
          fail(CUDA_ERROR_INVALID_VALUE, "%#llx is device memory, which the host has no address of",
               address);
        *static_cast<void**>(value) = reinterpret_cast<void*>(address);
        return;
      case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        *static_cast<unsigned*>(value) = range.kind == Kind::kManaged;
        return;
      case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *static_cast<int*>(value) = range.device;
        return;
      case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        *static_cast<CUdeviceptr*>(value) = range.begin;
        return;
      case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        *static_cast<std::size_t*>(value) = range.bytes;
        return;
      case CU_POINTER_ATTRIBUTE_MAPPED:
        *static_cast<int*>(value) = 1;
        return;
      case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
        *static_cast<int*>(value) = range.sync_memops;
        return;
    }
    fail(CUDA_ERROR_INVALID_VALUE, "%d is no attribute of an address", static_cast<int>(which));
  });
}

SOFTGPU_API cuPointerSetAttribute(const void* value, CUpointer_attribute which,
                                  CUdeviceptr address) {
  return answer_in_context([&](Context&) {
    need(value);
    if (which != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS)
      fail(CUDA_ERROR_INVALID_VALUE, "this attribute of an address cannot be set");
    const bool wanted = *static_cast<const unsigned*>(value) != 0;
    address_space().change(need_range(address).begin,
                           [&](Range& range) { range.sync_memops = wanted; });
  });
}
