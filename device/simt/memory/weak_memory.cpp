#include "chime/device/simt/memory/weak_memory.hpp"

#include <atomic>

#include "chime/device/simt/threads/block.hpp"

namespace chime::simt {

namespace {

// Moves the calling thread's buffered stores as far as this release reaches.
void release_stores(Thread& self, Reach reach) {
  BlockStores& stores = block_of(self).stores();
  if (reach == Reach::kBeyondBlock) {
    stores.release(place_of(self));
  } else {
    stores.meet_block(place_of(self));
  }
}

// The running thread, after others had a chance to run.
Thread& next_operation() {
  Thread& self = running_thread();
  block_of(self).scheduling_point(self);
  return self;
}

}  // namespace

void before_load() { next_operation(); }

void forward_buffered(const void* address, void* value, std::size_t bytes) {
  Thread& self = running_thread();
  if (self.block->weak) block_of(self).stores().overlay(place_of(self), address, value, bytes);
}

bool store_is_buffered(void* address, const void* value, std::size_t bytes, bool releases,
                       Reach reach) {
  Thread& self = next_operation();
  if (!self.block->weak) return false;
  BlockStores& stores = block_of(self).stores();
  if (!releases) {
    stores.store(place_of(self), address, value, bytes);
    return true;
  }
  release_stores(self, reach);
  if (reach == Reach::kBeyondBlock) return false;
  stores.store_to_block(address, value, bytes);
  return true;
}

void before_atomic(const void* address, std::size_t bytes, bool releases, Reach reach) {
  Thread& self = next_operation();
  if (!self.block->weak) return;
  if (releases) release_stores(self, reach);
  block_of(self).stores().drain(place_of(self), Range(address, bytes));
}

void warp_reads(const void* source, std::size_t bytes, std::size_t stride, std::size_t count) {
  Thread& self = running_thread();
  if (self.block->weak) block_of(self).warp_reads(self, {source, bytes, stride, count});
}

void block_reads(const void* source, std::size_t bytes, std::size_t stride, std::size_t count) {
  Thread& self = running_thread();
  if (self.block->weak) block_of(self).block_reads(self, {source, bytes, stride, count});
}

void fence(bool releases, bool acquires, Reach reach) {
  Thread& self = next_operation();
  if (self.block->weak && releases) release_stores(self, reach);
  tsan_fence(releases, acquires);
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

}  // namespace chime::simt
