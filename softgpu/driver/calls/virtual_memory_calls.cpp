// Virtual memory management: physical memory by handles, addresses, mappings, and memory that other
// processes and devices share.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

#include "softgpu/driver/calls/calls.hpp"
#include "softgpu/driver/device.hpp"
#include "softgpu/driver/memory/address_space.hpp"
#include "softgpu/driver/memory/multicast.hpp"
#include "softgpu/driver/memory/physical.hpp"
#include "softgpu/driver/memory/reservations.hpp"

using namespace softgpu::driver;

namespace {

void need_no_flags(unsigned long long flags, const char* call) {
  if (flags != 0) fail(CUDA_ERROR_INVALID_VALUE, "%s: flags are 0", call);
}

Device& device_at(const CUmemLocation& location) {
  if (location.type != CU_MEM_LOCATION_TYPE_DEVICE)
    fail(CUDA_ERROR_INVALID_VALUE, "memory lies on a device (CU_MEM_LOCATION_TYPE_DEVICE)");
  return device_of(location.id);
}

Device& device_for(const CUmemAllocationProp* prop) {
  if (!prop || prop->type != CU_MEM_ALLOCATION_TYPE_PINNED)
    fail(CUDA_ERROR_INVALID_VALUE, "device memory is of CU_MEM_ALLOCATION_TYPE_PINNED");
  if (prop->requestedHandleTypes == CU_MEM_HANDLE_TYPE_FABRIC)
    fail(CUDA_ERROR_NOT_SUPPORTED, "the softgpu has no fabric handles");
  return device_at(prop->location);
}

std::shared_ptr<Physical> memory_of(CUmemGenericAllocationHandle handle) {
  std::shared_ptr<Physical> memory = physical_memory().find(handle);
  if (!memory)
    fail(CUDA_ERROR_INVALID_VALUE, "%#llx is no handle of memory, or released already", handle);
  return memory;
}

int duplicate(int fd) {
  const int own = ::fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (own < 0) fail(CUDA_ERROR_OPERATING_SYSTEM, "dup: %s (see ulimit -n)", std::strerror(errno));
  return own;
}

// A dma-buf is the memory's file, opened anew: its position is the start of the range.
int open_at(int fd, std::size_t offset) {
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  const int own = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (own < 0) fail(CUDA_ERROR_OPERATING_SYSTEM, "open: %s (see ulimit -n)", std::strerror(errno));
  ::lseek(own, static_cast<off_t>(offset), SEEK_SET);
  return own;
}

}  // namespace

// ---- Physical memory --------------------------------------------------------------------------

SOFTGPU_API cuMemGetAllocationGranularity(size_t* granularity, const CUmemAllocationProp* prop,
                                          CUmemAllocationGranularity_flags) {
  return answer_initialised([&] {
    device_for(prop);
    required(granularity) = kGranule;
  });
}

SOFTGPU_API cuMemCreate(CUmemGenericAllocationHandle* handle, size_t bytes,
                        const CUmemAllocationProp* prop, unsigned long long flags) {
  return answer_initialised([&] {
    need(handle);
    need_no_flags(flags, "cuMemCreate");
    Device& device = device_for(prop);
    if (!is_whole(bytes))
      fail(CUDA_ERROR_INVALID_VALUE, "%zu bytes of memory: whole units of %zu are possible", bytes,
           kGranule);
    *handle = physical_memory().add(
        Physical::create(device, bytes, prop->requestedHandleTypes != CU_MEM_HANDLE_TYPE_NONE));
  });
}

// Mapped memory stays until it is unmapped.
SOFTGPU_API cuMemRelease(CUmemGenericAllocationHandle handle) {
  return answer_initialised([&] {
    if (!physical_memory().remove(handle) && !multicast_objects().remove(handle))
      fail(CUDA_ERROR_INVALID_VALUE, "%#llx is no handle of memory, or released already", handle);
  });
}

SOFTGPU_API cuMemExportToShareableHandle(void* shareable, CUmemGenericAllocationHandle handle,
                                         CUmemAllocationHandleType type, unsigned long long flags) {
  return answer_initialised([&] {
    need(shareable);
    need_no_flags(flags, "cuMemExportToShareableHandle");
    const auto give = [&](const auto& memory) {
      if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR || !memory.is_exportable())
        fail(CUDA_ERROR_INVALID_VALUE, "the memory was not made with handles of this type");
      *static_cast<int*>(shareable) = duplicate(memory.fd());
    };
    if (const auto object = multicast_objects().find(handle)) return give(*object);
    give(*memory_of(handle));
  });
}

SOFTGPU_API cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* handle, void* shareable,
                                           CUmemAllocationHandleType type) {
  return answer_initialised([&] {
    need(handle);
    if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
      fail(CUDA_ERROR_NOT_SUPPORTED, "the softgpu imports descriptors alone");
    const auto fd = static_cast<int>(reinterpret_cast<std::intptr_t>(shareable));
    *handle = MulticastObject::is_one(fd) ? multicast_objects().add(MulticastObject::import(fd))
                                          : physical_memory().add(Physical::import(fd));
  });
}

// ---- Addresses --------------------------------------------------------------------------------

SOFTGPU_API cuMemAddressReserve(CUdeviceptr* address, size_t bytes, size_t alignment, CUdeviceptr,
                                unsigned long long flags) {
  return answer_initialised([&] {
    need_no_flags(flags, "cuMemAddressReserve");
    required(address) = reservations().reserve(bytes, alignment);
  });
}

SOFTGPU_API cuMemAddressFree(CUdeviceptr address, size_t bytes) {
  return answer_initialised([&] { reservations().free(address, bytes); });
}

SOFTGPU_API cuMemMap(CUdeviceptr address, size_t bytes, size_t offset,
                     CUmemGenericAllocationHandle handle, unsigned long long flags) {
  return answer_initialised([&] {
    need_no_flags(flags, "cuMemMap");
    if (offset != 0) fail(CUDA_ERROR_INVALID_VALUE, "cuMemMap: the offset is 0");
    if (const auto object = multicast_objects().find(handle))
      return reservations().map(address, bytes, object);
    reservations().map(address, bytes, memory_of(handle));
  });
}

SOFTGPU_API cuMemUnmap(CUdeviceptr address, size_t bytes) {
  return answer_initialised([&] { reservations().unmap(address, bytes); });
}

SOFTGPU_API cuMemSetAccess(CUdeviceptr address, size_t bytes, const CUmemAccessDesc* access,
                           size_t count) {
  return answer_initialised([&] {
    if (count == 0) fail(CUDA_ERROR_INVALID_VALUE, "cuMemSetAccess: access for no device");
    need(access);
    for (std::size_t i = 0; i < count; ++i)
      reservations().set_access(address, bytes, access[i].flags,
                                device_at(access[i].location).ordinal());
  });
}

SOFTGPU_API cuMemGetAccess(unsigned long long* flags, const CUmemLocation* location,
                           CUdeviceptr address) {
  return answer_initialised([&] {
    required(flags) = reservations().access(address, device_at(required(location)).ordinal());
  });
}

// ---- Memory for other devices -----------------------------------------------------------------

SOFTGPU_API cuMemGetHandleForAddressRange(void* handle, CUdeviceptr address, size_t bytes,
                                          CUmemRangeHandleType type, unsigned long long flags) {
  return answer_in_context([&](Context&) {
    need(handle);
    need_no_flags(flags, "cuMemGetHandleForAddressRange");
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    if (type != CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD || bytes == 0 || address % page != 0 ||
        bytes % page != 0)
      fail(CUDA_ERROR_INVALID_VALUE, "a dma-buf of %zu bytes at %#llx: both are whole pages", bytes,
           address);
    const std::optional<Range> range = address_space().find(address);
    // cuMemAlloc allocates whole pages, of which a program has requested a part.
    const auto end = [&] { return (range->end() + page - 1) / page * page; };
    if (!range || range->fd < 0 || address + bytes > end())
      fail(CUDA_ERROR_INVALID_VALUE, "%zu bytes at %#llx are not memory of one allocation", bytes,
           address);
    *static_cast<int*>(handle) = open_at(range->fd, range->offset + (address - range->begin));
  });
}
