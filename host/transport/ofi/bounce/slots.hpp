// Pinned memory in pieces. Data in transit to or from this PE lies in one of them; a request that
// finds none free waits. By the thread that polls.
//
// This PE's own requests and its work for others have slots of their own. Else two PEs could wait
// for ever, when the slots of both are taken by requests to the other. Work for others needs no
// other slots, so that it ends.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "host/transport/ofi/bounce/device_work.hpp"
#include "host/transport/ofi/requests/message.hpp"

namespace chime::host::ofi {

struct Slot {
  std::byte* memory;
  std::uint64_t at;  // its offset in the pool, by which peers name it
};

class Slots {
 public:
  // `peers`: how many share them.
  Slots(std::span<std::byte> pool, std::size_t begin, std::size_t bytes, std::size_t count,
        int peers)
      : share_(count / std::clamp<std::size_t>(static_cast<std::size_t>(peers), 1, kSharers)) {
    for (std::size_t i = 0; i < count; ++i)
      free_.push_back(&all_.emplace_back(Slot{pool.data() + begin + i * bytes, begin + i * bytes}));
  }

  // Null: none is free, or the peer, with its count in `used`, has its share: a slow peer keeps
  // nobody else waiting.
  Slot* take(unsigned& used) {
    if (free_.empty() || used >= share_) return nullptr;
    ++used;
    Slot* const slot = free_.back();
    free_.pop_back();
    return slot;
  }
  void give_back(Slot* slot, unsigned& used) {
    --used;
    free_.push_back(slot);
  }
  // A peer that is lost may still use it: nobody else may.
  void abandon() { ++abandoned_; }
  // That peer is gone.
  void reclaim(Slot* slot) {
    --abandoned_;
    free_.push_back(slot);
  }
  bool are_all_abandoned() const { return abandoned_ == all_.size(); }

 private:
  static constexpr std::size_t kSharers = 4;

  const std::size_t share_;
  std::deque<Slot> all_;
  std::vector<Slot*> free_;
  std::size_t abandoned_ = 0;
};

class SlotPool {
 public:
  static constexpr std::size_t kLargeBytes = std::size_t{128} << 10, kLarge = 16;
  static constexpr std::size_t kSmallBytes = 2048, kSmall = 128;
  static constexpr std::size_t kResults = 1024;
  static_assert(kSmallBytes >= kMostCarriedBytes);

  struct Side {
    Slots large, small;  // of more than a message carries, and of no more
  };

  static constexpr std::size_t bytes() {
    return 2 * kSideBytes + kResults * sizeof(std::uint64_t) + DeviceWork::kScratchBytes;
  }
  // `memory`: bytes() of them, pinned.
  SlotPool(std::span<std::byte> memory, int n_pes)
      : asking(side(memory, 0, n_pes)), serving(side(memory, kSideBytes, n_pes)) {
    auto* const first = reinterpret_cast<std::uint64_t*>(memory.data() + 2 * kSideBytes);
    for (std::size_t i = 0; i < kResults; ++i) results.push_back(first + i);
    scratch = reinterpret_cast<std::byte*>(first + kResults);
  }

  Side asking, serving;
  std::vector<std::uint64_t*> results;  // free places for the words before an update
  std::byte* scratch = nullptr;         // DeviceWork's

 private:
  static constexpr std::size_t kSideBytes = kLarge * kLargeBytes + kSmall * kSmallBytes;

  static Side side(std::span<std::byte> memory, std::size_t begin, int n_pes) {
    return {Slots(memory, begin, kLargeBytes, kLarge, n_pes - 1),
            Slots(memory, begin + kLarge * kLargeBytes, kSmallBytes, kSmall, n_pes - 1)};
  }
};

}  // namespace chime::host::ofi
