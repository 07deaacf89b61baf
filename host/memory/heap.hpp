// This PE's symmetric heap: the memory, what is handed out of it, and whose address an address is.
//
// Its first bytes and its last belong to Chime (the areas of teams, host/teams); the allocator has
// the rest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "host/gpu/gpu.hpp"
#include "host/memory/allocator.hpp"
#include "host/memory/known_allocations.hpp"

namespace chime::host {

class Heap {
 public:
  // Chime's own memory behind a program's: `bytes`, the first of which are zero.
  struct OwnMemory {
    std::size_t bytes = 0, zero_bytes = 0;
  };

  // Reserves `user_bytes` for allocations.
  Heap(Gpu& gpu, std::size_t user_bytes, OwnMemory own = {0, 0});

  // Chime's, at the same offset on every PE: heaps are of one size.
  std::byte* own_memory() const { return base() + end_; }

  const std::shared_ptr<DeviceMemory>& memory() const { return memory_; }
  std::byte* base() const { return memory_->address(); }
  std::size_t bytes() const { return memory_->bytes(); }
  std::size_t program_bytes() const { return end_; }  // of them, from the base on

  // The offset of an address inside the heap; empty for any other.
  std::optional<std::size_t> offset_of(const void* address) const;

  // An address in words: its allocation and the offset there ("allocation #2 of 100 bytes (at heap
  // offset 66048), offset 8"; the first that the program made is #1), or that it is in none. For an
  // address outside the heap the address. By any thread.
  std::string name_of(const void* address) const;

  // The reason why `bytes` at `address` are not symmetric memory. REQUIRES: they are not.
  std::string why_outside(const void* address, std::size_t bytes) const;

  // The same for an address in it that is no multiple of `bytes`, the size of a word.
  std::string why_misaligned(const void* address, std::size_t bytes) const;

  // From now on device code learns of each change, and refuses accesses that leave the program's
  // allocations (CHIME_CHECK=2), of which there may be `most` at a time. Throws Error if there is
  // no memory for that.
  static constexpr std::size_t kMostWithBounds = 65536;
  void check_bounds(Gpu& gpu, std::size_t most = kMostWithBounds);
  // The table that device code reads; null where bounds are not checked.
  const abi::Allocations* known_allocations() const { return known_ ? &known_->table() : nullptr; }

  // Whether the `bytes` (> 0) at `address` lie in one of the program's allocations, or begin
  // outside the heap. True where bounds are not checked. By any thread.
  bool is_in_bounds(const void* address, std::size_t bytes) const;
  // The reason why these bytes, of PE `pe`, are refused: which allocation they leave, and what to
  // do.
  std::string why_out_of_bounds(const void* address, std::size_t bytes, int pe) const;

  // Throws Error{OUT_OF_MEMORY} with what was asked for, what is free and the variable to change.
  std::byte* allocate(std::size_t bytes, std::size_t alignment);
  // The same for Chime's own use. REQUIRES: the program has allocated nothing.
  std::byte* allocate_own(std::size_t bytes, std::size_t alignment);
  // Undoes allocate. REQUIRES: `memory` is what it returned last.
  void take_back(const std::byte* memory);

  // Throws Error{INVALID} when `offset` is not the start of an allocation.
  void free(std::size_t offset);
  // Throws the same, and frees nothing.
  void check_allocation(std::size_t offset) const;

 private:
  std::byte* take(std::size_t bytes, std::size_t alignment);
  bool is_own(const Allocator::Allocation& allocation) const { return allocation.number <= own_; }
  std::string named(const Allocator::Allocation& allocation) const;
  std::string trespass(std::size_t offset, std::size_t bytes) const;
  void tell_kernels();

  bool is_chimes(std::size_t offset) const { return offset < abi::kHeapReserved || offset >= end_; }

  std::shared_ptr<DeviceMemory> memory_;
  std::size_t end_;  // the offset behind what the allocator has
  // Held where allocator_ is changed or read: reports ask it, whatever the program does meanwhile.
  std::unique_ptr<std::mutex> mutex_ = std::make_unique<std::mutex>();
  Allocator allocator_;
  std::uint64_t own_ = 0;                    // allocations that are Chime's, the first ones
  std::unique_ptr<KnownAllocations> known_;  // null: bounds are not checked
};

}  // namespace chime::host
