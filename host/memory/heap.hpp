// This PE's symmetric heap: the memory, what is handed out of it, and whose address an address is.
//
// Its first kHeapReserved bytes belong to Chime (abi::SyncArea at offset 0); the allocator has the
// rest.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "host/gpu/gpu.hpp"
#include "host/memory/allocator.hpp"

namespace chime::host {

class Heap {
 public:
  // Reserves `user_bytes` for allocations, and Chime's part.
  Heap(Gpu& gpu, std::size_t user_bytes);

  const std::shared_ptr<DeviceMemory>& memory() const { return memory_; }
  std::byte* base() const { return memory_->address(); }
  std::size_t bytes() const { return memory_->bytes(); }

  // The offset of an address inside the heap; empty for any other.
  std::optional<std::size_t> offset_of(const void* address) const;

  // Why `bytes` at `address` are not symmetric memory. REQUIRES: they are not.
  std::string why_outside(const void* address, std::size_t bytes) const;

  // The same for an address in it that is no multiple of `bytes`, the size of a word.
  std::string why_misaligned(const void* address, std::size_t bytes) const;

  // Throws Error{OUT_OF_MEMORY} with what was asked for, what is free and the variable to change.
  std::byte* allocate(std::size_t bytes, std::size_t alignment);
  // Undoes that. REQUIRES: `memory` is what it returned last.
  void take_back(const std::byte* memory) { allocator_.take_back(*offset_of(memory)); }

  // Throws Error{INVALID} when `offset` is not the start of an allocation.
  void free(std::size_t offset);
  // Throws the same, and frees nothing.
  void check_allocation(std::size_t offset) const;

 private:
  std::shared_ptr<DeviceMemory> memory_;
  Allocator allocator_;
};

}  // namespace chime::host
