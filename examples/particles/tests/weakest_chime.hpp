// A Chime that keeps the promises of the specification and no others, for one PE that is its own
// neighbour. No real path is so weak, so no job shows what a protocol forgets to order.
//
// An nbi put is delivered by a fence or a quiet, not before. A put with a signal is delivered at
// once, so it overtakes puts that no fence holds before it. The source of an nbi put is read until
// quiet.
//
// Include it after chime/chime.h and before the file under test, which calls these by macros.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "chime/chime.h"
#include "chime/chime_device.cuh"

namespace weakest {

struct Put {
  std::byte* to;
  const std::byte* from;
  std::vector<std::byte> data;  // of the source when the put was called
  bool is_fenced = false, is_delivered = false;
};

struct State {
  std::mutex mutex;
  std::vector<Put> puts;  // since the last quiet
  std::vector<std::string> wrong;
  std::function<void(const std::uint64_t* word)> on_signal = [](const std::uint64_t*) {};
};
inline State& state() {
  static State the_state;
  return the_state;
}

inline void deliver(Put& put) {
  if (!put.is_delivered) std::copy(put.data.begin(), put.data.end(), put.to);
  put.is_delivered = true;
}

// REQUIRES of both: the caller holds the state's mutex.
inline Put& note(void* to, const void* from, std::size_t bytes) {
  const auto* first = static_cast<const std::byte*>(from);
  state().puts.push_back({static_cast<std::byte*>(to), first, {first, first + bytes}});
  return state().puts.back();
}
inline void deliver_fenced() {
  for (Put& put : state().puts)
    if (put.is_fenced) deliver(put);
}

inline void put_nbi(void* to, const void* from, std::size_t bytes) {
  const std::lock_guard lock(state().mutex);
  note(to, from, bytes);
}

// A signal to another PE than 0, which is the test's own, goes nowhere.
inline void signal(std::uint64_t* word, std::uint64_t value, int pe = 0) {
  if (pe != 0) return;
  const std::lock_guard lock(state().mutex);
  deliver_fenced();
  chime::exec::st<chime::exec::Order::kRelease, chime::exec::Scope::kSystem>(word, value);
  state().on_signal(word);
}

inline void put_signal_nbi(void* to, const void* from, std::size_t bytes, std::uint64_t* word,
                           std::uint64_t value) {
  {
    const std::lock_guard lock(state().mutex);
    Put& put = note(to, from, bytes);
    deliver_fenced();
    deliver(put);
  }
  signal(word, value);
}

inline void leave_order() {
  const std::lock_guard lock(state().mutex);
  for (Put& put : state().puts) put.is_fenced = true;
}

inline void quiet() {
  const std::lock_guard lock(state().mutex);
  for (Put& put : state().puts) {
    deliver(put);
    if (!std::equal(put.data.begin(), put.data.end(), put.from))
      state().wrong.emplace_back("the source of an nbi put was written before quiet");
  }
  state().puts.clear();
}

inline std::uint64_t await_at_least(const std::uint64_t* word, std::uint64_t value) {
  using namespace chime::exec;
  std::uint64_t seen = 0;
  while ((seen = ld<Order::kAcquire, Scope::kSystem>(word)) < value) chime::exec::pause();
  return seen;
}

}  // namespace weakest

// The templates, which do not meet at entry.
namespace chime {
CHIME_DEVICE const Context& weakest_self() {
  static const Context none{};
  return none;
}
CHIME_DEVICE void weakest_fence(const Context&) { weakest::leave_order(); }
template <class Group>
CHIME_DEVICE void weakest_putmem_nbi(const Context&, Group g, void* to, const void* from,
                                     std::size_t bytes, int) {
  if (g.is_leader()) weakest::put_nbi(to, from, bytes);
  g.sync();
}
template <class Group>
CHIME_DEVICE void weakest_putmem_signal_nbi(const Context&, Group g, void* to, const void* from,
                                            std::size_t bytes, const SignalUpdate& signal, int) {
  if (g.is_leader()) weakest::put_signal_nbi(to, from, bytes, signal.word, signal.value);
  g.sync();
}
}  // namespace chime

#define chime_fence weakest::leave_order
#define self weakest_self
#define fence weakest_fence
#define putmem_nbi weakest_putmem_nbi
#define putmem_signal_nbi weakest_putmem_signal_nbi
#define chime_ptr(address, pe) (static_cast<void>(pe), static_cast<void*>(nullptr))
#define chime_quiet weakest::quiet
#define chimex_signal_op(word, value, op, pe) weakest::signal(word, value, pe)
#define chime_signal_wait_until(word, cmp, value) weakest::await_at_least(word, value)
