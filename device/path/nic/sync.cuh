// fence and quiet over the queues of a ctx that were ever posted to.
#ifndef CHIME_DEVICE_PATH_NIC_SYNC_CUH_
#define CHIME_DEVICE_PATH_NIC_SYNC_CUH_

#include <cstdint>

#include "chime/abi/nic.h"
#include "chime/device/exec.cuh"
#include "chime/device/path/nic/complete.cuh"
#include "chime/device/path/nic/queue.cuh"
#include "chime/device/path/nic/submit.cuh"

namespace chime::nic {
namespace detail {

// Drains the queues whose bits are set, from queue `first` on: all of them, also behind one that
// fails. `failed` becomes the first that does, unless it is one already.
CHIME_DEVICE void drain_all(const Context& ctx, NicQueue* first, std::uint64_t bits,
                            NicQueue*& failed) {
  for (; bits != 0; bits &= bits - 1) {
    NicQueue& queue = first[exec::lowest_bit(bits)];
    if (!drain(ctx, queue) && failed == nullptr) failed = &queue;
  }
}

// Whether a queue keeps the order of what is sent to its peer, where it is the only way there.
CHIME_DEVICE bool orders_itself(const Context& ctx, const NicQueue& first,
                                std::uint64_t bits_of_peer) {
  constexpr std::uint32_t kUnordered = abi::kNicUnorderedWrites | abi::kNicUnorderedData;
  return exec::count_bits(bits_of_peer) < 2 && (first.flags & kUnordered) == 0 &&
         ctx.peer_heap[first.pe] == nullptr;
}

// Of a word of touched bits: those of queues that a fence has to drain.
CHIME_DEVICE std::uint64_t unordered_bits(const Context& ctx, const abi::NicContext& nic,
                                          const NicQueue* first, std::uint64_t bits) {
  std::uint64_t unordered = 0;
  for (std::uint64_t rest = bits; rest != 0;) {
    const unsigned shift = exec::lowest_bit(rest) & ~(nic.slots - 1);
    const std::uint64_t of_peer = bits & (slots_mask(nic) << shift);
    if (!orders_itself(ctx, first[shift], of_peer)) unordered |= of_peer;
    rest &= ~of_peer;
  }
  return unordered;
}

// A lost peer is told when all others have what was sent to them.
template <class Choose>
CHIME_DEVICE void drain_touched(const Context& ctx, const abi::NicContext& nic, Choose choose) {
  NicQueue* failed = nullptr;
  const std::uint64_t words = abi::nic_touched_words(nic);
  for (std::uint64_t i = 0; i < words; ++i) {
    NicQueue* const first = nic.queues + i * 64;
    const std::uint64_t bits = exec::ld<Order::kRelaxed, Scope::kDevice>(nic.touched + i);
    if (bits != 0) drain_all(ctx, first, choose(first, bits), failed);
  }
  if (failed != nullptr) leave_queue(ctx, *failed);
}

}  // namespace detail

// What was sent to a peer before arrives there before what is sent after. Free for peers that one
// queue leads to. Others are drained: those with several queues, and those that are mapped, too,
// for stores would overtake the NIC.
CHIME_DEVICE_OUT_OF_LINE void fence(const Context& ctx, const abi::NicContext& nic) {
  // Between the posts before and the look at the bits: pairs with first_touch.
  exec::fence<Order::kSeqCst, Scope::kDevice>();
  detail::drain_touched(ctx, nic, [&](const NicQueue* first, std::uint64_t bits) {
    return detail::unordered_bits(ctx, nic, first, bits);
  });
}

// Everything that was sent before is complete.
CHIME_DEVICE_OUT_OF_LINE void quiet(const Context& ctx, const abi::NicContext& nic) {
  detail::drain_touched(ctx, nic, [](const NicQueue*, std::uint64_t bits) { return bits; });
}

}  // namespace chime::nic

#endif  // CHIME_DEVICE_PATH_NIC_SYNC_CUH_
