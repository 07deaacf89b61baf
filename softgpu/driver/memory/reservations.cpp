#include "softgpu/driver/memory/reservations.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <optional>

#include "chime/device/simt/memory/memory_kind.hpp"
#include "softgpu/driver/failure.hpp"
#include "softgpu/driver/immortal.hpp"
#include "softgpu/driver/memory/address_space.hpp"
#include "softgpu/driver/memory/multicast.hpp"
#include "softgpu/driver/memory/physical.hpp"

namespace softgpu::driver {

namespace {

void* at(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

Range reserved_range(CUdeviceptr begin, std::size_t bytes) {
  return {.begin = begin, .bytes = bytes, .kind = Kind::kReserved};
}

// The owner of a mapped range's memory, and its kind on a GPU.
struct Mapped {
  std::shared_ptr<Physical> memory;
  chime::simt::MarkedMemory marked;
};

void need_units(CUdeviceptr address, std::size_t bytes, std::size_t most) {
  if (address % kGranule != 0 || !is_whole(bytes))
    fail(CUDA_ERROR_INVALID_VALUE, "%zu bytes at %#llx: both are multiples of %zu", bytes, address,
         kGranule);
  if (bytes > most) fail(CUDA_ERROR_INVALID_VALUE, "%zu bytes of memory that has %zu", bytes, most);
}

}  // namespace

Reservations& reservations() { return immortal<Reservations>(); }

// ---- Addresses --------------------------------------------------------------------------------

CUdeviceptr Reservations::reserve(std::size_t bytes, std::size_t alignment) {
  if (!is_whole(bytes))
    fail(CUDA_ERROR_INVALID_VALUE, "%zu bytes of addresses: whole units of %zu are possible", bytes,
         kGranule);
  if (alignment != 0 && !std::has_single_bit(alignment))
    fail(CUDA_ERROR_INVALID_VALUE, "an alignment of %zu is no power of two", alignment);
  const std::size_t align = std::max(alignment, kGranule);
  void* const place =
      ::mmap(nullptr, bytes + align, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (place == MAP_FAILED) fail(CUDA_ERROR_OUT_OF_MEMORY, "no addresses for %zu bytes", bytes);
  const auto begin = reinterpret_cast<std::uintptr_t>(place);
  const std::uintptr_t first = (begin + align - 1) / align * align;
  if (first > begin) ::munmap(place, first - begin);
  ::munmap(at(first + bytes), begin + align - first);
  const std::lock_guard lock(mutex_);
  reserved_[first] = bytes;
  address_space().add(reserved_range(first, bytes));
  return first;
}

void Reservations::free(CUdeviceptr address, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto found = reserved_.find(address);
  if (found == reserved_.end() || found->second != bytes)
    fail(CUDA_ERROR_INVALID_VALUE, "no %zu bytes of addresses were reserved at %#llx", bytes,
         address);
  const auto mapping = mappings_.lower_bound(address);
  if (mapping != mappings_.end() && mapping->first < address + bytes)
    fail(CUDA_ERROR_INVALID_VALUE, "memory is mapped at %#llx still (cuMemUnmap)", mapping->first);
  reserved_.erase(found);
  address_space().remove(address);
  ::munmap(at(address), bytes);
}

void Reservations::need_reserved(CUdeviceptr address, std::size_t bytes) const {
  auto next = reserved_.upper_bound(address);
  if (next == reserved_.begin() || (--next, address + bytes > next->first + next->second))
    fail(CUDA_ERROR_INVALID_VALUE, "%zu bytes at %#llx are not all reserved", bytes, address);
}

// ---- Mappings ---------------------------------------------------------------------------------

// REQUIRES: mutex_, likewise below.
Range Reservations::need_hole(CUdeviceptr address, std::size_t bytes) const {
  need_reserved(address, bytes);
  const std::optional<Range> hole = address_space().find(address);
  if (!hole || hole->kind != Kind::kReserved || hole->end() < address + bytes)
    fail(CUDA_ERROR_INVALID_VALUE, "memory is mapped already in %zu bytes at %#llx", bytes,
         address);
  return *hole;
}

// The address space holds mapped ranges and, between them, reserved ones.
void Reservations::put_into(const Range& hole, Range mapped) {
  address_space().remove(hole.begin);
  if (mapped.begin > hole.begin)
    address_space().add(reserved_range(hole.begin, mapped.begin - hole.begin));
  if (mapped.end() < hole.end())
    address_space().add(reserved_range(mapped.end(), hole.end() - mapped.end()));
  address_space().add(std::move(mapped));
}

void Reservations::map(CUdeviceptr address, std::size_t bytes,
                       const std::shared_ptr<Physical>& memory) {
  need_units(address, bytes, memory->bytes());
  const std::lock_guard lock(mutex_);
  const Range hole = need_hole(address, bytes);
  if (::mmap(at(address), bytes, PROT_NONE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, memory->fd(),
             0) == MAP_FAILED)
    fail(CUDA_ERROR_OPERATING_SYSTEM, "mmap: %s", std::strerror(errno));
  ::madvise(at(address), bytes, MADV_HUGEPAGE);
  mappings_[address] = {bytes, {}};
  put_into(hole, {.begin = address,
                  .bytes = bytes,
                  .kind = Kind::kMapped,
                  .device = memory->ordinal(),
                  .can_read = false,
                  .can_write = false,
                  .memory = std::shared_ptr<Mapped>(
                      new Mapped{memory, {at(address), bytes, chime::simt::MemoryKind::kDevice}}),
                  .fd = memory->fd()});
}

void Reservations::map(CUdeviceptr address, std::size_t bytes,
                       const std::shared_ptr<MulticastObject>& object) {
  need_units(address, bytes, object->bytes());
  object->wait_for_devices("cuMemMap");
  const std::lock_guard lock(mutex_);
  const Range hole = need_hole(address, bytes);
  mappings_[address] = {.bytes = bytes, .access = {}, .is_multicast = true};
  put_into(hole, {.begin = address,
                  .bytes = bytes,
                  .kind = Kind::kMulticast,
                  .can_read = false,
                  .can_write = false,
                  .memory = object});
}

Reservations::Mappings::iterator Reservations::need_whole_mappings(CUdeviceptr address,
                                                                   std::size_t bytes,
                                                                   const char* doing) {
  const auto first = mappings_.find(address);
  CUdeviceptr end = address;
  for (auto at = first; at != mappings_.end() && at->first == end && end < address + bytes; ++at)
    end += at->second.bytes;
  if (bytes == 0 || end != address + bytes)
    fail(CUDA_ERROR_INVALID_VALUE, "%zu bytes at %#llx to %s: they are not whole mappings", bytes,
         address, doing);
  return first;
}

void Reservations::unmap(CUdeviceptr address, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  auto mapping = need_whole_mappings(address, bytes, "unmap");
  while (mapping != mappings_.end() && mapping->first < address + bytes) {
    const std::optional<Range> ended = address_space().remove(mapping->first);
    ::mmap(at(mapping->first), mapping->second.bytes, PROT_NONE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
    mapping = mappings_.erase(mapping);
  }
  // Becomes one hole again, with its neighbours.
  CUdeviceptr begin = address, end = address + bytes;
  const auto before = address_space().find(begin - 1);
  const auto after = address_space().find(end);
  auto reservation = std::prev(reserved_.upper_bound(address));
  if (before && before->kind == Kind::kReserved && begin > reservation->first)
    begin = before->begin;
  if (after && after->kind == Kind::kReserved && end < reservation->first + reservation->second) {
    end = after->end();
    address_space().remove(after->begin);
  }
  address_space().add(reserved_range(begin, end - begin));
}

void Reservations::set_access(CUdeviceptr address, std::size_t bytes, CUmemAccess_flags access,
                              int device) {
  const std::lock_guard lock(mutex_);
  auto mapping = need_whole_mappings(address, bytes, "give access to");
  for (; mapping != mappings_.end() && mapping->first < address + bytes; ++mapping) {
    mapping->second.access[device] = access;
    protect(mapping->first, mapping->second);
  }
}

// All devices and the host are this process: the pages allow what any of them may do.
void Reservations::protect(CUdeviceptr address, const Mapping& mapping) {
  if (mapping.is_multicast) return;
  bool reads = false, writes = false;
  for (const auto& [device, access] : mapping.access) {
    reads |= access != CU_MEM_ACCESS_FLAGS_PROT_NONE;
    writes |= access == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  }
  const int protection = (reads ? PROT_READ : 0) | (writes ? PROT_WRITE : 0);
  if (::mprotect(at(address), mapping.bytes, protection) != 0)
    fail(CUDA_ERROR_OPERATING_SYSTEM, "mprotect: %s", std::strerror(errno));
  address_space().change(address, [&](Range& range) {
    range.can_read = reads;
    range.can_write = writes;
  });
}

CUmemAccess_flags Reservations::access(CUdeviceptr address, int device) const {
  const std::lock_guard lock(mutex_);
  auto next = mappings_.upper_bound(address);
  if (next == mappings_.begin() || (--next, address >= next->first + next->second.bytes))
    fail(CUDA_ERROR_INVALID_VALUE, "nothing is mapped at %#llx", address);
  const auto found = next->second.access.find(device);
  return found == next->second.access.end() ? CU_MEM_ACCESS_FLAGS_PROT_NONE : found->second;
}

}  // namespace softgpu::driver
