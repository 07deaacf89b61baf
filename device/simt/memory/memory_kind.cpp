#include "chime/device/simt/memory/memory_kind.hpp"

#include <cstdint>
#include <map>
#include <mutex>

#include "chime/device/simt/faults/immortal.hpp"

namespace chime::simt {
namespace {

std::uintptr_t number(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

struct Ranges {
  struct Range {
    std::uintptr_t end;
    MemoryKind kind;
    const MarkedMemory* owner;
  };
  std::mutex mutex;
  std::map<std::uintptr_t, Range> by_begin;
};

}  // namespace

MarkedMemory::MarkedMemory(const void* address, std::size_t bytes, MemoryKind kind)
    : address_(address) {
  auto& ranges = immortal<Ranges>();
  const std::lock_guard lock(ranges.mutex);
  ranges.by_begin[number(address)] = {number(address) + bytes, kind, this};
}

MarkedMemory::~MarkedMemory() {
  auto& ranges = immortal<Ranges>();
  const std::lock_guard lock(ranges.mutex);
  const auto found = ranges.by_begin.find(number(address_));
  if (found != ranges.by_begin.end() && found->second.owner == this) ranges.by_begin.erase(found);
}

MemoryKind kind_of_memory(const void* address) {
  auto& ranges = immortal<Ranges>();
  const std::lock_guard lock(ranges.mutex);
  auto behind = ranges.by_begin.upper_bound(number(address));
  if (behind == ranges.by_begin.begin()) return MemoryKind::kOther;
  const auto& [begin, range] = *--behind;
  return number(address) < range.end ? range.kind : MemoryKind::kOther;
}

}  // namespace chime::simt
