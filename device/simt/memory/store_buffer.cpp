#include "chime/device/simt/memory/store_buffer.hpp"

#include <sched.h>
#include <time.h>

#include <algorithm>
#include <cstring>

namespace chime::simt {

namespace {

// Larger buffers find no more errors and make every load slower.
constexpr std::size_t kOwnLimit = 32, kPoolLimit = 256;

template <class Word>
void store_word(std::byte* address, std::uint64_t value) {
  __atomic_store_n(reinterpret_cast<Word*>(address), static_cast<Word>(value), __ATOMIC_RELAXED);
}

// Gives other OS threads time to see memory while an older store still waits.
void let_others_look(Random& random) {
  if (random.one_in(4)) sched_yield();
  if (random.one_in(64)) {
    const timespec nap{0, 20'000};
    nanosleep(&nap, nullptr);
  }
}

}  // namespace

// ---- StoreBuffer ----------------------------------------------------------------------------

void StoreBuffer::Store::reach_memory() const {
  switch (bytes) {
    case 1:
      return store_word<std::uint8_t>(address, value);
    case 2:
      return store_word<std::uint16_t>(address, value);
    case 4:
      return store_word<std::uint32_t>(address, value);
    default:
      return store_word<std::uint64_t>(address, value);
  }
}

void StoreBuffer::add(void* address, const void* value, std::size_t bytes) {
  const TsanIgnores ignores;
  Store store{static_cast<std::byte*>(address), 0, bytes};
  std::memcpy(&store.value, value, bytes);
  stores_.push_back(store);
}

void StoreBuffer::take(StoreBuffer& other) {
  const TsanIgnores ignores;
  stores_.insert(stores_.end(), other.stores_.begin(), other.stores_.end());
  other.stores_.clear();
}

void StoreBuffer::overlay(const void* address, void* value, std::size_t bytes) const {
  const Range loaded(address, bytes);
  for (const Store& store : stores_) {
    const Range stored = store.range();
    if (!stored.overlaps(loaded)) continue;
    const std::uintptr_t from = std::max(stored.low, loaded.low);
    const std::uintptr_t to = std::min(stored.high, loaded.high);
    std::memcpy(static_cast<std::byte*>(value) + (from - loaded.low),
                reinterpret_cast<const std::byte*>(&store.value) + (from - stored.low), to - from);
  }
}

bool StoreBuffer::widen(Range& range) const {
  const Range before = range;
  for (const Store& store : stores_) {
    const Range stored = store.range();
    if (!stored.overlaps(range)) continue;
    range.low = std::min(range.low, stored.low);
    range.high = std::max(range.high, stored.high);
  }
  return range.low != before.low || range.high != before.high;
}

Range StoreBuffer::random_store(Random& random) const {
  return stores_[random.below(static_cast<unsigned>(stores_.size()))].range();
}

void StoreBuffer::drain_all() {
  for (const Store& store : stores_) store.reach_memory();
  stores_.clear();
}

void StoreBuffer::drain(const Range& range) {
  std::erase_if(stores_, [&](const Store& store) {
    if (!store.range().overlaps(range)) return false;
    store.reach_memory();
    return true;
  });
}

// ---- BlockStores ----------------------------------------------------------------------------

void GridStores::drain_all() {
  with([](Buffers& grid) {
    grid.pool.drain_all();
    grid.ended.drain_all();
  });
}

void BlockStores::set_up(unsigned warps, GridStores* grid, Random* random) {
  grid_ = grid;
  random_ = random;
  warps_.resize(warps);
}

// Overlapping stores of different sizes depend on each other: all that overlap the range go
// together.
bool BlockStores::widen(StorePlace place, Range& range) {
  bool grew = grid_->with([&](const auto& grid) { return grid.pool.widen(range); });
  grew |= block_.widen(range);
  grew |= warps_[place.warp].widen(range);
  return place.own.widen(range) || grew;
}

void BlockStores::drain_pools(unsigned warp, const Range& range) {
  grid_->with([&](auto& grid) { grid.pool.drain(range); });
  block_.drain(range);
  warps_[warp].drain(range);
}

void BlockStores::drain(StorePlace place, Range range) {
  while (widen(place, range)) {
  }
  drain_pools(place.warp, range);
  place.own.drain(range);
}

// Writes one store of `buffer` to memory, after those that it must not pass. They are at `place`.
bool BlockStores::leak_from(StoreBuffer& buffer, StorePlace place) {
  if (buffer.empty()) return false;
  Range range = buffer.random_store(*random_);
  while (widen(place, range) || buffer.widen(range)) {
  }
  drain_pools(place.warp, range);
  buffer.drain(range);
  return true;
}

bool BlockStores::leak_from_grid(StoreBuffer GridStores::Buffers::*buffer) {
  return grid_->with([&](auto& grid) {
    if ((grid.*buffer).empty()) return false;
    Range range = (grid.*buffer).random_store(*random_);
    while ((grid.*buffer).widen(range)) {
    }
    (grid.*buffer).drain(range);
    return true;
  });
}

void BlockStores::limit(StoreBuffer& buffer, std::size_t size, StorePlace place) {
  while (buffer.size() > size) leak_from(buffer, place);
}

void BlockStores::store(StorePlace place, void* address, const void* value, std::size_t bytes) {
  place.own.add(address, value, bytes);
  limit(place.own, kOwnLimit, place);
}

void BlockStores::store_to_block(void* address, const void* value, std::size_t bytes) {
  block_.add(address, value, bytes);
}

void BlockStores::overlay(StorePlace place, const void* address, void* value, std::size_t bytes) {
  grid_->with([&](const auto& grid) { grid.pool.overlay(address, value, bytes); });
  block_.overlay(address, value, bytes);
  warps_[place.warp].overlay(address, value, bytes);
  place.own.overlay(address, value, bytes);
}

void BlockStores::release(StorePlace place) {
  grid_->with([](auto& grid) { grid.pool.drain_all(); });
  block_.drain_all();
  warps_[place.warp].drain_all();
  place.own.drain_all();
}

void BlockStores::meet_warp(StorePlace place) {
  StoreBuffer& pool = warps_[place.warp];
  pool.take(place.own);
  limit(pool, kPoolLimit, place);
}

void BlockStores::meet_block(StorePlace place) {
  block_.take(warps_[place.warp]);
  block_.take(place.own);
  limit(block_, kPoolLimit, place);
}

void BlockStores::meet_grid() {
  std::size_t size = grid_->with([&](auto& grid) {
    grid.pool.take(block_);
    return grid.pool.size();
  });
  for (; size > kPoolLimit; --size) leak_from_grid(&GridStores::Buffers::pool);
}

// REQUIRES: no older pool holds a store that overlaps one of `buffer`.
void BlockStores::leave(StoreBuffer& buffer) {
  std::size_t size = grid_->with([&](auto& grid) {
    grid.ended.take(buffer);
    return grid.ended.size();
  });
  for (; size > kPoolLimit; --size) leak_from_grid(&GridStores::Buffers::ended);
}

void BlockStores::thread_ended(StorePlace place) {
  place.own.for_each([&](Range range) {
    StoreBuffer nothing;
    while (widen(place, range)) {
    }
    drain({place.warp, nothing}, range);
  });
  leave(place.own);
}

void BlockStores::block_ended() {
  for (StoreBuffer& warp : warps_) block_.take(warp);
  block_.for_each([&](Range range) { grid_->with([&](auto& grid) { grid.pool.drain(range); }); });
  leave(block_);
}

void BlockStores::leak(StorePlace place) {
  constexpr unsigned kLeakOneIn = 8;
  if (random_->below(kLeakOneIn) == 0 && leak_somewhere(place)) let_others_look(*random_);
}

bool BlockStores::leak_somewhere(StorePlace place) {
  StoreBuffer nothing;
  const unsigned warp = random_->below(static_cast<unsigned>(warps_.size()));
  switch (random_->below(5)) {
    case 0:
      return leak_from(warps_[warp], {warp, nothing});
    case 1:
      return leak_from(block_, {warp, nothing});
    case 2:
      return leak_from_grid(&GridStores::Buffers::pool);
    case 3:
      return leak_from_grid(&GridStores::Buffers::ended);
    default:
      return leak_from(place.own, place);
  }
}

}  // namespace chime::simt
