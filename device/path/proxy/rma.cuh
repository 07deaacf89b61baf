// Puts, gets and signals as requests. Their data is a value in the request, memory that the proxy
// may touch, or a staging slot.
//
// One thread calls these, also for a warp or block. False: the FIFO is out of use, or the peer is
// lost.
#ifndef CHIME_DEVICE_PATH_PROXY_RMA_CUH_
#define CHIME_DEVICE_PATH_PROXY_RMA_CUH_

#include <cstddef>
#include <cstdint>

#include "chime/abi/proxy_request.h"
#include "chime/device/channel/complete.cuh"
#include "chime/device/exec/exec.cuh"
#include "chime/device/op.cuh"
#include "chime/device/path/local_memory.cuh"
#include "chime/device/path/proxy/answer.cuh"
#include "chime/device/path/proxy/request.cuh"
#include "chime/device/path/small_data.cuh"
#include "chime/device/path/staged.cuh"
#include "chime/device/symmetric.cuh"

namespace chime::fifo {

// An address at the peer.
struct Remote {
  int pe;
  std::uint64_t at;
};
CHIME_DEVICE Remote advanced(const Remote& remote, std::uint64_t bytes) {
  return {remote.pe, remote.at + bytes};
}
CHIME_DEVICE Remote remote_of(const Context& ctx, const void* symmetric, int pe) {
  return {pe, heap_offset(ctx, symmetric)};
}

// Data that a request carries.
struct Value {
  std::uint32_t word[abi::kProxyMostValue / 4];
};

namespace detail {

CHIME_DEVICE std::uint64_t both(std::uint32_t low, std::uint32_t high) {
  return low | static_cast<std::uint64_t>(high) << 32;
}
CHIME_DEVICE abi::ProxySlot put_of(const Remote& to, const Value& value, unsigned bytes) {
  return abi::proxy_put_value(to.pe, to.at, bytes, both(value.word[0], value.word[1]),
                              both(value.word[2], value.word[3]));
}
CHIME_DEVICE abi::ProxySlot put_of(const Remote& to, const void* src, std::size_t bytes) {
  return abi::proxy_put(to.pe, to.at, reinterpret_cast<std::uint64_t>(src), bytes);
}
CHIME_DEVICE abi::ProxySlot get_of(const Remote& from, void* dst, std::size_t bytes) {
  return abi::proxy_get(from.pe, from.at, reinterpret_cast<std::uint64_t>(dst), bytes);
}

CHIME_DEVICE bool is_value(std::size_t bytes) { return bytes <= abi::kProxyMostValue; }

CHIME_DEVICE bool ends(const Context& ctx, Channel& fifo, int pe, std::uint32_t answer,
                       const Ticket& ticket) {
  if (answer == kNoAnswer) return ticket.ok();
  bool has_ended = true;
  const bool is_well = ticket.ok() && await_end(ctx, fifo, pe, answer, ticket.target, has_ended);
  if (has_ended) free_answer(fifo, answer);
  return is_well;
}

// Posts one request, and waits for its end if `until` says so. `write(place, answer)` writes it
// there.
template <unsigned kSlots, class Group, class Write>
CHIME_DEVICE bool post_until(const Context& ctx, Group group, Channel& fifo, int pe, Until until,
                             Write write) {
  const exec::Committed to_free_the_answer;
  std::uint32_t answer = kNoAnswer;
  if (until != Until::kPosted) {
    answer = take_answer(ctx, fifo, pe);
    if (answer == kNoAnswer) return false;
  }
  const Ticket ticket =
      post<kSlots>(ctx, group, fifo, pe, [&](const Place& place) { write(place, answer); });
  return ends(ctx, fifo, pe, answer, ticket);
}

// Memory that the proxy does not know, through a staging slot.
struct Staged {
  static constexpr Path kPath = Path::kProxy;
  using Remote = fifo::Remote;

  template <bool kWrites>
  CHIME_DEVICE static Ticket post(const Context& ctx, Channel& fifo,
                                  const staging::Staged<Staged>& all, std::uint64_t chunk) {
    return fifo::post<1>(ctx, Alone{}, fifo, all.remote.pe, [&](const Place& place) {
      std::byte* const here = all.halves.at(chunk);
      const std::size_t bytes = all.bytes_of(chunk);
      const abi::ProxySlot request = kWrites ? put_of(all.remote_of(chunk), here, bytes)
                                             : get_of(all.remote_of(chunk), here, bytes);
      place.put(abi::with_answer(request, answer_of(fifo, all, chunk)));
    });
  }

  CHIME_DEVICE static int pe_of(const Channel&, const Remote& remote) { return remote.pe; }
  CHIME_DEVICE static bool await(const Context& ctx, Channel& fifo,
                                 const staging::Staged<Staged>& all, std::uint64_t chunk,
                                 std::uint64_t target) {
    bool has_ended = false;
    return await_end(ctx, fifo, all.remote.pe, answer_of(fifo, all, chunk), target, has_ended);
  }

  // Waits for each one: the last may end first, and the next thread that has the slot gets both
  // answers.
  CHIME_DEVICE static bool await_all(const Context& ctx, Channel& fifo,
                                     const staging::Staged<Staged>& all) {
    if (all.before != 0 && !await(ctx, fifo, all, all.chunk - 2, all.before)) return false;
    return all.last == 0 || await(ctx, fifo, all, all.chunk - 1, all.last);
  }

  // The answer of the chunk's half. No other request gets it until this one has ended.
  CHIME_DEVICE static std::uint32_t answer_of(const Channel& fifo,
                                              const staging::Staged<Staged>& all,
                                              std::uint64_t chunk) {
    return abi::proxy_answers(fifo.head.depth, all.slot) + static_cast<std::uint32_t>(chunk % 2);
  }
};

}  // namespace detail

// ---- Puts and gets ------------------------------------------------------------------------------

template <class Group, class W>
CHIME_DEVICE bool write_element(const Context& ctx, Group group, Channel& fifo, const Remote& to,
                                const W& value) {
  return post<1>(ctx, group, fifo, to.pe,
                 [&](const Place& place) {
                   place.put(detail::put_of(to, small_data_of<Value>(value), sizeof(W)));
                 })
      .ok();
}

// kLeast: an alignment that source and bytes are known to have.
template <std::size_t kLeast, class Group>
CHIME_DEVICE bool write(const Context& ctx, Group group, Channel& fifo, const Put& put, int pe) {
  const Remote to = remote_of(ctx, put.dst, pe);
  if (detail::is_value(put.bytes)) {
    return post<1>(
               ctx, group, fifo, pe,
               [&](const Place& place) {
                 const auto bytes = static_cast<std::uint32_t>(put.bytes);
                 const auto* const src = static_cast<const std::byte*>(put.src);
                 place.put(detail::put_of(to, load_small_data<Value, kLeast>(src, bytes), bytes));
               })
        .ok();
  }
  if (!find_local(ctx, put.src, put.bytes).is_known) {
    return staging::write<detail::Staged>(ctx, fifo, to, put.src, put.bytes);
  }
  return detail::post_until<1>(
      ctx, group, fifo, pe, put.until, [&](const Place& place, std::uint32_t answer) {
        place.put(abi::with_answer(detail::put_of(to, put.src, put.bytes), answer));
      });
}

template <class Group>
CHIME_DEVICE bool read(const Context& ctx, Group group, Channel& fifo, const Get& get, int pe) {
  const Remote from = remote_of(ctx, get.src, pe);
  if (!find_local(ctx, get.dst, get.bytes).is_known) {
    return staging::read<detail::Staged>(ctx, fifo, from, get.dst, get.bytes);
  }
  return detail::post_until<1>(
      ctx, group, fifo, pe, get.until, [&](const Place& place, std::uint32_t answer) {
        place.put(abi::with_answer(detail::get_of(from, get.dst, get.bytes), answer));
      });
}

// ---- Atomics without a result, and signals ------------------------------------------------------

// Stores also reach a mapped peer, and would overtake the contents of the FIFO: then fence drains
// it. (An operation with a result has ended before anything else is sent.)
CHIME_DEVICE void note_other_path(const Context& ctx, Channel& fifo, int pe) {
  if (exec::ld_settled(ctx.pe.peer_heap + pe) != nullptr) {
    exec::st<Order::kRelaxed, Scope::kDevice>(&fifo.producer.mapped, 1);
  }
}

template <class Group>
CHIME_DEVICE Ticket post_atomic(const Context& ctx, Group group, Channel& fifo, const Remote& to,
                                AmoOp op, unsigned bytes, std::uint64_t operand) {
  note_other_path(ctx, fifo, to.pe);
  return post<1>(ctx, group, fifo, to.pe, [&](const Place& place) {
    place.put(abi::proxy_atomic(abi::ProxyKind::kAtomic, op, to.pe, to.at, bytes, operand));
  });
}

CHIME_DEVICE AmoOp amo_of(SignalOp op) { return op == SignalOp::kAdd ? AmoOp::kAdd : AmoOp::kSet; }

namespace detail {

CHIME_DEVICE abi::ProxySlot slot_of(const Context& ctx, const SignalUpdate& signal) {
  return abi::proxy_signal({heap_offset(ctx, signal.word), signal.value, amo_of(signal.op)});
}

}  // namespace detail

template <class Group>
CHIME_DEVICE Ticket write_signal(const Context& ctx, Group group, Channel& fifo,
                                 const SignalUpdate& signal, int pe) {
  return post_atomic(ctx, group, fifo, remote_of(ctx, signal.word, pe), amo_of(signal.op),
                     sizeof(signal.value), signal.value);
}

// Until no later signal can overtake one that was sent before. False: requests to the peer fail.
CHIME_DEVICE bool await_turn_of_signals(const Context& ctx, Channel& fifo, int pe) {
  const bool is_ordered = (channel::head_of(fifo).flags & abi::kProxyUnorderedAtomics) == 0;
  return is_ordered || await_done(ctx, fifo, pe, channel::target(fifo));
}

// A signal that overtakes no earlier one: a barrier's counters must not go back.
CHIME_DEVICE bool announce(const Context& ctx, Channel& fifo, const SignalUpdate& signal, int pe) {
  if (!await_turn_of_signals(ctx, fifo, pe)) return false;
  const Ticket ticket = write_signal(ctx, Thread{}, fifo, signal, pe);
  if (ticket.ok()) channel::note_announcement(fifo, ticket.target);
  return ticket.ok();
}

// One request: a reader that sees the signal also sees the data. `put.bytes` may be 0.
template <std::size_t kLeast, class Group>
CHIME_DEVICE bool write_with_signal(const Context& ctx, Group group, Channel& fifo, const Put& put,
                                    const SignalUpdate& signal, int pe) {
  if (put.bytes == 0) return write_signal(ctx, group, fifo, signal, pe).ok();
  const Remote to = remote_of(ctx, put.dst, pe);
  const bool is_value = detail::is_value(put.bytes);
  if (!is_value && !find_local(ctx, put.src, put.bytes).is_known) {
    return staging::write<detail::Staged>(ctx, fifo, to, put.src, put.bytes) &&
           write_signal(ctx, Alone{}, fifo, signal, pe).ok();
  }
  note_other_path(ctx, fifo, pe);
  const Until until = is_value ? Until::kPosted : put.until;
  return detail::post_until<2>(
      ctx, group, fifo, pe, until, [&](const Place& place, std::uint32_t answer) {
        const auto* const src = static_cast<const std::byte*>(put.src);
        const auto bytes = static_cast<std::uint32_t>(put.bytes);
        const abi::ProxySlot data =
            is_value ? detail::put_of(to, load_small_data<Value, kLeast>(src, bytes), bytes)
                     : detail::put_of(to, put.src, put.bytes);
        place.put(abi::with_answer(abi::with_signal(data), answer), detail::slot_of(ctx, signal));
      });
}

}  // namespace chime::fifo

#endif  // CHIME_DEVICE_PATH_PROXY_RMA_CUH_
