#include "host/memory/heap.hpp"

#include <fmt/format.h>

#include <vector>

#include "chime/abi/context.h"
#include "host/errors/error.hpp"
#include "host/settings/spelling.hpp"

namespace chime::host {
namespace {

constexpr std::size_t kHeapGranule = 64 * 1024;

constexpr std::size_t heap_bytes(std::size_t user_bytes) {
  return abi::kHeapReserved + (user_bytes + kHeapGranule - 1) / kHeapGranule * kHeapGranule;
}

std::string counted(std::size_t bytes) {
  return fmt::format("{} byte{}", bytes, bytes == 1 ? "" : "s");
}

}  // namespace

Heap::Heap(Gpu& gpu, std::size_t user_bytes, OwnMemory own)
    : memory_(gpu.allocate_heap(heap_bytes(user_bytes) + own.bytes)),
      end_(memory_->bytes() - own.bytes),
      allocator_(abi::kHeapReserved, end_) {
  // The words of meetings start at zero. Fresh memory of the host does; that of a GPU does not.
  if (gpu.is_cpu()) return;
  gpu.set(base(), 0, abi::kHeapReserved);
  if (own.zero_bytes != 0) gpu.set(own_memory(), 0, own.zero_bytes);
}

std::optional<std::size_t> Heap::offset_of(const void* address) const {
  auto at = reinterpret_cast<std::uintptr_t>(address);
  auto start = reinterpret_cast<std::uintptr_t>(base());
  if (at < start || at - start >= bytes()) return std::nullopt;
  return at - start;
}

std::string Heap::name_of(const void* address) const {
  const auto offset = offset_of(address);
  if (!offset) return fmt::format("{}", address);
  const std::lock_guard lock(*mutex_);
  const auto allocation = allocator_.at(*offset);
  if (is_chimes(*offset) || (allocation && is_own(*allocation)))
    return fmt::format("heap + {}, which is Chime's own", *offset);
  if (!allocation) return fmt::format("heap + {}, which is in no allocation", *offset);
  return fmt::format("{}, offset {}", named(*allocation), *offset - allocation->start);
}

// The first that the program made is #1.
std::string Heap::named(const Allocator::Allocation& allocation) const {
  return fmt::format("allocation #{} of {} bytes (at heap offset {})", allocation.number - own_,
                     allocation.bytes, allocation.start);
}

std::string Heap::why_outside(const void* address, std::size_t bytes) const {
  const auto offset = offset_of(address);
  const std::string place = offset ? fmt::format("heap + {}", *offset) : fmt::format("{}", address);
  if (bytes == SIZE_MAX) return "more bytes than size_t counts, at " + place;  // CHIME_BYTES
  if (bytes > PTRDIFF_MAX)
    return fmt::format("{} bytes at {}, more than any memory has: is the count negative?", bytes,
                       place);
  if (!offset)
    return fmt::format(
        "{} is not a symmetric address: it is outside the heap of this PE ({} to {})",
        address == nullptr ? "null" : place, fmt::ptr(base()), fmt::ptr(base() + this->bytes()));
  return fmt::format("{} bytes at heap + {} reach beyond the heap's end at {}", bytes, *offset,
                     program_bytes());
}

std::string Heap::why_misaligned(const void* address, std::size_t bytes) const {
  const auto offset = offset_of(address);
  return fmt::format("a word of {} bytes at {} is not aligned", bytes,
                     offset ? fmt::format("heap + {}", *offset) : fmt::format("{}", address));
}

// ---- Bounds of allocations ----------------------------------------------------------------------

void Heap::check_bounds(Gpu& gpu, std::size_t most) {
  const std::lock_guard lock(*mutex_);
  known_ = std::make_unique<KnownAllocations>(gpu, most);
  tell_kernels();
}

void Heap::tell_kernels() {
  if (!known_) return;
  std::vector<abi::Allocation> all;
  allocator_.for_each([&](const Allocator::Allocation& each) {
    if (!is_own(each)) all.push_back({each.start, each.start + each.bytes});
  });
  known_->tell(all);
}

bool Heap::is_in_bounds(const void* address, std::size_t bytes) const {
  const auto offset = offset_of(address);
  if (!known_ || !offset) return true;
  const std::lock_guard lock(*mutex_);
  const auto last = allocator_.last_before(*offset);
  if (!last || is_own(*last)) return false;
  const std::size_t at = *offset - last->start;
  return at < last->bytes && bytes <= last->bytes - at;
}

std::string Heap::why_out_of_bounds(const void* address, std::size_t bytes, int pe) const {
  const auto offset = offset_of(address);
  if (!offset || bytes > PTRDIFF_MAX) return why_outside(address, bytes);
  const std::lock_guard lock(*mutex_);
  return fmt::format("{} at heap + {} of PE {} {} (CHIME_CHECK=2)", counted(bytes), *offset, pe,
                     trespass(*offset, bytes));
}

// The harm that the bytes would do if they were allowed, and the remedy. The allocations may have
// changed since the refusal.
std::string Heap::trespass(std::size_t offset, std::size_t bytes) const {
  const auto last = allocator_.last_before(offset);
  if (is_chimes(offset) || (last && is_own(*last) && allocator_.at(offset)))
    return "would touch memory that is Chime's own; is the address that of an allocation?";
  if (const auto freed = allocator_.freed_at(offset))
    return fmt::format("would touch {}, which is freed; free it after its last use", named(*freed));
  if (!last || is_own(*last))
    return "would begin before the first allocation; is the address that of an allocation?";
  const std::size_t at = offset - last->start;
  if (at >= last->bytes)
    return fmt::format("would begin {} behind the end of {}; is the index in its range?",
                       counted(at - last->bytes), named(*last));
  const std::size_t fit = last->bytes - at;
  if (bytes <= fit) return fmt::format("were in no allocation, and are in {} now", named(*last));
  return fmt::format("would end {} after {}; allocate more, or move less", counted(bytes - fit),
                     named(*last));
}

// ---- Allocations --------------------------------------------------------------------------------

std::byte* Heap::allocate_own(std::size_t bytes, std::size_t alignment) {
  const std::lock_guard lock(*mutex_);
  std::byte* const memory = take(bytes, alignment);
  ++own_;
  tell_kernels();
  return memory;
}

void Heap::take_back(const std::byte* memory) {
  const std::lock_guard lock(*mutex_);
  allocator_.take_back(*offset_of(memory));
  tell_kernels();
}

std::byte* Heap::allocate(std::size_t bytes, std::size_t alignment) {
  const std::lock_guard lock(*mutex_);
  if (known_ && allocator_.allocations() - own_ >= known_->most())
    throw Error("symmetric heap", CHIMEX_ERR_OUT_OF_MEMORY,
                fmt::format("{} allocations are the most whose bounds are checked at a time; free "
                            "some, or set CHIME_CHECK=1",
                            known_->most()));
  std::byte* const memory = take(bytes, alignment);
  tell_kernels();
  return memory;
}

std::byte* Heap::take(std::size_t bytes, std::size_t alignment) {
  if (auto offset = allocator_.allocate(bytes, alignment)) return base() + *offset;
  throw Error(
      "symmetric heap", CHIMEX_ERR_OUT_OF_MEMORY,
      fmt::format("no room for {} bytes (alignment {}): {} of {} bytes are free, the largest "
                  "block has {}; make CHIME_SYMMETRIC_SIZE larger",
                  bytes, alignment, allocator_.free_bytes(), end_ - abi::kHeapReserved,
                  allocator_.largest_free_block()));
}

void Heap::free(std::size_t offset) {
  check_allocation(offset);
  const std::lock_guard lock(*mutex_);
  allocator_.free(offset);
  tell_kernels();
}

void Heap::check_allocation(std::size_t offset) const {
  const void* address = base() + offset;
  const std::lock_guard lock(*mutex_);
  switch (allocator_.may_free(offset)) {
    case Allocator::Freed::kYes:
      return;
    case Allocator::Freed::kTwice:
      throw Error("symmetric heap", CHIMEX_ERR_INVALID,
                  fmt::format("{} (heap + {}) is freed a second time", address, offset));
    case Allocator::Freed::kNotAnAllocation:
      throw Error("symmetric heap", CHIMEX_ERR_INVALID,
                  fmt::format("{} (heap + {}) is inside the heap but is not what {} returned",
                              address, offset, spoken("chime_malloc")));
  }
}

}  // namespace chime::host
