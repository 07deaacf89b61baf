#include "softgpu/driver/memory/address_space.hpp"

#include <iterator>

#include "softgpu/driver/failure.hpp"
#include "softgpu/driver/immortal.hpp"

namespace softgpu::driver {

AddressSpace& address_space() { return immortal<AddressSpace>(); }

AddressSpace::Ranges::const_iterator AddressSpace::around(CUdeviceptr address) const {
  auto next = ranges_.upper_bound(address);
  if (next == ranges_.begin()) return ranges_.end();
  --next;
  return address < next->second.end() ? next : ranges_.end();
}

void AddressSpace::add(Range range) {
  const std::lock_guard lock(mutex_);
  const CUdeviceptr begin = range.begin;
  ranges_.insert_or_assign(begin, std::move(range));
}

std::optional<Range> AddressSpace::find(CUdeviceptr address) const {
  const std::lock_guard lock(mutex_);
  const auto found = around(address);
  if (found == ranges_.end()) return std::nullopt;
  return found->second;
}

std::optional<Range> AddressSpace::remove(CUdeviceptr begin) {
  const std::lock_guard lock(mutex_);
  const auto found = ranges_.find(begin);
  if (found == ranges_.end()) return std::nullopt;
  Range range = std::move(found->second);
  ranges_.erase(found);
  return range;
}

bool AddressSpace::overlaps(CUdeviceptr begin, std::size_t bytes) const {
  const std::lock_guard lock(mutex_);
  if (around(begin) != ranges_.end()) return true;
  const auto next = ranges_.lower_bound(begin);
  return next != ranges_.end() && next->first - begin < bytes;
}

void AddressSpace::remove_of(CUcontext context) {
  const std::lock_guard lock(mutex_);
  std::erase_if(ranges_, [&](const auto& entry) { return entry.second.context == context; });
}

void AddressSpace::remove_variables_of(const Module& module) {
  const std::lock_guard lock(mutex_);
  std::erase_if(ranges_, [&](const auto& entry) { return entry.second.module == &module; });
}

// Neighbouring ranges count as one: a heap may be mapped in parts.
std::optional<Range> AddressSpace::check(CUdeviceptr address, std::size_t bytes,
                                         Access access) const {
  const std::lock_guard lock(mutex_);
  const auto first = around(address);
  if (first == ranges_.end()) return std::nullopt;
  const CUdeviceptr end = address + bytes;
  for (auto at = first;; ++at) {
    const Range* const range = at == ranges_.end() ? nullptr : &at->second;
    if (!range || (at != first && range->begin != std::prev(at)->second.end()))
      fail(CUDA_ERROR_INVALID_VALUE,
           "%zu bytes from %#llx on reach beyond %#llx, where the memory ends", bytes, address,
           std::prev(at)->second.end());
    if (range->kind == Kind::kReserved)
      fail(CUDA_ERROR_INVALID_VALUE, "nothing is mapped at %#llx (cuMemMap)", range->begin);
    if (access == Access::kWrite ? !range->can_write : !range->can_read)
      fail(CUDA_ERROR_INVALID_VALUE, "the memory at %#llx may not be %s (cuMemSetAccess)",
           range->begin, access == Access::kWrite ? "written" : "read");
    if (end <= range->end()) return first->second;
  }
}

}  // namespace softgpu::driver
