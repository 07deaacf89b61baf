// Blocks that wait for their gets, the proxy's real FIFOs and carrier, and a fabric that is late,
// by a clock of their own: the times of a block, a look and a request are given, so the figures are
// the same on any machine and any load. Blocks cost no processor, as on a GPU.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <utility>
#include <vector>

#include "chime/abi/channel.h"
#include "proxy/carrier.hpp"

namespace chime::perf {

// In nanoseconds.
struct TimedCosts {
  std::uint64_t block = 2000;   // from a FIFO's notification to the block's next request in it
  std::uint64_t look = 500;     // at all FIFOs and the fabric
  std::uint64_t request = 300;  // to take one and post it
};

// The delay of a get.
using Lateness = std::function<std::uint64_t(std::uint64_t completion, int pe)>;

class TimedFabric final : public host::HostDriven {
 public:
  // `room`: requests at once.
  TimedFabric(std::uint64_t& now, const TimedCosts& costs, Lateness late, std::size_t room)
      : now_(now), costs_(costs), late_(std::move(late)), room_(room) {}

  void serve(host::WordOwner&) override {}
  bool post(const host::HostRequest& request, std::uint64_t completion) override {
    if (on_their_way_.size() >= room_) return false;
    now_ += costs_.request;
    on_their_way_.emplace(now_ + late_(completion, request.pe), completion);
    return true;
  }
  std::size_t poll(std::span<Ended> ended) override {
    std::size_t count = 0;
    for (; count < ended.size() && !on_their_way_.empty() && on_their_way_.top().first <= now_;
         on_their_way_.pop())
      ended[count++] = {on_their_way_.top().second, CHIMEX_OK};
    return count;
  }

 private:
  using Due = std::pair<std::uint64_t, std::uint64_t>;  // when, which

  std::uint64_t& now_;
  const TimedCosts costs_;
  const Lateness late_;
  const std::size_t room_;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> on_their_way_;
};

// A FIFO with both of its ends.
class TimedFifo {
 public:
  static constexpr std::size_t kDepth = 64;

  TimedFifo() : lost_(lost_bits_, 64), fifo_({slots_, answers_, &report_}, lost_, at_limit_) {}

  // With an answer that no other request has. Returns its index.
  std::uint64_t post(const abi::ProxySlot& request, std::uint32_t answer) {
    const std::uint64_t index = end_++;
    const auto slot =
        abi::with_lap(abi::with_answer(request, answer), abi::proxy_lap(index, kDepth));
    for (std::size_t i = 0; i < std::size(slot.word); ++i)
      std::atomic_ref(slots_[index % kDepth].word[i])
          .store(slot.word[i], std::memory_order_release);
    return index;
  }
  bool has_ended(std::uint64_t index, std::uint32_t answer) const {
    return answers_[answer].ended == index + 1;
  }
  const proxy::Fifo& fifo() const { return fifo_; }

 private:
  std::vector<abi::ProxySlot> slots_ = std::vector<abi::ProxySlot>(kDepth);
  std::vector<abi::ProxyAnswer> answers_ = std::vector<abi::ProxyAnswer>(kDepth);
  abi::ProxyReport report_{};
  std::array<std::uint64_t, 1> lost_bits_{}, at_limit_bits_{};
  proxy::LostPeers lost_;
  proxy::PeersAtLimit at_limit_{at_limit_bits_};
  std::uint64_t end_ = 0;
  proxy::Fifo fifo_;
};

// Gets a millisecond, of all blocks together. Block `b` gets from PE `b` by FIFO `b % fifos`, one
// get after the other, for `for_ns`.
inline double gets_per_ms(unsigned fifos, unsigned blocks, const TimedCosts& costs,
                          const Lateness& late, std::size_t room, std::uint64_t for_ns) {
  struct Block {
    std::uint64_t ready_at = 0, index = 0, ended = 0;
    bool waits = false;
  };
  std::uint64_t now = 0;
  TimedFabric fabric(now, costs, late, room);
  std::vector<std::unique_ptr<TimedFifo>> ends;
  std::vector<proxy::Fifo> takers;
  for (unsigned i = 0; i < fifos; ++i) {
    ends.push_back(std::make_unique<TimedFifo>());
    takers.push_back(ends.back()->fifo());
  }
  proxy::Counts counts;
  proxy::Carrier carrier(fabric, takers, {.heap_bytes = 4096, .batch = 64}, counts);
  std::vector<Block> all(blocks);
  std::vector<unsigned> order(blocks);
  for (unsigned b = 0; b < blocks; ++b) order[b] = b;
  std::uint64_t here = 0, ended = 0;
  while (now < for_ns) {
    std::ranges::stable_sort(order, {}, [&](unsigned b) { return all[b].ready_at; });
    for (const unsigned b : order) {
      Block& block = all[b];
      if (block.waits || block.ready_at > now) continue;
      block.index = ends[b % fifos]->post(abi::proxy_get(static_cast<std::int32_t>(b), 0,
                                                         reinterpret_cast<std::uint64_t>(&here), 8),
                                          b);
      block.waits = true;
    }
    now += costs.look;
    carrier.turn();
    for (unsigned b = 0; b < blocks; ++b) {
      Block& block = all[b];
      if (!block.waits || !ends[b % fifos]->has_ended(block.index, b)) continue;
      block.waits = false;
      block.ready_at = now + costs.block;
      ++ended;
    }
  }
  return static_cast<double>(ended) * 1e6 / static_cast<double>(now);
}

}  // namespace chime::perf
