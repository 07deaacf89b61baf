// put_signal: data and signal in one reservation, with one doorbell. Their order is the queue's, or
// that of an atomic behind writes.
//
// Where writes may arrive in any order (kNicUnorderedWrites), a signal behind data must be no
// write. An atomic is carried out when all requests before it have arrived. A fence bit of the
// signal's request would not do: it waits for reads and atomics alone.
#ifndef CHIME_DEVICE_PATH_NIC_SIGNAL_CUH_
#define CHIME_DEVICE_PATH_NIC_SIGNAL_CUH_

#include <cstddef>
#include <cstdint>

#include "chime/abi/wqe.h"
#include "chime/device/channel/submit.cuh"
#include "chime/device/exec.cuh"
#include "chime/device/op.cuh"
#include "chime/device/path/nic/atomics.cuh"
#include "chime/device/path/nic/fetch.cuh"
#include "chime/device/path/nic/memory.cuh"
#include "chime/device/path/nic/request.cuh"
#include "chime/device/path/nic/rma.cuh"

namespace chime::nic {

namespace detail {

// Added, or set by a write: one WQEBB.
CHIME_DEVICE void put_signal_request(const Context& ctx, const Channel& queue,
                                     const Request& request, const SignalUpdate& signal, int pe) {
  const Remote word = remote_word(ctx, signal.word, pe);
  if (signal.op == SignalOp::kAdd) {
    put_atomic(request, word, add_request(signal.value), sink_of(queue));
  } else {
    put_inline_write(request, word, sizeof(signal.value), inline_data_of(signal.value));
  }
}

CHIME_DEVICE_OUT_OF_LINE bool drain_before_signal(const Context& ctx, Channel& queue) {
  return drain(ctx, queue);
}

}  // namespace detail

// The signal alone. Where writes arrive in any order it has none: who wants one has drained by a
// fence.
template <class Group>
CHIME_DEVICE Ticket write_signal(const Context& ctx, Group group, Channel& queue,
                                 const SignalUpdate& signal, int pe) {
  return submit(ctx, group, queue, {.units = 1},
                [&](const QueueView& view, std::uint64_t index, bool is_last) {
                  detail::put_signal_request(ctx, queue, {view, index, is_last}, signal, pe);
                });
}

// A signal that overtakes none before it: a barrier's counters must not go back, and nothing else
// drains between the announcements of two sync_alls.
CHIME_DEVICE bool announce(const Context& ctx, Channel& queue, const SignalUpdate& signal, int pe) {
  const bool is_ordered = (queue.head.flags & abi::kNicUnorderedWrites) == 0;
  return (is_ordered || detail::drain_before_signal(ctx, queue)) &&
         write_signal(ctx, Thread{}, queue, signal, pe).ok();
}

namespace detail {

// ---- Behind data --------------------------------------------------------------------------------

// Whether a signal may be posted behind its data and comes behind it.
CHIME_DEVICE bool follows_data(const Channel& queue, SignalOp op) {
  constexpr std::uint32_t kBoth = abi::kNicUnorderedWrites | abi::kNicSwapsSignals;
  return op == SignalOp::kAdd || (queue.head.flags & kBoth) != abi::kNicUnorderedWrites;
}

// Whether it is set by a swap of the whole word then, which takes two WQEBBs.
CHIME_DEVICE bool is_swap(const Channel& queue, SignalOp op) {
  return op != SignalOp::kAdd && (queue.head.flags & abi::kNicSwapsSignals) != 0;
}

CHIME_DEVICE Shape shape_behind(unsigned data_wqebbs, bool is_swap) {
  return {.units = data_wqebbs + (is_swap ? 2u : 1u), .wide = is_swap};
}

CHIME_DEVICE void put_request_behind_data(const Context& ctx, const Channel& queue,
                                          const Request& request, const SignalUpdate& signal,
                                          int pe) {
  if (!is_swap(queue, signal.op)) return put_signal_request(ctx, queue, request, signal, pe);
  put_atomic(request, remote_word(ctx, signal.word, pe), swap_request(signal.value),
             sink_of(queue));
}

// `put_data(request)` writes one request of one WQEBB.
template <class Group, class PutData>
CHIME_DEVICE Ticket submit_with_signal(const Context& ctx, Group group, Channel& queue,
                                       const SignalUpdate& signal, int pe, PutData put_data) {
  return submit(ctx, group, queue, shape_behind(1, is_swap(queue, signal.op)),
                [&](const QueueView& view, std::uint64_t index, bool is_last) {
                  put_data(Request{view, index, false});
                  put_request_behind_data(ctx, queue, {view, index + 1, is_last}, signal, pe);
                });
}

CHIME_DEVICE Ticket submit_behind_data(const Context& ctx, Channel& queue,
                                       const SignalUpdate& signal, int pe) {
  return submit(ctx, Alone{}, queue, shape_behind(0, is_swap(queue, signal.op)),
                [&](const QueueView& view, std::uint64_t index, bool is_last) {
                  put_request_behind_data(ctx, queue, {view, index, is_last}, signal, pe);
                });
}

// Where no signal can follow data, or the data is not known to the NIC, it is complete before the
// signal is sent.
template <std::size_t kLeast>
CHIME_DEVICE_OUT_OF_LINE bool write_then_signal(const Context& ctx, Channel& queue, Put put,
                                                SignalUpdate signal, int pe) {
  put.until = Until::kLocal;
  return may_post(ctx, queue) && write<kLeast>(ctx, Alone{}, queue, put, pe) && drain(ctx, queue) &&
         write_signal(ctx, Alone{}, queue, signal, pe).ok();
}

// More than one request: the signal rings for them.
CHIME_DEVICE_OUT_OF_LINE bool write_long_with_signal(const Context& ctx, Channel& queue, Put put,
                                                     Local local, SignalUpdate signal, int pe) {
  const exec::Committed to_ring_for_the_data;
  const Remote remote = remote_data(ctx, put.dst, pe);
  const abi::WqeOpcode opcode = abi::WqeOpcode::kWrite;
  if (!transfer_long(ctx, queue, opcode, remote, local, put.bytes, true).ok()) return false;
  const Ticket ticket = submit_behind_data(ctx, queue, signal, pe);
  return put.until == Until::kPosted ? ticket.ok() : wait_for(ctx, ticket);
}

}  // namespace detail

// Who sees the signal sees the data. `put.bytes` may be 0.
template <std::size_t kLeast, class Group>
CHIME_DEVICE bool write_with_signal(const Context& ctx, Group group, Channel& queue, const Put& put,
                                    const SignalUpdate& signal, int pe) {
  if (put.bytes == 0) return write_signal(ctx, group, queue, signal, pe).ok();
  if (!detail::follows_data(queue, signal.op)) {
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
