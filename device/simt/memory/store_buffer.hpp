// Weak mode's stores before they reach memory (weak_memory.md).
//
// A thread's store waits in its own buffer. When threads meet, their buffered stores move to the
// pool of the group that met: the warp's, the block's, the grid's. So the chain grid, block, warp,
// own holds, oldest first, what happens before a thread's next access: its loads see all of it, and
// a release beyond the block sends all of it to memory first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "chime/device/simt/faults/sanitizers.hpp"
#include "chime/device/simt/threads/random.hpp"

namespace chime::simt {

struct Range {
  std::uintptr_t low = 0, high = 0;  // [low, high)

  Range() = default;
  Range(const void* address, std::size_t bytes)
      : low(reinterpret_cast<std::uintptr_t>(address)), high(low + bytes) {}
  bool overlaps(const Range& other) const { return low < other.high && other.low < high; }
};

// Stores. Those that overlap reach memory in order; others in any order.
class StoreBuffer {
 public:
  bool empty() const { return stores_.empty(); }
  std::size_t size() const { return stores_.size(); }

  void add(void* address, const void* value, std::size_t bytes);
  void take(StoreBuffer& other);

  // Lays the stores over a value of `bytes` loaded from `address`.
  void overlay(const void* address, void* value, std::size_t bytes) const;

  // Grows `range` to hold every store that overlaps it. False if it held them already.
  bool widen(Range& range) const;
  Range random_store(Random& random) const;  // REQUIRES: !empty()
  template <class F>
  void for_each(F visit) const {
    for (const Store& store : stores_) visit(store.range());
  }

  void drain_all();
  void drain(const Range& range);  // the stores that overlap it, in order

 private:
  struct Store {
    std::byte* address;
    std::uint64_t value;
    std::size_t bytes;
    Range range() const { return {address, bytes}; }
    void reach_memory() const;
  };
  std::vector<Store> stores_;
};

// The data that a launch's blocks share: the pool of those that met, and the stores of threads that
// have ended. No event forces the latter: they reach memory some time before the kernel's end.
class GridStores {
 public:
  struct Buffers {
    StoreBuffer pool, ended;
  };

  template <class F>
  auto with(F f) {
    const TsanIgnores ignores;
    const std::lock_guard lock(mutex_);
    return f(buffers_);
  }
  void drain_all();

 private:
  std::mutex mutex_;
  Buffers buffers_;
};

// The calling thread's place in the chain.
struct StorePlace {
  unsigned warp;
  StoreBuffer& own;
};

// The pools of one block. Each call names the calling thread's place.
class BlockStores {
 public:
  void set_up(unsigned warps, GridStores* grid, Random* random);

  void store(StorePlace place, void* address, const void* value, std::size_t bytes);
  // A store that the block's threads must see in order, and others need not.
  void store_to_block(void* address, const void* value, std::size_t bytes);
  void overlay(StorePlace place, const void* address, void* value, std::size_t bytes);

  // Writes the stores to memory that must not come after an atomic on these bytes.
  void drain(StorePlace place, Range range);
  // Writes the stores to memory that happen before the thread's next access.
  void release(StorePlace place);

  // The thread meets its warp, its block; the whole block meets the grid.
  void meet_warp(StorePlace place);
  void meet_block(StorePlace place);
  void meet_grid();

  // A thread has ended: its stores reach memory some time before the kernel's end; no event forces
  // them.
  void thread_ended(StorePlace place);
  void block_ended();

  // Lets at most one store reach memory: of a pool, or of `place`. Called at scheduling points.
  void leak(StorePlace place);

 private:
  bool widen(StorePlace place, Range& range);
  void drain_pools(unsigned warp, const Range& range);
  bool leak_somewhere(StorePlace place);
  bool leak_from(StoreBuffer& buffer, StorePlace place);  // false if it was empty
  bool leak_from_grid(StoreBuffer GridStores::Buffers::*buffer);
  void leave(StoreBuffer& buffer);
  void limit(StoreBuffer& buffer, std::size_t size, StorePlace place);

  GridStores* grid_ = nullptr;
  Random* random_ = nullptr;
  StoreBuffer block_;
  std::vector<StoreBuffer> warps_;
};

}  // namespace chime::simt
