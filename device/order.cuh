// The orderings that Chime uses, named by use. Each says what it pairs with.
//
// PTX: everything here has system scope, because the other side is another PE: another GPU, a NIC
// or a CPU.
#ifndef CHIME_DEVICE_ORDER_CUH_
#define CHIME_DEVICE_ORDER_CUH_

#include <cstdint>

#include "chime/device/exec/exec.cuh"

namespace chime::order {

using exec::Order;
using exec::Scope;

// Data of a put: no order of its own. Made visible by publish(), publish_add() or puts_visible() of
// this thread, or of a thread that met this one at a group barrier before.
template <class T>
CHIME_DEVICE void store_data(T* peer, T value) {
  exec::st<Order::kRelaxed, Scope::kSystem>(peer, value);
}
template <class T>
CHIME_DEVICE T load_data(const T* peer) {
  return exec::ld<Order::kRelaxed, Scope::kSystem>(peer);
}

// Sets a word that says "all I stored before is there". Pairs with observe().
template <class T>
CHIME_DEVICE void publish(T* word, T value) {
  exec::st<Order::kRelease, Scope::kSystem>(word, value);
}

// Adds to such a word. Pairs with observe(): read-modify-writes continue the release sequence, so
// the reader of a later sum sees the data of every earlier adder.
template <class T>
CHIME_DEVICE void publish_add(T* word, T value) {
  exec::red_add<Order::kRelease, Scope::kSystem>(word, value);
}

// Reads a word that a peer publishes: what the peer stored before is visible after.
template <class T>
CHIME_DEVICE T observe(const T* word) {
  return exec::ld<Order::kAcquire, Scope::kSystem>(word);
}

// Stores to mapped peers that happen before this are visible to every reader that sees a later
// store. Pairs with observe(), and with the same fence on the other side.
CHIME_DEVICE void puts_visible() { exec::fence<Order::kAcqRel, Scope::kSystem>(); }

// The thread stores what follows only because of what load_data() has read before this. So the
// other side has done its loads before its puts_visible() that precedes what was read. Loads after
// this are in no order.
CHIME_DEVICE void stores_follow_loads() { exec::stores_follow_loads(); }

}  // namespace chime::order

#endif  // CHIME_DEVICE_ORDER_CUH_
