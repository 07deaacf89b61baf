// put_signal: data and signal in one reservation, with one doorbell. The queue orders them, or an
// atomic after the writes does.
//
// Where writes may arrive in any order (kNicUnorderedWrites), a signal after data must not be a
// write. An atomic is carried out when all earlier requests have arrived. A fence bit in the
// signal's request would not be enough: it waits only for reads and atomics.
#ifndef CHIME_DEVICE_PATH_NIC_SIGNAL_CUH_
#define CHIME_DEVICE_PATH_NIC_SIGNAL_CUH_

#include <cstddef>
#include <cstdint>

#include "chime/abi/wqe.h"
#include "chime/device/channel/submit.cuh"
#include "chime/device/exec/exec.cuh"
#include "chime/device/op.cuh"
#include "chime/device/path/nic/atomics.cuh"
#include "chime/device/path/nic/fetch.cuh"
#include "chime/device/path/nic/memory.cuh"
#include "chime/device/path/nic/request.cuh"
#include "chime/device/path/nic/rma.cuh"

namespace chime::nic {

namespace detail {

// Adds, or sets by a write: one WQEBB.
CHIME_DEVICE void put_signal_request(const Context& ctx, const Channel& queue,
                                     const Request& request, const SignalUpdate& signal) {
  const Remote word = remote_word(ctx, queue, signal.word);
  if (signal.op == SignalOp::kAdd) {
    put_atomic(request, word, add_request(signal.value), sink_of(queue));
  } else {
    put_inline_write(request, word, sizeof(signal.value), inline_data_of(signal.value));
  }
}

CHIME_DEVICE_OUT_OF_LINE bool drain_before_signal(const Context& ctx, Channel& queue) {
  return channel::drain(ctx, queue);
}

}  // namespace detail

// The signal alone. Where writes arrive in any order it has no order towards them: a caller that
// wants one calls fence before, which drains.
template <class Group>
CHIME_DEVICE Ticket write_signal(const Context& ctx, Group group, Channel& queue,
                                 const SignalUpdate& signal) {
  return submit(ctx, group, queue, {.units = 1},
                [&](const QueueView& view, std::uint64_t index, bool is_last) {
                  detail::put_signal_request(ctx, queue, {view, index, is_last}, signal);
                });
}

// A signal that overtakes no earlier one: a barrier's counters must not go back, and nothing else
// drains between the announcements of two calls of sync_all.
CHIME_DEVICE bool announce(const Context& ctx, Channel& queue, const SignalUpdate& signal) {
  const bool is_ordered = (channel::head_of(queue).flags & abi::kNicUnorderedWrites) == 0;
  if (!is_ordered && !detail::drain_before_signal(ctx, queue)) return false;
  const Ticket ticket = write_signal(ctx, channel::Leader{}, queue, signal);
  if (ticket.ok()) channel::note_announcement(queue, ticket.target);
  return ticket.ok();
}

namespace detail {

// ---- After data ---------------------------------------------------------------------------------

// Whether a signal can be posted after its data and takes effect after it. `flags`: the queue's.
CHIME_DEVICE bool follows_data(std::uint32_t flags, SignalOp op) {
  constexpr std::uint32_t kBoth = abi::kNicUnorderedWrites | abi::kNicSwapsSignals;
  return op == SignalOp::kAdd || (flags & kBoth) != abi::kNicUnorderedWrites;
}

// Whether a swap of the whole word then sets it, which takes two WQEBBs.
CHIME_DEVICE bool is_swap(std::uint32_t flags, SignalOp op) {
  return op != SignalOp::kAdd && (flags & abi::kNicSwapsSignals) != 0;
}

CHIME_DEVICE Shape shape_behind(unsigned data_wqebbs, bool is_swap) {
  return {.units = data_wqebbs + (is_swap ? 2u : 1u), .tail = is_swap ? 1u : 0u};
}

CHIME_DEVICE void put_request_behind_data(const Context& ctx, const Channel& queue,
                                          std::uint32_t flags, const Request& request,
                                          const SignalUpdate& signal) {
  if (!is_swap(flags, signal.op)) return put_signal_request(ctx, queue, request, signal);
  put_atomic(request, remote_word(ctx, queue, signal.word), swap_request(signal.value),
             sink_of(queue));
}

// `put_data(request)` writes one request of one WQEBB.
template <class Group, class PutData>
CHIME_DEVICE Ticket submit_with_signal(const Context& ctx, Group group, Channel& queue,
                                       std::uint32_t flags, const SignalUpdate& signal,
                                       PutData put_data) {
  return submit(
      ctx, group, queue, shape_behind(1, is_swap(flags, signal.op)),
      [&](const QueueView& view, std::uint64_t index, bool is_last) {
        put_data(Request{view, index, false});
        put_request_behind_data(ctx, queue, view.head.flags, {view, index + 1, is_last}, signal);
      });
}

// ---- Separate from the data ---------------------------------------------------------------------

// A put and its signal that do not fit one submission. This is rare, so the functions below pass it
// by reference: it lies in memory and not in registers.
struct Apart {
  Put put;
  Local local;  // of put.src
  SignalUpdate signal;
};

CHIME_DEVICE_OUT_OF_LINE Ticket submit_behind_data(const Context& ctx, Channel& queue,
                                                   const Apart& all) {
  const std::uint32_t flags = channel::head_of(queue).flags;
  return submit(
      ctx, Alone{}, queue, shape_behind(0, is_swap(flags, all.signal.op)),
      [&](const QueueView& view, std::uint64_t index, bool is_last) {
        put_request_behind_data(ctx, queue, view.head.flags, {view, index, is_last}, all.signal);
      });
}

CHIME_DEVICE_OUT_OF_LINE bool signal_alone(const Context& ctx, Channel& queue, const Apart& all) {
  return write_signal(ctx, Alone{}, queue, all.signal).ok();
}

// Complete when it returns.
CHIME_DEVICE_OUT_OF_LINE bool write_alone(const Context& ctx, Channel& queue, const Apart& all) {
  const Put& put = all.put;
  const Remote remote = remote_data(ctx, queue, put.dst);
  if (!all.local.is_known) return staged_write(ctx, queue, remote, put.src, put.bytes);
  const Ticket ticket =
      transfer_long(ctx, queue, abi::WqeOpcode::kWrite, remote, all.local, put.bytes, false);
  return wait_for(ctx, queue, ticket);
}

// Completes the data before it sends the signal, if no signal can follow data or the NIC does not
// know the data.
CHIME_DEVICE bool write_then_signal(const Context& ctx, Channel& queue, const Apart& all) {
  return write_alone(ctx, queue, all) && signal_alone(ctx, queue, all);
}

// Sends more than one request: the signal posts the doorbell for them.
CHIME_DEVICE bool write_long_with_signal(const Context& ctx, Channel& queue, const Apart& all) {
  const exec::Committed to_ring_for_the_data;
  const Put& put = all.put;
  const Ticket data = transfer_long(ctx, queue, abi::WqeOpcode::kWrite,
                                    remote_data(ctx, queue, put.dst), all.local, put.bytes, true);
  if (!data.ok()) return false;
  const Ticket ticket = submit_behind_data(ctx, queue, all);
  return put.until == Until::kPosted ? ticket.ok() : wait_for(ctx, queue, ticket);
}

CHIME_DEVICE_OUT_OF_LINE bool write_apart(const Context& ctx, Channel& queue, Put put, Local local,
                                          SignalUpdate signal) {
  const Apart all = {put, local, signal};
  const std::uint32_t flags = channel::head_of(queue).flags;
  return local.is_known && follows_data(flags, signal.op) ? write_long_with_signal(ctx, queue, all)
                                                          : write_then_signal(ctx, queue, all);
}

}  // namespace detail

// A reader that sees the signal also sees the data. `put.bytes` may be 0.
template <std::size_t kLeast, class Group>
CHIME_DEVICE bool write_with_signal(const Context& ctx, Group group, Channel& queue, const Put& put,
                                    const SignalUpdate& signal) {
  if (put.bytes == 0) return write_signal(ctx, group, queue, signal).ok();
  const std::uint32_t flags = channel::head_of(queue).flags;
  const bool follows = detail::follows_data(flags, signal.op);
  if (follows && put.bytes <= abi::kInlineInTwoSegments) {
    return detail::submit_with_signal(ctx, group, queue, flags, signal,
                                      [&](const Request& request) {
                                        const auto bytes = static_cast<std::uint32_t>(put.bytes);
                                        const auto* src = static_cast<const std::byte*>(put.src);
                                        put_inline_write(request, remote_word(ctx, queue, put.dst),
                                                         bytes, load_inline<kLeast>(src, bytes));
                                      })
        .ok();
  }
  const Local local = find_local(ctx, put.src, put.bytes);
  if (!follows || !local.is_known || put.bytes > abi::kNicMostBytes) {
    return detail::write_apart(ctx, queue, put, local, signal);
  }
  const Ticket ticket =
      detail::submit_with_signal(ctx, group, queue, flags, signal, [&](const Request& request) {
        put_transfer(request, abi::WqeOpcode::kWrite, remote_data(ctx, queue, put.dst), local,
                     static_cast<std::uint32_t>(put.bytes));
      });
  return put.until == Until::kPosted ? ticket.ok() : wait_for(ctx, queue, ticket);
}

}  // namespace chime::nic

#endif  // CHIME_DEVICE_PATH_NIC_SIGNAL_CUH_
