// The path to memory that is mapped here: loads, stores and atomics.
//
// put     stores, no fence
// signal  one st.release.sys, or one red.release.sys that adds
// fence, quiet   one fence.acq_rel.sys: a store that is visible to all is complete
#ifndef CHIME_DEVICE_PATH_P2P_OPS_CUH_
#define CHIME_DEVICE_PATH_P2P_OPS_CUH_

#include <cstddef>
#include <cstdint>

#include "chime/abi/context.h"
#include "chime/device/copy.cuh"
#include "chime/device/exec/exec.cuh"
#include "chime/device/group.cuh"
#include "chime/device/op.cuh"
#include "chime/device/order.cuh"
#include "chime/device/path/ops.cuh"

namespace chime {
namespace p2p {

using exec::Order;
using exec::Scope;

// Updates the signal after all stores that happen before it, of this thread and of those it met at
// a barrier. Pairs with the acquire of signal_wait_until, signal_fetch, wait_until and test.
CHIME_DEVICE void signal(std::uint64_t* mapped, std::uint64_t value, SignalOp op) {
  if (op == SignalOp::kAdd) {
    order::publish_add(mapped, value);
  } else {
    order::publish(mapped, value);
  }
}

}  // namespace p2p

template <>
class Ops<Path::kP2p> {
 public:
  CHIME_DEVICE Ops(const Context& ctx, std::byte* mapped) : ctx_(ctx), mapped_(mapped) {}

  static constexpr bool kIsMapped = true;

  // ---- Remote memory access ----

  template <std::size_t kLeast, class Group>
  CHIME_DEVICE void put(Group g, const Put& put) const {
    copy_to_peer<kLeast>(g, at(put.dst), put.src, put.bytes);
  }
  template <std::size_t kLeast, class Group>
  CHIME_DEVICE void get(Group g, const Get& get) const {
    copy_from_peer<kLeast>(g, get.dst, at(get.src), get.bytes);
  }

  template <class W>
  CHIME_DEVICE void p(W* dst, W value) const {
    detail::Peer::store(reinterpret_cast<std::byte*>(at(dst)), value);
  }
  template <class W>
  CHIME_DEVICE W g(const W* src) const {
    return detail::Peer::load<W>(reinterpret_cast<const std::byte*>(at(src)));
  }

  // ---- Signals and atomics ----

  static constexpr bool kAddsFloats = true;

  template <std::size_t kLeast, class Group>
  CHIME_DEVICE void put_signal(Group g, const Put& put, const SignalUpdate& signal) const {
    if (put.bytes != 0) this->put<kLeast>(g, put);
    g.sync();  // every member's stores come before the leader's release
    if (g.is_leader()) announce(signal);
  }

  // The same; signals of one sender by one channel reach the word in the order of the calls.
  template <std::size_t kLeast, class Group>
  CHIME_DEVICE void put_in_turn(Group g, const Put& put, const SignalUpdate& signal) const {
    put_signal<kLeast>(g, put, signal);
  }

  // Without order.
  CHIME_DEVICE void signal(const SignalUpdate& signal) const {
    if (signal.op == SignalOp::kAdd) {
      amo(Amo<AmoOp::kAdd, std::uint64_t>{signal.word, signal.value});
    } else {
      amo(Amo<AmoOp::kSet, std::uint64_t>{signal.word, signal.value});
    }
  }
  // After everything that happens before it.
  CHIME_DEVICE void announce(const SignalUpdate& signal) const {
    p2p::signal(at(signal.word), signal.value, signal.op);
  }

  template <class A>
  CHIME_DEVICE void amo(const A& amo) const {
    using enum exec::Order;
    using enum exec::Scope;
    auto* const word = at(amo.word);
    if constexpr (A::kOp == AmoOp::kSet) {
      exec::st<kRelaxed, kSystem>(word, amo.operand);
    } else if constexpr (A::kOp == AmoOp::kAdd) {
      exec::red_add<kRelaxed, kSystem>(word, amo.operand);
    } else if constexpr (A::kOp == AmoOp::kAnd) {
      exec::red_and<kRelaxed, kSystem>(word, amo.operand);
    } else if constexpr (A::kOp == AmoOp::kOr) {
      exec::red_or<kRelaxed, kSystem>(word, amo.operand);
    } else {
      static_assert(A::kOp == AmoOp::kXor, "the others have a result");
      exec::red_xor<kRelaxed, kSystem>(word, amo.operand);
    }
  }
  // Returns the word before.
  template <class A>
  CHIME_DEVICE typename A::Word fetch_amo(const A& amo) const {
    using enum exec::Order;
    using enum exec::Scope;
    auto* const word = at(amo.word);
    if constexpr (A::kOp == AmoOp::kFetch) {
      return exec::ld<kRelaxed, kSystem>(word);
    } else if constexpr (A::kOp == AmoOp::kSet) {
      return exec::atomic_exchange<kRelaxed, kSystem>(word, amo.operand);
    } else if constexpr (A::kOp == AmoOp::kAdd) {
      return exec::atomic_add<kRelaxed, kSystem>(word, amo.operand);
    } else if constexpr (A::kOp == AmoOp::kAnd) {
      return exec::atomic_and<kRelaxed, kSystem>(word, amo.operand);
    } else if constexpr (A::kOp == AmoOp::kOr) {
      return exec::atomic_or<kRelaxed, kSystem>(word, amo.operand);
    } else if constexpr (A::kOp == AmoOp::kXor) {
      return exec::atomic_xor<kRelaxed, kSystem>(word, amo.operand);
    } else {
      return exec::atomic_cas<kRelaxed, kSystem>(word, amo.compare, amo.operand);
    }
  }

 private:
  // Computes with numbers: the memory of an operation on the calling PE may lie outside the heap,
  // also before it.
  template <class T>
  CHIME_DEVICE T* at(T* symmetric) const {
    return reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(mapped_) +
                                heap_offset(ctx_, symmetric));
  }

  const Context& ctx_;
  std::byte* const mapped_;
};

}  // namespace chime

#endif  // CHIME_DEVICE_PATH_P2P_OPS_CUH_
