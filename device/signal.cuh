// put_signal, and what is done with a signal word: a 64-bit symmetric word that says "the data is
// there".
#ifndef CHIME_DEVICE_SIGNAL_CUH_
#define CHIME_DEVICE_SIGNAL_CUH_

#include <cstddef>
#include <cstdint>

#include "chime/abi/state.h"
#include "chime/device/check.cuh"
#include "chime/device/exec.cuh"
#include "chime/device/group.cuh"
#include "chime/device/order.cuh"
#include "chime/device/path/p2p.cuh"
#include "chime/device/peer.cuh"
#include "chime/device/rma.cuh"
#include "chime/device/unmapped.cuh"
#include "chime/device/wait.cuh"

namespace chime {

// A signal word at the target and how it is updated.
struct Signal {
  std::uint64_t* address;
  std::uint64_t value;
  SignalOp op = SignalOp::kSet;
};

// The same from the C API's arguments; `op` is a CHIME_SIGNAL_*.
CHIME_DEVICE Signal signal_of(std::uint64_t* address, std::uint64_t value, int op) {
  return {address, value, static_cast<SignalOp>(op)};
}

namespace detail {

CHIME_DEVICE bool signal_op_exists(SignalOp op) {
  return op == SignalOp::kSet || op == SignalOp::kAdd;
}

// Where `pe`'s signal word is mapped. Adding takes the path of atomics, setting that of data.
CHIME_DEVICE std::uint64_t* signal_ptr(const Context& ctx, const Signal& signal, int pe) {
  if (ctx.checked != 0 && !signal_op_exists(signal.op)) return nullptr;
  return signal.op == SignalOp::kAdd ? amo_ptr(ctx, signal.address, pe)
                                     : peer_word_ptr(ctx, signal.address, pe);
}

// signal_ptr was null, and the NIC does not go there.
CHIME_DEVICE void fail_signal(const Context& ctx, const Signal& signal, int pe,
                              Operation operation) {
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  if (signal_op_exists(signal.op)) {
    return fail_unreachable(ctx, signal.address, kWord, pe, {operation, kWord});
  }
  fail(ctx, {.status = CHIMEX_ERR_INVALID,
             .operation = operation,
             .pe = pe,
             .fault = Fault::kSignalOp,
             .address = signal.address,
             .expected = static_cast<std::uint64_t>(signal.op)});
}

CHIME_DEVICE bool adds(const Signal& signal) { return signal.op == SignalOp::kAdd; }

// Whether the NIC takes what signal_ptr has not found. It has no words for other operations.
CHIME_DEVICE bool nic_signals(const Context& ctx, const Signal& signal, int pe) {
  return signal_op_exists(signal.op) &&
         unmapped::nic_signals(ctx, signal.address, adds(signal), pe);
}

// Data and signal go one way.
template <std::size_t kLeast, class Group>
CHIME_DEVICE void put_signal_bytes(const Context& ctx, Group g, void* dst, const void* src,
                                   std::size_t bytes, const Signal& signal, int pe,
                                   Operation operation) {
  std::uint64_t* const word = signal_ptr(ctx, signal, pe);
  if (word == nullptr && nic_signals(ctx, signal, pe)) {
    return unmapped::put_signal<kLeast>(ctx, g, dst, src, bytes, signal.address, signal.value,
                                        adds(signal), pe, operation);
  }
  if (word == nullptr) return fail_signal(ctx, signal, pe, operation);
  // No signal without its data.
  if (!put_bytes<kLeast>(ctx, g, dst, src, bytes, pe, operation)) return;
  g.sync();  // every member's stores come before the leader's release
  if (g.is_leader()) p2p::signal(word, signal.value, signal.op);
}

}  // namespace detail

// Puts, then updates the signal at `pe`: who sees the update sees the data (of this call; puts
// before it need a fence). The source may be reused when the call returns; with nbi, after quiet. A
// group updates the signal once. With n == 0 only the signal is sent.
template <class Group, class T>
CHIME_DEVICE void put_signal(const Context& ctx, Group g, T* dst, const T* src, std::size_t n,
                             Signal signal, int pe) {
  detail::put_signal_bytes<detail::kLeastWord<T>>(ctx, g, dst, src, detail::bytes_of<T>(n), signal,
                                                  pe, Operation::kPutSignal);
}
template <class Group, class T>
CHIME_DEVICE void put_signal_nbi(const Context& ctx, Group g, T* dst, const T* src, std::size_t n,
                                 Signal signal, int pe) {
  detail::put_signal_bytes<detail::kLeastWord<T>>(ctx, g, dst, src, detail::bytes_of<T>(n), signal,
                                                  pe, Operation::kPutSignalNbi);
}
template <class Group>
CHIME_DEVICE void putmem_signal(const Context& ctx, Group g, void* dst, const void* src,
                                std::size_t bytes, Signal signal, int pe) {
  detail::put_signal_bytes<1>(ctx, g, dst, src, bytes, signal, pe, Operation::kPutSignal);
}
template <class Group>
CHIME_DEVICE void putmem_signal_nbi(const Context& ctx, Group g, void* dst, const void* src,
                                    std::size_t bytes, Signal signal, int pe) {
  detail::put_signal_bytes<1>(ctx, g, dst, src, bytes, signal, pe, Operation::kPutSignalNbi);
}

// Updates the signal alone, atomically and with no order: put, fence, signal_op is the sequence
// that announces data.
CHIME_DEVICE void signal_op(const Context& ctx, const Signal& signal, int pe) {
  if (auto* word = detail::signal_ptr(ctx, signal, pe)) {
    return p2p::update(word, signal.value, signal.op);
  }
  if (detail::nic_signals(ctx, signal, pe)) {
    return unmapped::signal(ctx, signal.address, signal.value, detail::adds(signal), pe);
  }
  detail::fail_signal(ctx, signal, pe, Operation::kSignalOp);
}

// Reads this PE's signal word once. What came with the value seen is visible after it. 0 if the
// check refuses it and CHIME_ON_ERROR=return.
CHIME_DEVICE std::uint64_t signal_fetch(const Context& ctx, const std::uint64_t* sig) {
  const auto watched = detail::watched_word(Operation::kSignalFetch, sig);
  return detail::passes(ctx, watched) ? order::observe(sig) : 0;
}

}  // namespace chime

#endif  // CHIME_DEVICE_SIGNAL_CUH_
