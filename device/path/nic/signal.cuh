// put_signal: data and signal in one reservation, with one doorbell. The queue keeps their order.
#ifndef CHIME_DEVICE_PATH_NIC_SIGNAL_CUH_
#define CHIME_DEVICE_PATH_NIC_SIGNAL_CUH_

#include <cstddef>
#include <cstdint>

#include "chime/abi/wqe.h"
#include "chime/device/exec.cuh"
#include "chime/device/path/nic/fetch.cuh"
#include "chime/device/path/nic/memory.cuh"
#include "chime/device/path/nic/request.cuh"
#include "chime/device/path/nic/rma.cuh"
#include "chime/device/path/nic/submit.cuh"

namespace chime::nic {

// How a signal word at a peer is updated: a write of 8 bytes, or an atomic add. Both take one
// WQEBB.
struct SignalUpdate {
  Remote remote;
  std::uint64_t value;
  bool adds;
};

CHIME_DEVICE SignalUpdate signal_update(Domain domain, const std::uint64_t* word,
                                        std::uint64_t value, bool adds, int pe) {
  return {remote_word(domain, word, pe), value, adds};
}

namespace detail {

CHIME_DEVICE void put_signal_request(const Place& place, const SignalUpdate& signal) {
  if (signal.adds) {
    put_atomic(place, signal.remote, FetchAdd8{signal.value}, sink_of(place.queue));
  } else {
    put_inline_write(place, signal.remote, sizeof(signal.value), inline_data_of(signal.value));
  }
}

template <class Group>
CHIME_DEVICE Ticket signal_alone(Domain domain, Group group, NicQueue& queue,
                                 const SignalUpdate& signal) {
  return submit(domain, group, queue, {.wqebbs = 1}, [&](std::uint64_t index, std::uint8_t ce) {
    put_signal_request({queue, index, ce}, signal);
  });
}

// `put_data(place)` writes one request of one WQEBB.
template <class Group, class PutData>
CHIME_DEVICE Ticket submit_with_signal(Domain domain, Group group, NicQueue& queue,
                                       const SignalUpdate& signal, PutData put_data) {
  return submit(domain, group, queue, {.wqebbs = 2}, [&](std::uint64_t index, std::uint8_t ce) {
    put_data(Place{queue, index, abi::kCqeOnFirstError});
    put_signal_request({queue, index + 1, ce}, signal);
  });
}

// Where writes may arrive in any order, or the data is not known to the NIC, it is complete before
// the signal is sent.
template <std::size_t kLeast, class Group>
CHIME_DEVICE_OUT_OF_LINE bool signal_after_data(Domain domain, Group group, NicQueue& queue,
                                                void* dst, const void* src, std::size_t bytes,
                                                SignalUpdate signal, int pe) {
  return put<kLeast>(domain, group, queue, dst, src, bytes, pe, Until::kLocal) &&
         drain(domain, queue) && signal_alone(domain, group, queue, signal).ok();
}

template <std::size_t kLeast, class Group>
CHIME_DEVICE bool put_signal(Domain domain, Group group, NicQueue& queue, void* dst,
                             const void* src, std::size_t bytes, const SignalUpdate& signal, int pe,
                             Until until) {
  if (bytes == 0) return signal_alone(domain, group, queue, signal).ok();
  if ((queue.flags & abi::kNicUnorderedWrites) != 0) {
    return signal_after_data<kLeast>(domain, group, queue, dst, src, bytes, signal, pe);
  }
  if (bytes <= abi::kInlineInTwoSegments) {
    const auto size = static_cast<std::uint32_t>(bytes);
    const auto data = load_inline<kLeast>(static_cast<const std::byte*>(src), size);
    const Remote word = remote_word(domain, dst, pe);
    return submit_with_signal(
               domain, group, queue, signal,
               [&](const Place& place) { put_inline_write(place, word, size, data); })
        .ok();
  }
  const Remote remote = remote_data(domain, dst, pe);
  const Local local = find_local(domain, src, bytes);
  if (!local.is_known) {
    return signal_after_data<kLeast>(domain, group, queue, dst, src, bytes, signal, pe);
  }
  const exec::Committed to_ring_for_the_front;
  const std::size_t front = front_bytes(bytes);
  if (front != 0 &&
      !transfer_front(domain, group, queue, abi::WqeOpcode::kWrite, remote, local, front)) {
    return false;
  }
  const Ticket ticket = submit_with_signal(domain, group, queue, signal, [&](const Place& place) {
    put_transfer(place, abi::WqeOpcode::kWrite, advanced(remote, front), advanced(local, front),
                 static_cast<std::uint32_t>(bytes - front));
  });
  return until == Until::kPosted ? ticket.ok() : wait_for(domain, ticket);
}

}  // namespace detail

// Who sees the signal sees the data. `bytes` may be 0.
template <std::size_t kLeast, class Group>
CHIME_DEVICE void put_signal(Domain domain, Group group, void* dst, const void* src,
                             std::size_t bytes, const SignalUpdate& signal, int pe, Until until) {
  if (!group.is_leader()) return;
  NicQueue& queue = queue_to(domain, pe);
  if (!detail::put_signal<kLeast>(domain, group, queue, dst, src, bytes, signal, pe, until)) {
    leave_queue(domain, queue);
  }
}

// The signal alone. A fence before it orders it behind puts.
CHIME_DEVICE void signal_op(Domain domain, const SignalUpdate& signal, int pe) {
  NicQueue& queue = queue_to(domain, pe);
  if (!detail::signal_alone(domain, Thread{}, queue, signal).ok()) leave_queue(domain, queue);
}

}  // namespace chime::nic

#endif  // CHIME_DEVICE_PATH_NIC_SIGNAL_CUH_
