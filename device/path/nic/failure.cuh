// Describes a request that failed, from its CQE and from the request itself, which the ring still
// holds.
#ifndef CHIME_DEVICE_PATH_NIC_FAILURE_CUH_
#define CHIME_DEVICE_PATH_NIC_FAILURE_CUH_

#include <cstddef>
#include <cstdint>

#include "chime/abi/channel.h"
#include "chime/abi/context.h"
#include "chime/abi/wqe.h"
#include "chime/device/exec/exec.cuh"
#include "chime/device/path/nic/completion.cuh"

namespace chime::nic {

namespace detail {

CHIME_DEVICE std::uint64_t big_word_at(const std::byte* at) {
  return abi::be64(
      exec::ld<Order::kRelaxed, Scope::kSystem>(reinterpret_cast<const std::uint64_t*>(at)));
}

// Length of a request that is still in the ring. For kDump: the length of the read that it flushes.
CHIME_DEVICE std::uint64_t bytes_of(const std::byte* wqe, abi::WqeOpcode opcode) {
  constexpr unsigned kAtomic8Opmod = static_cast<unsigned>(abi::AtomicSize::k4);
  switch (opcode) {
    case abi::WqeOpcode::kCompareSwap:
    case abi::WqeOpcode::kFetchAdd:
      return 8;
    case abi::WqeOpcode::kMaskedCompareSwap:
    case abi::WqeOpcode::kMaskedFetchAdd:
      return (word_at(wqe) & 0xff) == kAtomic8Opmod ? 4 : 8;
    case abi::WqeOpcode::kNop:
      return 0;
    default:
      return abi::be32(word_at(wqe + 2 * abi::kSegmentBytes)) & 0x7fffffffu;
  }
}

// The request that names the failed request's memory at the peer: itself, or the read before a
// DUMP, which names nothing there. The ring still holds it.
CHIME_DEVICE const std::byte* request_with_remote(const Channel& queue, std::uint16_t index,
                                                  abi::WqeOpcode opcode) {
  const bool flushes = opcode == abi::WqeOpcode::kDump;
  return queue.head.ring +
         ((index - (flushes ? 1u : 0u)) & (queue.head.depth - 1u)) * abi::kWqebbBytes;
}

}  // namespace detail

// Fills in what the failed CQE and its request say.
CHIME_DEVICE void describe_error(const Context& ctx, const Channel& queue,
                                 abi::ChannelFault& fault) {
  const auto [tail, syndrome_word, opcode_word] = queue.progress.cause;
  const auto syndrome = abi::cqe_syndrome(syndrome_word);
  const auto opcode = abi::cqe_wqe_opcode(opcode_word);
  fault.error = CHIMEX_ERR_NETWORK;
  fault.number = abi::be32(queue.head.number_be) >> 8;
  fault.opcode = static_cast<std::uint8_t>(opcode);
  fault.syndrome = static_cast<std::uint8_t>(syndrome);
  fault.vendor_error = abi::cqe_vendor_error(syndrome_word);
  fault.first_lost =
      syndrome == abi::CqeSyndrome::kFlushed && queue.nic.cq.mode == abi::NicCqMode::kCollapsed;
  fault.request = abi::cqe_tail(tail).counter;
  const std::byte* const wqe = detail::request_with_remote(queue, fault.request, opcode);
  fault.bytes = detail::bytes_of(wqe, opcode);
  // Translates the request's address at the peer into this PE's heap.
  const std::uint64_t there = detail::big_word_at(wqe + abi::kSegmentBytes);
  fault.address = reinterpret_cast<std::uint64_t>(ctx.pe.heap) + (there - queue.nic.peer.heap);
}

}  // namespace chime::nic

#endif  // CHIME_DEVICE_PATH_NIC_FAILURE_CUH_
