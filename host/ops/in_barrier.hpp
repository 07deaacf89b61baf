// Says on this PE's control page that its host is in chime_barrier_all or chime_sync_all on the CPU
// device, where PEs meet by words of the heap: PEs that wait in another collective call look there
// (host/collective), for neither call would ever end.
#pragma once

#include <atomic>
#include <cstdint>

#include "chime/abi/operation.h"
#include "host/pe/pe.hpp"

namespace chime::host {

class InBarrier {
 public:
  InBarrier(const PeSlot& slot, Operation which)
      : word_(slot.runtime->device->control().in_barrier) {
    std::uint64_t& begun = slot.runtime->device->control().barriers;
    const std::uint64_t mine = std::atomic_ref(begun).fetch_add(1, std::memory_order_relaxed) + 1;
    store(barrier_word(mine, which == Operation::kSyncAll));
  }
  ~InBarrier() { store(0); }
  InBarrier(const InBarrier&) = delete;

 private:
  // Relaxed: a reader only compares the values that it read at two times.
  void store(std::uint64_t value) {
    std::atomic_ref(word_).store(value, std::memory_order_relaxed);
  }

  std::uint64_t& word_;
};

}  // namespace chime::host
