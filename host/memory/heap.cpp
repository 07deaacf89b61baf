#include "host/memory/heap.hpp"

#include <fmt/format.h>

#include "chime/abi/context.h"
#include "host/errors/error.hpp"

namespace chime::host {
namespace {

constexpr std::size_t kHeapGranule = 64 * 1024;

constexpr std::size_t heap_bytes(std::size_t user_bytes) {
  return abi::kHeapReserved + (user_bytes + kHeapGranule - 1) / kHeapGranule * kHeapGranule;
}

}  // namespace

Heap::Heap(Gpu& gpu, std::size_t user_bytes)
    : memory_(gpu.allocate_heap(heap_bytes(user_bytes))),
      allocator_(abi::kHeapReserved, memory_->bytes()) {
  // Barrier words start at zero; fresh memory of a GPU is not.
  gpu.set(base(), 0, abi::kHeapReserved);
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
  if (*offset < abi::kHeapReserved || (allocation && allocation->number <= own_))
    return fmt::format("heap + {}, which is Chime's own", *offset);
  if (!allocation) return fmt::format("heap + {}, which is in no allocation", *offset);
  return fmt::format("allocation #{} of {} bytes (at heap offset {}), offset {}",
                     allocation->number - own_, allocation->bytes, allocation->start,
                     *offset - allocation->start);
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
        "{} is not a symmetric address: it is outside the heap of this PE ({} to {})", address,
        fmt::ptr(base()), fmt::ptr(base() + this->bytes()));
  return fmt::format("{} bytes at heap + {} reach beyond the heap's end at {}", bytes, *offset,
                     this->bytes());
}

std::string Heap::why_misaligned(const void* address, std::size_t bytes) const {
  const auto offset = offset_of(address);
  return fmt::format("a word of {} bytes at {} is not aligned", bytes,
                     offset ? fmt::format("heap + {}", *offset) : fmt::format("{}", address));
}

std::byte* Heap::allocate_own(std::size_t bytes, std::size_t alignment) {
  std::byte* const memory = allocate(bytes, alignment);
  ++own_;
  return memory;
}

void Heap::take_back(const std::byte* memory) {
  const std::lock_guard lock(*mutex_);
  allocator_.take_back(*offset_of(memory));
}

std::byte* Heap::allocate(std::size_t bytes, std::size_t alignment) {
  const std::lock_guard lock(*mutex_);
  if (auto offset = allocator_.allocate(bytes, alignment)) return base() + *offset;
  throw Error(
      "symmetric heap", CHIMEX_ERR_OUT_OF_MEMORY,
      fmt::format("no room for {} bytes (alignment {}): {} of {} bytes are free, the largest "
                  "block has {}; make CHIME_SYMMETRIC_SIZE larger",
                  bytes, alignment, allocator_.free_bytes(), this->bytes() - abi::kHeapReserved,
                  allocator_.largest_free_block()));
}

void Heap::free(std::size_t offset) {
  check_allocation(offset);
  const std::lock_guard lock(*mutex_);
  allocator_.free(offset);
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
      throw Error(
          "symmetric heap", CHIMEX_ERR_INVALID,
          fmt::format("{} (heap + {}) is inside the heap but is not what chime_malloc returned",
                      address, offset));
  }
}

}  // namespace chime::host
