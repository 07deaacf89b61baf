// Signals of the host, and its waits for words and tests of them.
#define CHIME_HOST_ONLY
#include "chime/chime.h"
#include "chime/device/signal.cuh"
#include "chime/device/sync.cuh"
#include "chime/host_ops.h"
#include "host/errors/error.hpp"
#include "host/ops/gpu/gpu_ops.hpp"
#include "host/ops/gpu/moves.hpp"
#include "host/ops/run.hpp"
#include "host/ops/typed.cuh"

namespace chime::host {
namespace {

// The status that `wait` returns, or a timeout of it.
template <class Wait>
int status_of_wait(Wait wait) {
  try {
    wait();
    return CHIMEX_OK;
  } catch (const Error& error) {
    if (error.code() == CHIMEX_ERR_TIMEOUT) return error.code();
    throw;
  }
}

// Calls `body` with the elements of a wait or test in their type.
template <class Body>
auto with_checked_set(Operation called, const chime_wait_request& request, Body body) {
  if (!width_exists(request)) throw Error("", CHIMEX_ERR_INVALID, "elements have 2, 4 or 8 bytes");
  return with_wait_set(called, request, body);
}

// Looks once at elements that the host can read.
std::size_t look(const chime_wait_request& request) {
  return with_checked_set(Operation::kNone, request, [&](const auto& set) -> std::size_t {
    if (request.mode == CHIME_WAIT_ANY) return detail::find_any(set);
    if (request.mode == CHIME_WAIT_SOME) return detail::find_some(set, request.indices);
    return detail::all_hold(set);
  });
}

// Throws if the wait or test cannot begin: the templates' check, for calls that do not run them, or
// that return its status without its words.
void check_wait(Operation called, const chime_wait_request& request) {
  PeSlot& slot = ready_slot();
  CallingThread& thread = CallingThread::of(slot);
  const auto width = static_cast<std::size_t>(request.width);
  const detail::Watched watched = {called, request.elements, CHIME_BYTES(request.count, width),
                                   width, static_cast<Cmp>(request.cmp)};
  const Context& ctx = thread.context(false);
  if (!detail::is_refused(ctx, watched)) return;
  detail::record_refusal(ctx, watched);
  throw_own_error(*slot.runtime, thread.failure(), called);
}

// A wait for a signal word as a wait for an element.
chime_wait_request signal_request(const std::uint64_t* sig, int cmp, const std::uint64_t* value) {
  return {.elements = sig,
          .count = 1,
          .skip = nullptr,
          .cmp = cmp,
          .values = value,
          .vector = 0,
          .width = sizeof(*sig),
          .is_signed = 0,
          .mode = CHIME_WAIT_ALL,
          .indices = nullptr};
}

// `*word` of this PE.
std::uint64_t fetch(Runtime& runtime, const std::uint64_t* word) {
  std::uint64_t value = 0;
  gpu_ops::get(runtime, &value, word, sizeof(value), runtime.my_pe());
  return value;
}

// ---- Waits that look ----

// Waits by `wait_once(timeout_ns)`, and looks when one of these has timed out.
template <class WaitOnce>
int wait_and_look(std::uint64_t timeout_ns, const chime_wait_look& look, WaitOnce wait_once) {
  const std::uint64_t begin = exec::clock_ns();
  for (;;) {
    const std::uint64_t waited = exec::clock_ns() - begin;
    const std::uint64_t left = timeout_ns > waited ? timeout_ns - waited : 1;
    const bool is_last = timeout_ns != 0 && left <= look.every_ns;
    const int status = wait_once(is_last ? left : look.every_ns);
    if (status != CHIMEX_ERR_TIMEOUT || is_last) return status;
    if (const int ended = look.look(look.argument); ended != CHIMEX_OK) return ended;
  }
}

// The same on the CPU device, as one event of the timeline. Where an error has been recorded, the
// wait ends, and run() throws it.
template <class T>
int wait_looking(const Context& ctx, const detail::WaitSet<T>& set, std::uint64_t timeout_ns,
                 const chime_wait_look& look, std::uint64_t* seen) {
  Wait wait = {.operation = set.operation,
               .address = set.elements,
               .expected = detail::bits_of<T>(set.value),
               .bytes = sizeof(T),
               .cmp = set.cmp};
  const exec::Traced traced = detail::trace(ctx, Thread{}, detail::work_of(wait));
  T value{};
  const int status = wait_and_look(timeout_ns, look, [&](std::uint64_t slice_ns) {
    wait.timeout_ns = slice_ns;
    const int waited = wait_for_peers(ctx, wait, [&] {
                         value = order::observe(set.elements);
                         return compare<T>(value, set.cmp, set.value);
                       }).status;
    const bool has_failed =
        async_error_is_recorded(ctx) || async_error_is_recorded(current_slot()->host_context);
    return waited == CHIMEX_ERR_TIMEOUT && has_failed ? CHIMEX_ERR_ABORTED : waited;
  });
  if (status == CHIMEX_OK) traced.saw([&] { return detail::bits_of(value); });
  if (seen != nullptr) *seen = static_cast<std::uint64_t>(value);
  return traced.ended(status);
}

int wait_looking(Operation called, const chime_wait_request& request, std::uint64_t timeout_ns,
                 const chime_wait_look* look, std::uint64_t* seen) {
  int status = CHIMEX_OK;
  const int failed = status_of(called, [&] {
    check_wait(called, request);
    if (look == nullptr) throw Error("", CHIMEX_ERR_INVALID, "the argument look is null");
    status = run(
        called, Checks::kAsTheJobSays,
        [&](const Context& ctx) {
          return with_checked_set(called, request, [&](const auto& set) {
            return wait_looking(ctx, set, timeout_ns, *look, seen);
          });
        },
        [&](Runtime& runtime) {
          const int waited = wait_and_look(timeout_ns, *look, [&](std::uint64_t slice_ns) {
            const int once =
                status_of_wait([&] { gpu_ops::wait(runtime, request, host::look, slice_ns); });
            throw_recorded_error(runtime);
            return once;
          });
          if (seen != nullptr)
            *seen = fetch(runtime, static_cast<const uint64_t*>(request.elements));
          return waited;
        });
  });
  return failed ? failed : status;
}

}  // namespace
}  // namespace chime::host

using namespace chime;        // NOLINT: this file only forwards into it
using namespace chime::host;  // NOLINT

extern "C" {

// ---- Signals -----------------------------------------------------------------------------------

void chime_host_put_signal(void* dst, const void* src, size_t bytes, uint64_t* sig, uint64_t value,
                           int op, int pe) {
  transfer(
      Operation::kPutSignal,
      [=](const Context& ctx) {
        putmem_signal(ctx, Thread{}, dst, src, bytes, signal_of(sig, value, op), pe);
      },
      [=](Runtime& runtime) {
        gpu_ops::put_signal(runtime, dst, src, bytes, {sig, value, op}, pe);
      });
}

void chime_host_put_signal_nbi(void* dst, const void* src, size_t bytes, uint64_t* sig,
                               uint64_t value, int op, int pe) {
  transfer(
      Operation::kPutSignalNbi,
      [=](const Context& ctx) {
        putmem_signal_nbi(ctx, Thread{}, dst, src, bytes, signal_of(sig, value, op), pe);
      },
      [=](Runtime& runtime) {
        gpu_ops::put_signal(runtime, dst, src, bytes, {sig, value, op}, pe);
      });
}

void chime_host_signal_op(uint64_t* sig, uint64_t value, int op, int pe) {
  operation(
      Operation::kSignalOp,
      [=](const Context& ctx) { signal_op(ctx, signal_of(sig, value, op), pe); },
      [=](Runtime& runtime) { gpu_ops::signal(runtime, sig, value, op, pe); });
}

uint64_t chime_host_signal_fetch(const uint64_t* sig) {
  return operation(
      Operation::kSignalFetch, [=](const Context& ctx) { return signal_fetch(ctx, sig); },
      [=](Runtime& runtime) { return fetch(runtime, sig); });
}

uint64_t chime_host_signal_wait_until(uint64_t* sig, int cmp, uint64_t value) {
  return operation(
      Operation::kSignalWaitUntil,
      [=](const Context& ctx) { return signal_wait_until(ctx, sig, static_cast<Cmp>(cmp), value); },
      [=](Runtime& runtime) {
        const chime_wait_request request = signal_request(sig, cmp, &value);
        check_wait(Operation::kSignalWaitUntil, request);
        gpu_ops::wait(runtime, request, look, 0);
        return fetch(runtime, sig);
      });
}

int chime_host_signal_wait_until_timeout(uint64_t* sig, int cmp, uint64_t value,
                                         uint64_t timeout_ns, uint64_t* seen) {
  int status = CHIMEX_OK;
  constexpr Operation kMe = Operation::kSignalWaitUntilTimeout;
  const int failed = status_of(kMe, [&] {
    check_wait(kMe, signal_request(sig, cmp, &value));
    if (!seen) throw Error("", CHIMEX_ERR_INVALID, "the argument seen is null");
    status = run(
        kMe, Checks::kAsTheJobSays,
        [&](const Context& ctx) {
          return signal_wait_until_timeout(ctx, sig, static_cast<Cmp>(cmp), value, timeout_ns,
                                           seen);
        },
        [&](Runtime& runtime) {
          const int waited = status_of_wait(
              [&] { gpu_ops::wait(runtime, signal_request(sig, cmp, &value), look, timeout_ns); });
          *seen = fetch(runtime, sig);
          return waited;
        });
  });
  return failed ? failed : status;
}

// ---- Waits and tests ----------------------------------------------------------------------------

size_t chime_host_wait(const chime_wait_request* request) {
  const Operation called = named_in(kWaits, *request);
  return operation(
      called,
      [=](const Context& ctx) {
        return with_checked_set(called, *request, [&](const auto& set) -> std::size_t {
          if (request->mode == CHIME_WAIT_ANY) return detail::wait_any(ctx, set);
          if (request->mode == CHIME_WAIT_SOME)
            return detail::wait_some(ctx, set, request->indices);
          detail::wait_all(ctx, set);
          return 0;
        });
      },
      [=](Runtime& runtime) {
        check_wait(called, *request);
        return gpu_ops::wait(runtime, *request, look, 0);
      });
}

size_t chime_host_test(const chime_wait_request* request) {
  const Operation called = named_in(kTests, *request);
  return operation(
      called,
      [=](const Context& ctx) {
        return with_checked_set(called, *request, [&](const auto& set) -> std::size_t {
          if (request->mode == CHIME_WAIT_ANY) return detail::test_any(ctx, set);
          if (request->mode == CHIME_WAIT_SOME)
            return detail::test_some(ctx, set, request->indices);
          return detail::test_all(ctx, set);
        });
      },
      [=](Runtime& runtime) {
        check_wait(called, *request);
        return gpu_ops::test(runtime, *request, look);
      });
}

int chime_host_signal_wait_looking(uint64_t* sig, int cmp, uint64_t value, uint64_t timeout_ns,
                                   const chime_wait_look* look, uint64_t* seen) {
  return wait_looking(Operation::kSignalWaitUntilTimeout, signal_request(sig, cmp, &value),
                      timeout_ns, look, seen);
}

int chime_host_wait_looking(const chime_wait_request* request, uint64_t timeout_ns,
                            const chime_wait_look* look) {
  return wait_looking(Operation::kWaitUntilTimeout, *request, timeout_ns, look, nullptr);
}

int chime_host_wait_timeout(const chime_wait_request* request, uint64_t timeout_ns) {
  int status = CHIMEX_OK;
  constexpr Operation kMe = Operation::kWaitUntilTimeout;
  const int failed = status_of(kMe, [&] {
    check_wait(kMe, *request);
    status = run(
        kMe, Checks::kAsTheJobSays,
        [&](const Context& ctx) {
          return with_checked_set(kMe, *request, [&](const auto& set) {
            return wait_until_timeout(ctx, set.elements, set.cmp, set.value, timeout_ns);
          });
        },
        [&](Runtime& runtime) {
          return status_of_wait([&] { gpu_ops::wait(runtime, *request, look, timeout_ns); });
        });
  });
  return failed ? failed : status;
}

}  // extern "C"
