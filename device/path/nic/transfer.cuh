// Writes and reads between a peer and memory here that the NIC knows, in requests of at most 1 GiB.
#ifndef CHIME_DEVICE_PATH_NIC_TRANSFER_CUH_
#define CHIME_DEVICE_PATH_NIC_TRANSFER_CUH_

#include <cstddef>
#include <cstdint>

#include "chime/abi/nic.h"
#include "chime/abi/wqe.h"
#include "chime/device/exec.cuh"
#include "chime/device/path/nic/memory.cuh"
#include "chime/device/path/nic/request.cuh"
#include "chime/device/path/nic/submit.cuh"

namespace chime::nic {
namespace detail {

// A read whose data a CQE may overtake is followed by a request that the data cannot.
CHIME_DEVICE bool is_flushed(const NicQueue& queue, abi::WqeOpcode opcode) {
  return opcode == abi::WqeOpcode::kRead && (queue.flags & abi::kNicFlushReads) != 0;
}

template <class Group>
CHIME_DEVICE Ticket transfer_once(Domain domain, Group group, NicQueue& queue,
                                  abi::WqeOpcode opcode, const Remote& remote, const Local& local,
                                  std::uint32_t bytes, bool more) {
  const bool flush = is_flushed(queue, opcode);
  const Shape shape = {.wqebbs = flush ? 2u : 1u, .more = more};
  return submit(domain, group, queue, shape, [&](std::uint64_t index, std::uint8_t ce) {
    put_transfer({queue, index, flush ? abi::kCqeOnFirstError : ce}, opcode, remote, local, bytes);
    if (flush) put_dump({queue, index + 1, ce}, local);
  });
}

// Bytes of a long transfer that go in full requests before the last one.
CHIME_DEVICE std::size_t front_bytes(std::size_t bytes) {
  return bytes <= abi::kNicMostBytes ? 0 : (bytes - 1) / abi::kNicMostBytes * abi::kNicMostBytes;
}

// Submits these; what follows rings for them. By value: nothing of the caller's moves to memory.
template <class Group>
CHIME_DEVICE_OUT_OF_LINE bool transfer_front(Domain domain, Group group, NicQueue& queue,
                                             abi::WqeOpcode opcode, Remote remote, Local local,
                                             std::size_t front) {
  for (std::size_t at = 0; at < front; at += abi::kNicMostBytes) {
    const Ticket part =
        transfer_once(domain, group, queue, opcode, advanced(remote, at), advanced(local, at),
                      static_cast<std::uint32_t>(abi::kNicMostBytes), true);
    if (!part.ok()) return false;
  }
  return true;
}

}  // namespace detail

// The ticket is of all of it: a queue completes in order.
template <class Group>
CHIME_DEVICE Ticket transfer(Domain domain, Group group, NicQueue& queue, abi::WqeOpcode opcode,
                             const Remote& remote, const Local& local, std::size_t bytes) {
  const exec::Committed to_ring_for_the_front;
  const std::size_t front = detail::front_bytes(bytes);
  if (front != 0 && !detail::transfer_front(domain, group, queue, opcode, remote, local, front)) {
    return {};
  }
  return detail::transfer_once(domain, group, queue, opcode, advanced(remote, front),
                               advanced(local, front), static_cast<std::uint32_t>(bytes - front),
                               false);
}

}  // namespace chime::nic

#endif  // CHIME_DEVICE_PATH_NIC_TRANSFER_CUH_
