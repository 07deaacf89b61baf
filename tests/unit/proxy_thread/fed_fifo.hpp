// A FIFO of the proxy's that a test fills slot by slot, as a poster does.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "chime/abi/channel.h"
#include "chime/abi/proxy_fifo.h"
#include "chime/abi/proxy_request.h"
#include "proxy/fifo.hpp"

namespace chime::proxy::tests {

class FedFifo {
 public:
  static constexpr int kPes = 4;

  explicit FedFifo(std::size_t depth = 16)
      : slots_(depth),
        results_(depth),
        lost_(lost_bits_, kPes),
        fifo({slots_, results_, &told_}, lost_) {}

  // A request of one or two slots; returns the index of its first.
  std::uint64_t post(const abi::ProxySlot& first) {
    const std::uint64_t index = end_++;
    const auto slot = abi::with_lap(first, abi::proxy_lap(index, slots_.size()));
    for (std::size_t i = 0; i < 4; ++i)
      std::atomic_ref(slots_[index % slots_.size()].word[i])
          .store(slot.word[i], std::memory_order_release);
    return index;
  }
  std::uint64_t post(const abi::ProxySlot& put, const abi::ProxySignal& signal) {
    const std::uint64_t index = post(abi::with_signal(put));
    post(abi::proxy_signal(signal));
    return index;
  }

  std::uint64_t posted() const { return end_; }
  std::uint64_t through() const { return told() & ~abi::kSomeLost; }
  bool some_are_lost() const { return (told() & abi::kSomeLost) != 0; }
  const abi::ProxyFailure& failure() const { return told_.failure; }
  std::uint64_t result(std::uint64_t index) const {
    return results_[index % results_.size()].value[0];
  }

 private:
  std::uint64_t told() const {
    return std::atomic_ref(const_cast<std::uint64_t&>(told_.through))
        .load(std::memory_order_acquire);
  }

  std::vector<abi::ProxySlot> slots_;
  std::vector<abi::ProxyResult> results_;
  abi::ProxyTold told_{};
  std::array<std::uint64_t, 1> lost_bits_{};
  LostPeers lost_;
  std::uint64_t end_ = 0;

 public:
  Fifo fifo;
};

}  // namespace chime::proxy::tests
