// Two queue pairs of one device, each connected to itself: libmlx5 posts to one of them, Chime's
// device code to the other. Both name the same memory by the same keys.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "chime/abi/channel.h"
#include "chime/abi/words.h"
#include "chime/device/channel/sync.cuh"
#include "chime/device/path/ops.cuh"
#include "endpoint.hpp"
#include "fake_job.hpp"

namespace chime::tests {

class TwoQueues {
 public:
  TwoQueues();

  // ---- by libmlx5 ----
  struct Request {
    ibv_wr_opcode opcode;
    std::uint64_t remote;
    std::uint32_t rkey;
    std::uint64_t local;
    std::uint32_t lkey;
    std::uint32_t bytes;
    unsigned flags = 0;  // IBV_SEND_...
    std::uint32_t immediate_be = 0;
    std::uint64_t compare_add = 0, swap = 0;
  };
  // Posts them with one call; only the last one asks for a completion, which is waited for.
  void post_by_libmlx5(std::vector<Request> requests);

  // ---- by Chime ----
  const Context& context() { return job_.context(); }
  Ops<Path::kNic> ops() { return {job_.context(), queue_, 0}; }
  // Posts an atomic on the 8 bytes at `word`, as kernels do whose operation needs it.
  template <class Atomic>
  void fetch(std::byte* word, const Atomic& atomic) {
    typename Atomic::Word before;
    nic::fetch_atomic(context(), queue_, reinterpret_cast<typename Atomic::Word*>(word), atomic,
                      &before);
  }
  abi::Channel& queue() { return queue_; }
  // Flags of the queue, as the NIC would make them.
  void set_flags(std::uint32_t flags) { queue_.head.flags = static_cast<std::uint8_t>(flags); }

  std::uint32_t qpn_of_libmlx5() const { return theirs_->qpn(); }
  std::uint32_t qpn_of_chime() const { return ours_->qpn(); }

  // Memory, the same for both.
  std::byte* at(std::size_t offset) const { return heap_.as<std::byte>(offset); }
  std::uint64_t address(std::size_t offset) const {
    return reinterpret_cast<std::uint64_t>(at(offset));
  }
  std::uint32_t lkey() const { return heap_.lkey(); }
  std::uint32_t data_rkey() const { return heap_.rkey(); }
  std::uint32_t strict_rkey() const { return strict_->rkey; }
  // Where Chime's next request has its result, and where results go that nobody wants.
  std::uint64_t next_result() const {
    return result(queue_.producer.resv & (queue_.head.depth - 1));
  }
  std::uint64_t sink() const { return result(queue_.head.depth); }
  std::uint32_t result_lkey() const { return results_.lkey(); }

  // A request with an immediate takes one at the peer.
  void post_receives();

 private:
  static constexpr std::size_t kHeapBytes = 64 * 1024;
  struct MrDeleter {
    void operator()(ibv_mr* mr) const { ibv_dereg_mr(mr); }
  };

  void show_queue();
  void show_memory();
  std::uint64_t result(std::uint64_t slot) const {
    return reinterpret_cast<std::uint64_t>(results_.at(slot * sizeof(abi::NicFetchSlot)));
  }

  std::unique_ptr<direct::Endpoint> theirs_, ours_;
  direct::Memory heap_{kHeapBytes};
  std::unique_ptr<ibv_mr, MrDeleter> strict_;
  direct::Memory results_;
  FakeJob job_{1};
  abi::Channel queue_{};
  abi::ChannelFault fault_{};
  std::uint32_t route_ = abi::route_word(Path::kNic, 0);
  std::uint64_t touched_ = 0;
  abi::Watch watch_{};
  abi::NicBuffers no_buffers_{};
};

}  // namespace chime::tests
