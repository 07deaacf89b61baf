// put_signal: data and signal in one reservation, with one doorbell. The queue keeps their order.
#ifndef CHIME_DEVICE_PATH_NIC_SIGNAL_CUH_
#define CHIME_DEVICE_PATH_NIC_SIGNAL_CUH_

#include <cstddef>
#include <cstdint>

#include "chime/abi/wqe.h"
#include "chime/device/exec.cuh"
#include "chime/device/op.cuh"
#include "chime/device/path/nic/fetch.cuh"
#include "chime/device/path/nic/memory.cuh"
#include "chime/device/path/nic/request.cuh"
#include "chime/device/path/nic/rma.cuh"
#include "chime/device/path/nic/submit.cuh"

namespace chime::nic {

namespace detail {

// A write of 8 bytes, or an atomic add. Both take one WQEBB.
CHIME_DEVICE void put_signal_request(const Context& ctx, const NicQueue& queue, Request request,
                                     const SignalUpdate& signal, int pe) {
  const Remote word = remote_word(ctx, signal.word, pe);
  if (signal.op == SignalOp::kAdd) {
    put_atomic(request, word, FetchAdd8{signal.value}, sink_of(queue));
  } else {
    put_inline_write(request, word, sizeof(signal.value), inline_data_of(signal.value));
  }
}

}  // namespace detail

// The signal alone, behind what is in the queue.
template <class Group>
CHIME_DEVICE Ticket write_signal(const Context& ctx, Group group, NicQueue& queue,
                                 const SignalUpdate& signal, int pe) {
  return submit(ctx, group, queue, {.wqebbs = 1},
                [&](const QueueView& view, std::uint64_t index, std::uint8_t ce) {
                  detail::put_signal_request(ctx, queue, {view, index, ce}, signal, pe);
                });
}

namespace detail {

// `put_data(request)` writes one request of one WQEBB.
template <class Group, class PutData>
CHIME_DEVICE Ticket submit_with_signal(const Context& ctx, Group group, NicQueue& queue,
                                       const SignalUpdate& signal, int pe, PutData put_data) {
  return submit(ctx, group, queue, {.wqebbs = 2},
                [&](const QueueView& view, std::uint64_t index, std::uint8_t ce) {
                  put_data(Request{view, index, abi::kCqeOnFirstError});
                  put_signal_request(ctx, queue, {view, index + 1, ce}, signal, pe);
                });
}

// Where writes may arrive in any order, or the data is not known to the NIC, it is complete before
// the signal is sent.
template <std::size_t kLeast>
CHIME_DEVICE_OUT_OF_LINE bool write_then_signal(const Context& ctx, NicQueue& queue, Put put,
                                                SignalUpdate signal, int pe) {
  put.until = Until::kLocal;
  return may_post(ctx, queue) && write<kLeast>(ctx, Alone{}, queue, put, pe) && drain(ctx, queue) &&
         write_signal(ctx, Alone{}, queue, signal, pe).ok();
}

// More than one request: the signal rings for them.
CHIME_DEVICE_OUT_OF_LINE bool write_long_with_signal(const Context& ctx, NicQueue& queue, Put put,
                                                     Local local, SignalUpdate signal, int pe) {
  const exec::Committed to_ring_for_the_data;
  const Remote remote = remote_data(ctx, put.dst, pe);
  const abi::WqeOpcode opcode = abi::WqeOpcode::kWrite;
  if (!transfer_long(ctx, queue, opcode, remote, local, put.bytes, true).ok()) return false;
  const Ticket ticket = write_signal(ctx, Alone{}, queue, signal, pe);
  return put.until == Until::kPosted ? ticket.ok() : wait_for(ctx, ticket);
}

}  // namespace detail

// Who sees the signal sees the data. `put.bytes` may be 0.
template <std::size_t kLeast, class Group>
CHIME_DEVICE bool write_with_signal(const Context& ctx, Group group, NicQueue& queue,
                                    const Put& put, const SignalUpdate& signal, int pe) {
  if (put.bytes == 0) return write_signal(ctx, group, queue, signal, pe).ok();
  if ((queue.flags & abi::kNicUnorderedWrites) != 0) {
    return detail::write_then_signal<kLeast>(ctx, queue, put, signal, pe);
  }
  if (put.bytes <= abi::kInlineInTwoSegments) {
    return detail::submit_with_signal(ctx, group, queue, signal, pe,
                                      [&](const Request& request) {
                                        const auto bytes = static_cast<std::uint32_t>(put.bytes);
                                        const auto* src = static_cast<const std::byte*>(put.src);
                                        put_inline_write(request, remote_word(ctx, put.dst, pe),
                                                         bytes, load_inline<kLeast>(src, bytes));
                                      })
        .ok();
  }
  const Local local = find_local(ctx, put.src, put.bytes);
  if (!local.is_known) return detail::write_then_signal<kLeast>(ctx, queue, put, signal, pe);
  if (put.bytes > abi::kNicMostBytes) {
    return detail::write_long_with_signal(ctx, queue, put, local, signal, pe);
  }
  const Ticket ticket =
      detail::submit_with_signal(ctx, group, queue, signal, pe, [&](const Request& request) {
        put_transfer(request, abi::WqeOpcode::kWrite, remote_data(ctx, put.dst, pe), local,
                     static_cast<std::uint32_t>(put.bytes));
      });
  return put.until == Until::kPosted ? ticket.ok() : wait_for(ctx, ticket);
}

}  // namespace chime::nic

#endif  // CHIME_DEVICE_PATH_NIC_SIGNAL_CUH_
