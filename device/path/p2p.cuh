// The path to memory that is mapped here: loads, stores and atomics. Addresses are the mapped ones.
//
// put     stores, no fence
// signal  one st.release.sys, or one red.release.sys that adds
// fence, quiet   one fence.acq_rel.sys: a store that is visible to all is complete
#ifndef CHIME_DEVICE_PATH_P2P_CUH_
#define CHIME_DEVICE_PATH_P2P_CUH_

#include <cstddef>
#include <cstdint>

#include "chime/abi/state.h"
#include "chime/device/copy.cuh"
#include "chime/device/exec.cuh"
#include "chime/device/group.cuh"
#include "chime/device/order.cuh"

namespace chime {

// How a signal word is updated: the values of CHIME_SIGNAL_*.
enum class SignalOp : int { kSet = 0, kAdd = 1 };

namespace p2p {

using exec::Order;
using exec::Scope;

// An element in the unsigned type of its size: what stores and atomics work on.
template <class T>
CHIME_DEVICE detail::Word<sizeof(T)> to_word(T value) {
  detail::Word<sizeof(T)> word;
  memcpy(&word, &value, sizeof(T));
  return word;
}
template <class T>
CHIME_DEVICE T from_word(detail::Word<sizeof(T)> word) {
  T value;
  memcpy(&value, &word, sizeof(T));
  return value;
}
template <class T>
CHIME_DEVICE detail::Word<sizeof(T)>* word_ptr(T* p) {
  return reinterpret_cast<detail::Word<sizeof(T)>*>(p);
}
template <class T>
CHIME_DEVICE const detail::Word<sizeof(T)>* word_ptr(const T* p) {
  return reinterpret_cast<const detail::Word<sizeof(T)>*>(p);
}

template <class T>
CHIME_DEVICE void store(T* mapped, T value) {
  detail::Peer::store(reinterpret_cast<std::byte*>(mapped), to_word(value));
}
template <class T>
CHIME_DEVICE T load(const T* mapped) {
  using W = detail::Word<sizeof(T)>;
  return from_word<T>(detail::Peer::load<W>(reinterpret_cast<const std::byte*>(mapped)));
}

// Updates the signal after all stores that happen before, of this thread and of those it met at a
// barrier. Pairs with the acquire of signal_wait_until, signal_fetch, wait_until and test.
CHIME_DEVICE void signal(std::uint64_t* mapped, std::uint64_t value, SignalOp op) {
  if (op == SignalOp::kAdd) {
    order::publish_add(mapped, value);
  } else {
    order::publish(mapped, value);
  }
}

// Updates a signal word, or any word of atomics, with no order.
CHIME_DEVICE void update(std::uint64_t* mapped, std::uint64_t value, SignalOp op) {
  if (op == SignalOp::kAdd) {
    exec::red_add<Order::kRelaxed, Scope::kSystem>(mapped, value);
  } else {
    exec::st<Order::kRelaxed, Scope::kSystem>(mapped, value);
  }
}

CHIME_DEVICE void fence() { order::puts_visible(); }
CHIME_DEVICE void quiet() { order::puts_visible(); }

}  // namespace p2p
}  // namespace chime

#endif  // CHIME_DEVICE_PATH_P2P_CUH_
