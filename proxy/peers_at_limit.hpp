// The peers that hold half of the slots of some FIFO: requests that were taken and have not ended.
// Who posts to one of them waits, once its FIFO seems full, and holds no slot meanwhile. Of one PE,
// for all of its FIFOs, in memory that kernels read (abi::ProxyFifo::at_limit).
//
// By the proxy's thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <unordered_map>

namespace chime::proxy {

class PeersAtLimit {
 public:
  // `bits`: zeros, one for each PE.
  explicit PeersAtLimit(std::span<std::uint64_t> bits) : bits_(bits) {}

  // A FIFO in which it has reached its limit, one in which it is below again.
  void add(int pe) {
    if (fifos_[pe]++ == 0) word(pe).fetch_or(bit(pe), std::memory_order_relaxed);
  }
  void remove(int pe) {
    if (--fifos_[pe] == 0) word(pe).fetch_and(~bit(pe), std::memory_order_relaxed);
  }

 private:
  static std::uint64_t bit(int pe) { return std::uint64_t{1} << pe % 64; }
  std::atomic_ref<std::uint64_t> word(int pe) const {
    return std::atomic_ref(bits_[static_cast<std::size_t>(pe) / 64]);
  }

  std::span<std::uint64_t> bits_;
  std::unordered_map<int, unsigned> fifos_;
};

}  // namespace chime::proxy
