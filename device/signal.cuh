// put_signal, and what is done with a signal word: a 64-bit symmetric word that says "the data is
// there".
#ifndef CHIME_DEVICE_SIGNAL_CUH_
#define CHIME_DEVICE_SIGNAL_CUH_

#include <cstddef>
#include <cstdint>

#include "chime/abi/state.h"
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

// Where `pe`'s signal word is mapped. Adding takes the path of atomics, setting that of data.
CHIME_DEVICE std::uint64_t* signal_ptr(const Context& ctx, const Signal& signal, int pe) {
  return signal.op == SignalOp::kAdd ? amo_ptr(ctx, signal.address, pe)
                                     : peer_ptr(ctx, signal.address, pe, sizeof(std::uint64_t));
}

CHIME_DEVICE bool adds(const Signal& signal) { return signal.op == SignalOp::kAdd; }

// Data and signal go one way.
template <std::size_t kLeast, class Group>
CHIME_DEVICE void put_signal_bytes(const Context& ctx, Group g, void* dst, const void* src,
                                   std::size_t bytes, const Signal& signal, int pe, Until until) {
  std::uint64_t* const word = signal_ptr(ctx, signal, pe);
  if (word == nullptr && unmapped::nic_signals(ctx, signal.address, adds(signal), pe)) {
    return unmapped::put_signal<kLeast>(ctx, g, dst, src, bytes, signal.address, signal.value,
                                        adds(signal), pe, until);
  }
  if (word == nullptr) return fail_amo(ctx, signal.address, sizeof(std::uint64_t), pe);
  put_bytes<kLeast>(ctx, g, dst, src, bytes, pe, until);
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
  detail::put_signal_bytes<detail::kLeastWord<T>>(ctx, g, dst, src, n * sizeof(T), signal, pe,
                                                  detail::Until::kLocal);
}
template <class Group, class T>
CHIME_DEVICE void put_signal_nbi(const Context& ctx, Group g, T* dst, const T* src, std::size_t n,
                                 Signal signal, int pe) {
  detail::put_signal_bytes<detail::kLeastWord<T>>(ctx, g, dst, src, n * sizeof(T), signal, pe,
                                                  detail::Until::kPosted);
}
template <class Group>
CHIME_DEVICE void putmem_signal(const Context& ctx, Group g, void* dst, const void* src,
                                std::size_t bytes, Signal signal, int pe) {
  detail::put_signal_bytes<1>(ctx, g, dst, src, bytes, signal, pe, detail::Until::kLocal);
}
template <class Group>
CHIME_DEVICE void putmem_signal_nbi(const Context& ctx, Group g, void* dst, const void* src,
                                    std::size_t bytes, Signal signal, int pe) {
  detail::put_signal_bytes<1>(ctx, g, dst, src, bytes, signal, pe, detail::Until::kPosted);
}

// Updates the signal alone, atomically and with no order: put, fence, signal_op is the sequence
// that announces data.
CHIME_DEVICE void signal_op(const Context& ctx, const Signal& signal, int pe) {
  if (auto* word = detail::signal_ptr(ctx, signal, pe)) {
    return p2p::update(word, signal.value, signal.op);
  }
  if (unmapped::nic_signals(ctx, signal.address, detail::adds(signal), pe)) {
    return unmapped::signal(ctx, signal.address, signal.value, detail::adds(signal), pe);
  }
  fail_amo(ctx, signal.address, sizeof(std::uint64_t), pe);
}

// Reads this PE's signal word once. What came with the value seen is visible after it.
CHIME_DEVICE std::uint64_t signal_fetch(const std::uint64_t* sig) { return order::observe(sig); }

}  // namespace chime

#endif  // CHIME_DEVICE_SIGNAL_CUH_
