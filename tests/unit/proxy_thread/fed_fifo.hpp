// A FIFO of the proxy that a test fills slot by slot, as a poster does.
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
        answers_(depth),
        lost_(lost_bits_, kPes),
        fifo({slots_, answers_, &report_}, lost_, at_limit_) {}

  // A request of one or two slots. Returns the index of the first, which is also its answer unless
  // another one is given.
  std::uint64_t post(const abi::ProxySlot& first) {
    return post(first, static_cast<std::uint32_t>(end_ % answers_.size()));
  }
  std::uint64_t post(const abi::ProxySlot& first, std::uint32_t answer) {
    return write(abi::with_answer(first, answer));
  }
  std::uint64_t post(const abi::ProxySlot& put, const abi::ProxySignal& signal) {
    const std::uint64_t index = post(abi::with_signal(put));
    write(abi::proxy_signal(signal));
    return index;
  }

  std::uint64_t posted() const { return end_; }
  std::uint64_t through() const { return reported() & ~abi::kSomeLost; }
  bool some_are_lost() const { return (reported() & abi::kSomeLost) != 0; }
  const abi::ProxyFailure& failure() const { return report_.failure; }
  std::uint64_t result(std::uint64_t index) const {
    return answers_[index % answers_.size()].value[0];
  }
  // Whether the request that began at `index` has ended, and how.
  bool has_ended(std::uint64_t index, std::uint64_t answer) const {
    return (ended(answer) & ~abi::kAnswerFailed) == index + 1;
  }
  bool has_ended(std::uint64_t index) const { return has_ended(index, index % answers_.size()); }
  bool has_failed(std::uint64_t index) const {
    return ended(index % answers_.size()) == (abi::kAnswerFailed | (index + 1));
  }
  // Slots that may be written.
  std::uint64_t room() const {
    return slots_.size() - (end_ - std::atomic_ref(const_cast<std::uint64_t&>(report_.taken))
                                       .load(std::memory_order_acquire));
  }
  bool is_at_limit(int pe) const { return (at_limit_bits_[0] >> pe & 1) != 0; }

 private:
  std::uint64_t write(const abi::ProxySlot& what) {
    const std::uint64_t index = end_++;
    const auto slot = abi::with_lap(what, abi::proxy_lap(index, slots_.size()));
    for (std::size_t i = 0; i < 4; ++i)
      std::atomic_ref(slots_[index % slots_.size()].word[i])
          .store(slot.word[i], std::memory_order_release);
    return index;
  }
  std::uint64_t reported() const {
    return std::atomic_ref(const_cast<std::uint64_t&>(report_.through))
        .load(std::memory_order_acquire);
  }
  std::uint64_t ended(std::uint64_t answer) const {
    return std::atomic_ref(const_cast<std::uint64_t&>(answers_[answer].ended))
        .load(std::memory_order_acquire);
  }

  std::vector<abi::ProxySlot> slots_;
  std::vector<abi::ProxyAnswer> answers_;
  abi::ProxyReport report_{};
  std::array<std::uint64_t, 1> lost_bits_{};
  std::array<std::uint64_t, 1> at_limit_bits_{};
  LostPeers lost_;
  PeersAtLimit at_limit_{at_limit_bits_};
  std::uint64_t end_ = 0;

 public:
  Fifo fifo;
};

}  // namespace chime::proxy::tests
