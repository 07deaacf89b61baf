// fence and quiet, and the waits and tests on this PE's own memory.
//
// A wait or test that succeeds acquires: what the writer made visible before the value is visible
// after the call. Single threads wait; for a signal also groups do.
#ifndef CHIME_DEVICE_SYNC_CUH_
#define CHIME_DEVICE_SYNC_CUH_

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "chime/abi/context.h"
#include "chime/device/channel/sync.cuh"
#include "chime/device/channel/watch.cuh"
#include "chime/device/check.cuh"
#include "chime/device/compare.cuh"
#include "chime/device/exec/exec.cuh"
#include "chime/device/exec/timeline.cuh"
#include "chime/device/group.cuh"
#include "chime/device/order.cuh"
#include "chime/device/path/ops.cuh"
#include "chime/device/wait.cuh"
#include "chime/types.h"

namespace chime {
namespace detail {

template <class Copy>
CHIME_DEVICE void do_fence(const Context& ctx) {
  if (has_channels(ctx)) {
    channel::fence(ctx);
  } else {
    need_filled(ctx);
  }
  order::puts_visible();
}

}  // namespace detail

// Orders this PE's puts, signals and atomics that happen before the call ahead of those after it,
// at each peer. Puts of other threads happen before it if a barrier of the block or grid lies
// between. Stores to mapped peers come last, so that they are ordered after what a channel has
// completed. A job without channels skips the channels' fence, which would cost more than that of
// the stores.
CHIME_DEVICE void fence(const Context& ctx) {
  if (detail::may_note(ctx)) {
    return detail::note(ctx, Thread{}, {Operation::kFence},
                        [](const Context& ctx, Thread) { detail::do_fence<detail::Noting>(ctx); });
  }
  detail::do_fence<detail::Quick>(ctx);
}

namespace detail {

template <class Copy>
CHIME_DEVICE void do_quiet(const Context& ctx) {
  if (has_channels(ctx)) {
    channel::quiet(ctx);
  } else {
    need_filled(ctx);
  }
  order::puts_visible();
}

}  // namespace detail

// Completes these operations: the data of puts is at the peers, that of nbi gets is here. On the
// host it also completes what kernels have posted.
CHIME_DEVICE void quiet(const Context& ctx) {
  if (detail::may_note(ctx)) {
    return detail::note(ctx, Thread{}, {Operation::kQuiet},
                        [](const Context& ctx, Thread) { detail::do_quiet<detail::Noting>(ctx); });
  }
  detail::do_quiet<detail::Quick>(ctx);
}

namespace detail {

// The same by all members of a group, which have met before, for what any of them has sent. What
// the leader does next comes after it; what another member does, once the group has met again.
template <class Group>
CHIME_DEVICE void quiet_together(const Context& ctx, Group g) {
  if (has_channels(ctx)) channel::quiet(ctx, g);
  if (g.is_leader()) order::puts_visible();
}

// Reports print it as a signed number, whatever its size was.
template <class T>
CHIME_DEVICE std::uint64_t bits_of(T value) {
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
}

// Elements to watch, the values to compare them with, and the operation that waits.
template <class T>
struct WaitSet {
  Operation operation;
  const T* elements;
  std::size_t count;
  const int* skip;  // element i is left out if skip[i] != 0; null: none is
  Cmp cmp;
  T value;
  const T* values = nullptr;  // one per element, instead of `value`

  CHIME_DEVICE Watched watched() const {
    return {operation, elements, CHIME_BYTES(count, sizeof(T)), sizeof(T), cmp};
  }
  CHIME_DEVICE abi::TracedWork work() const {
    return {operation, -1, elements, watched().bytes, bits_of(value), static_cast<int>(cmp)};
  }
  CHIME_DEVICE bool watches(std::size_t i) const { return skip == nullptr || skip[i] == 0; }
  CHIME_DEVICE T target(std::size_t i) const { return values == nullptr ? value : values[i]; }
  CHIME_DEVICE bool holds(std::size_t i) const {
    return compare(order::observe(elements + i), cmp, target(i));
  }
  CHIME_DEVICE std::size_t first_watched() const {
    std::size_t i = 0;
    while (i < count && !watches(i)) ++i;
    return i;
  }
};

inline constexpr std::size_t kNone = ~std::size_t{0};

// A wait for one word, on the timeline.
CHIME_DEVICE abi::TracedWork work_of(const Wait& wait) {
  return {wait.operation, wait.pe,       wait.address,
          wait.bytes,     wait.expected, static_cast<int>(wait.cmp)};
}

// Waits until `done()`. On failure records element i of the set, and leaves.
template <class T, class Done>
CHIME_DEVICE bool wait_on(const Context& ctx, const WaitSet<T>& set, std::size_t i, Done done) {
  const Wait wait = {.operation = set.operation,
                     .address = set.elements + i,
                     .expected = bits_of(set.target(i)),
                     .bytes = sizeof(T),
                     .cmp = set.cmp};
  const WaitResult result = wait_for_peers(ctx, wait, done);
  if (result.ok()) return true;
  record_wait(ctx, wait, result, bits_of(order::observe(set.elements + i)));
  leave(ctx);
  return false;
}

template <class T>
CHIME_DEVICE void wait_all(const Context& ctx, const WaitSet<T>& set) {
  if (!begins(ctx, set.watched())) return;
  const exec::Traced traced = trace(ctx, Thread{}, set.work());
  for (std::size_t i = 0; i < set.count; ++i) {
    if (set.watches(i) && !wait_on(ctx, set, i, [&] { return set.holds(i); })) return;
  }
  if (set.count == 1) traced.saw([&] { return bits_of(order::observe(set.elements)); });
  traced.end();
}

template <class T>
CHIME_DEVICE bool all_hold(const WaitSet<T>& set) {
  for (std::size_t i = 0; i < set.count; ++i) {
    if (set.watches(i) && !set.holds(i)) return false;
  }
  return true;
}

// The first element that is watched and holds.
template <class T>
CHIME_DEVICE std::size_t find_any(const WaitSet<T>& set) {
  for (std::size_t i = 0; i < set.count; ++i) {
    if (set.watches(i) && set.holds(i)) return i;
  }
  return kNone;
}

template <class T>
CHIME_DEVICE std::size_t wait_any(const Context& ctx, const WaitSet<T>& set) {
  const std::size_t first = set.first_watched();
  if (!begins(ctx, set.watched()) || first == set.count) return kNone;
  std::size_t found = kNone;
  const exec::Traced traced = trace(ctx, Thread{}, set.work());
  wait_on(ctx, set, first, [&] { return (found = find_any(set)) != kNone; });
  traced.end();
  return found;
}

// Returns how many hold, and lists them in `indices`.
template <class T>
CHIME_DEVICE std::size_t find_some(const WaitSet<T>& set, std::size_t* indices) {
  std::size_t found = 0;
  for (std::size_t i = 0; i < set.count; ++i) {
    if (set.watches(i) && set.holds(i)) indices[found++] = i;
  }
  return found;
}

template <class T>
CHIME_DEVICE std::size_t wait_some(const Context& ctx, const WaitSet<T>& set,
                                   std::size_t* indices) {
  const std::size_t first = set.first_watched();
  if (!begins(ctx, set.watched()) || first == set.count) return 0;
  std::size_t found = 0;
  const exec::Traced traced = trace(ctx, Thread{}, set.work());
  wait_on(ctx, set, first, [&] { return (found = find_some(set, indices)) != 0; });
  traced.end();
  return found;
}

template <class T>
CHIME_DEVICE bool test_all(const Context& ctx, const WaitSet<T>& set) {
  return passes(ctx, set.watched()) && all_hold(set);
}

template <class T>
CHIME_DEVICE std::size_t test_any(const Context& ctx, const WaitSet<T>& set) {
  return passes(ctx, set.watched()) ? find_any(set) : kNone;
}

template <class T>
CHIME_DEVICE std::size_t test_some(const Context& ctx, const WaitSet<T>& set,
                                   std::size_t* indices) {
  return passes(ctx, set.watched()) ? find_some(set, indices) : 0;
}

}  // namespace detail

// ---- Waits: block until the condition holds -----------------------------------------------------
// They end without the condition only when the job is aborted or the check refuses them
// (check.cuh); then the thread leaves as CHIME_ON_ERROR says. `skip` (OpenSHMEM: status) may be
// null.

template <class T>
CHIME_DEVICE void wait_until(const Context& ctx, const T* ivar, Cmp cmp,
                             std::type_identity_t<T> value) {
  detail::wait_all(ctx, detail::WaitSet<T>{Operation::kWaitUntil, ivar, 1, nullptr, cmp, value});
}

// wait_until with a bound: CHIMEX_OK, CHIMEX_ERR_TIMEOUT after `timeout_ns` (0: no bound),
// CHIMEX_ERR_INVALID if the check refuses it, or why the job is aborted. Records nothing and never
// ends the thread.
template <class T>
CHIME_DEVICE int wait_until_timeout(const Context& ctx, const T* ivar, Cmp cmp,
                                    std::type_identity_t<T> value, std::uint64_t timeout_ns) {
  const auto watched = detail::watched_word(Operation::kWaitUntilTimeout, ivar, cmp);
  if (detail::is_refused(ctx, watched)) return CHIMEX_ERR_INVALID;
  const Wait wait = {.operation = Operation::kWaitUntilTimeout,
                     .address = ivar,
                     .expected = detail::bits_of<T>(value),
                     .timeout_ns = timeout_ns,
                     .bytes = sizeof(T),
                     .cmp = cmp};
  const exec::Traced traced = detail::trace(ctx, Thread{}, detail::work_of(wait));
  const int status = wait_for_peers(ctx, wait, [&] {
                       return compare<T>(order::observe(ivar), cmp, value);
                     }).status;
  if (status == CHIMEX_OK) traced.saw([&] { return detail::bits_of(order::observe(ivar)); });
  return traced.ended(status);
}

template <class T>
CHIME_DEVICE void wait_until_all(const Context& ctx, const T* ivars, std::size_t n, const int* skip,
                                 Cmp cmp, std::type_identity_t<T> value) {
  detail::wait_all(ctx, detail::WaitSet<T>{Operation::kWaitUntilAll, ivars, n, skip, cmp, value});
}
template <class T>
CHIME_DEVICE void wait_until_all_vector(const Context& ctx, const T* ivars, std::size_t n,
                                        const int* skip, Cmp cmp, const T* values) {
  detail::wait_all(
      ctx, detail::WaitSet<T>{Operation::kWaitUntilAllVector, ivars, n, skip, cmp, T{}, values});
}

// Return the index of an element that holds; SIZE_MAX at once if all are left out or n is 0.
template <class T>
CHIME_DEVICE std::size_t wait_until_any(const Context& ctx, const T* ivars, std::size_t n,
                                        const int* skip, Cmp cmp, std::type_identity_t<T> value) {
  return detail::wait_any(ctx,
                          detail::WaitSet<T>{Operation::kWaitUntilAny, ivars, n, skip, cmp, value});
}
template <class T>
CHIME_DEVICE std::size_t wait_until_any_vector(const Context& ctx, const T* ivars, std::size_t n,
                                               const int* skip, Cmp cmp, const T* values) {
  return detail::wait_any(
      ctx, detail::WaitSet<T>{Operation::kWaitUntilAnyVector, ivars, n, skip, cmp, T{}, values});
}

// Return how many elements hold, at least one, listed in `indices` (room for n); 0 at once if all
// are left out.
template <class T>
CHIME_DEVICE std::size_t wait_until_some(const Context& ctx, const T* ivars, std::size_t n,
                                         std::size_t* indices, const int* skip, Cmp cmp,
                                         std::type_identity_t<T> value) {
  return detail::wait_some(
      ctx, detail::WaitSet<T>{Operation::kWaitUntilSome, ivars, n, skip, cmp, value}, indices);
}
template <class T>
CHIME_DEVICE std::size_t wait_until_some_vector(const Context& ctx, const T* ivars, std::size_t n,
                                                std::size_t* indices, const int* skip, Cmp cmp,
                                                const T* values) {
  return detail::wait_some(
      ctx, detail::WaitSet<T>{Operation::kWaitUntilSomeVector, ivars, n, skip, cmp, T{}, values},
      indices);
}

// ---- Tests: look once ---------------------------------------------------------------------------
// An element that the check refuses does not hold.

template <class T>
CHIME_DEVICE bool test(const Context& ctx, const T* ivar, Cmp cmp, std::type_identity_t<T> value) {
  return detail::passes(ctx, detail::watched_word(Operation::kTest, ivar, cmp)) &&
         compare<T>(order::observe(ivar), cmp, value);
}

// Whether all hold at once; true if all are left out.
template <class T>
CHIME_DEVICE bool test_all(const Context& ctx, const T* ivars, std::size_t n, const int* skip,
                           Cmp cmp, std::type_identity_t<T> value) {
  return detail::test_all(ctx, detail::WaitSet<T>{Operation::kTestAll, ivars, n, skip, cmp, value});
}
template <class T>
CHIME_DEVICE bool test_all_vector(const Context& ctx, const T* ivars, std::size_t n,
                                  const int* skip, Cmp cmp, const T* values) {
  return detail::test_all(
      ctx, detail::WaitSet<T>{Operation::kTestAllVector, ivars, n, skip, cmp, T{}, values});
}

// As the waits; SIZE_MAX or 0 if none holds.
template <class T>
CHIME_DEVICE std::size_t test_any(const Context& ctx, const T* ivars, std::size_t n,
                                  const int* skip, Cmp cmp, std::type_identity_t<T> value) {
  return detail::test_any(ctx, detail::WaitSet<T>{Operation::kTestAny, ivars, n, skip, cmp, value});
}
template <class T>
CHIME_DEVICE std::size_t test_any_vector(const Context& ctx, const T* ivars, std::size_t n,
                                         const int* skip, Cmp cmp, const T* values) {
  return detail::test_any(
      ctx, detail::WaitSet<T>{Operation::kTestAnyVector, ivars, n, skip, cmp, T{}, values});
}
template <class T>
CHIME_DEVICE std::size_t test_some(const Context& ctx, const T* ivars, std::size_t n,
                                   std::size_t* indices, const int* skip, Cmp cmp,
                                   std::type_identity_t<T> value) {
  return detail::test_some(
      ctx, detail::WaitSet<T>{Operation::kTestSome, ivars, n, skip, cmp, value}, indices);
}
template <class T>
CHIME_DEVICE std::size_t test_some_vector(const Context& ctx, const T* ivars, std::size_t n,
                                          std::size_t* indices, const int* skip, Cmp cmp,
                                          const T* values) {
  return detail::test_some(
      ctx, detail::WaitSet<T>{Operation::kTestSomeVector, ivars, n, skip, cmp, T{}, values},
      indices);
}

// ---- Signal waits -------------------------------------------------------------------------------

namespace detail {

CHIME_DEVICE WaitResult wait_signal(const Context& ctx, const Wait& wait, const std::uint64_t* sig,
                                    Cmp cmp, std::uint64_t* seen) {
  const exec::Traced traced = trace(ctx, Thread{}, work_of(wait));
  const WaitResult result = wait_for_peers(
      ctx, wait, [&] { return compare(*seen = order::observe(sig), cmp, wait.expected); });
  if (result.ok()) traced.saw([&] { return *seen; });
  return traced.ended(result);
}

}  // namespace detail

// Waits for this PE's signal word with a bound: CHIMEX_OK, CHIMEX_ERR_TIMEOUT after `timeout_ns`
// (0: no bound), CHIMEX_ERR_INVALID if the check refuses it, or why the job is aborted. `*seen`
// gets the last value. Records nothing and never ends the thread.
CHIME_DEVICE int signal_wait_until_timeout(const Context& ctx, const std::uint64_t* sig, Cmp cmp,
                                           std::uint64_t value, std::uint64_t timeout_ns,
                                           std::uint64_t* seen) {
  const auto watched = detail::watched_word(Operation::kSignalWaitUntilTimeout, sig, cmp);
  if (detail::is_refused(ctx, watched)) return CHIMEX_ERR_INVALID;
  const Wait wait = {.operation = Operation::kSignalWaitUntilTimeout,
                     .address = sig,
                     .expected = value,
                     .timeout_ns = timeout_ns,
                     .bytes = sizeof(value),
                     .cmp = cmp};
  return detail::wait_signal(ctx, wait, sig, cmp, seen).status;
}

// Waits until this PE's signal word compares true, for the whole group. The leader polls; then all
// members go on together, and what came with the signal is visible to all. The leader gets the
// value that satisfied the comparison, the other members a value that is read later. If the wait
// fails, every member leaves as CHIME_ON_ERROR says.
template <class Group>
CHIME_DEVICE std::uint64_t signal_wait_until(const Context& ctx, Group g, const std::uint64_t* sig,
                                             Cmp cmp, std::uint64_t value) {
  constexpr Operation kMe = Operation::kSignalWaitUntil;
  if (!detail::begins(ctx, detail::watched_word(kMe, sig, cmp))) return 0;
  const Wait wait = {
      .operation = kMe, .address = sig, .expected = value, .bytes = sizeof(value), .cmp = cmp};
  std::uint64_t seen = 0;
  bool failed = false;
  if (g.is_leader()) {
    const WaitResult result = detail::wait_signal(ctx, wait, sig, cmp, &seen);
    failed = !result.ok();
    if (failed) record_wait(ctx, wait, result, seen);
  }
  if (g.any(failed)) leave(ctx);
  return g.is_leader() ? seen : order::observe(sig);
}

CHIME_DEVICE std::uint64_t signal_wait_until(const Context& ctx, const std::uint64_t* sig, Cmp cmp,
                                             std::uint64_t value) {
  return signal_wait_until(ctx, Thread{}, sig, cmp, value);
}

}  // namespace chime

#endif  // CHIME_DEVICE_SYNC_CUH_
