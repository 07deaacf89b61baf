// The peers that a request has failed to: of one PE, for all of its FIFOs. Nothing is sent to them
// any more. In memory that kernels read (abi::ProxyFifo::lost); any thread of the proxy adds.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

namespace chime::proxy {

class LostPeers {
 public:
  // `bits`: zeros, one for each of `n_pes`.
  LostPeers(std::span<std::uint64_t> bits, int n_pes) : bits_(bits), n_pes_(n_pes) {}

  bool exists(int pe) const { return pe >= 0 && pe < n_pes_; }

  // REQUIRES, of both: exists(pe). The release of a FIFO's `through` publishes what is added here.
  void add(int pe) { word(pe).fetch_or(bit(pe), std::memory_order_relaxed); }
  bool has(int pe) const { return (word(pe).load(std::memory_order_relaxed) & bit(pe)) != 0; }

 private:
  static std::uint64_t bit(int pe) { return std::uint64_t{1} << pe % 64; }
  std::atomic_ref<std::uint64_t> word(int pe) const {
    return std::atomic_ref(bits_[static_cast<std::size_t>(pe) / 64]);
  }

  std::span<std::uint64_t> bits_;
  int n_pes_;
};

}  // namespace chime::proxy
