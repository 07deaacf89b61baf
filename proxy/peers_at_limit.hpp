// The peers to which requests of some FIFO, taken and not ended, are half as many as its slots. A
// thread whose FIFO seems full waits before it posts to such a peer, and holds no slot meanwhile. A
// PE has one set for all of its FIFOs, in memory that kernels read (abi::ProxyFifo::at_limit).
//
// Only the proxy's thread calls it.
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
