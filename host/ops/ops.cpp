// The host half of the families (chime/host_ops.h). On the CPU device: the same templates that
// kernels run, by the group Thread, on the calling thread's PE. On a GPU: gpu_ops.hpp.
//
// A template records its failure in the calling thread's own record; here it becomes the error of
// this very call. Once the job is aborted, no operation begins.
#define CHIME_HOST_ONLY
#include "chime/abi/launch_status.h"
#include "chime/chime.h"
#include "chime/device/coll/barrier.cuh"
#include "chime/device/rma.cuh"
#include "chime/device/signal.cuh"
#include "chime/device/sync.cuh"
#include "chime/host_ops.h"
#include "host/errors/error.hpp"
#include "host/ops/amo_table.cuh"
#include "host/ops/gpu/gpu_ops.hpp"
#include "host/ops/gpu/moves.hpp"
#include "host/ops/in_barrier.hpp"
#include "host/ops/teams.hpp"
#include "host/ops/typed.cuh"
#include "host/pe/init.hpp"
#include "host/pe/pe.hpp"
#include "host/report/async_error.hpp"
#include "host/report/calling_thread.hpp"
#include "host/report/guard.hpp"

namespace chime::host {
namespace {

// The calling thread's PE, ready for operations.
PeSlot& ready_slot() {
  PeSlot* slot = staying_slot();
  if (slot == nullptr || !slot->is_ready.load(std::memory_order_acquire)) {
    ready_runtime();
    slot = current_slot();
  }
  return *slot;
}

// Whether something is to be told that is not the calling thread's own.
bool async_error_is_recorded(const Context& ctx) {
  return std::atomic_ref(ctx.pe.async_error->claimed).load(std::memory_order_relaxed) != 0;
}

// Whether an operation would only put off what is to be told: the job is aborted, or ends when it
// is told what a kernel has recorded. An operation may wait long for what is lost.
bool is_told_first(const PeSlot& slot, const Context& ctx) {
  return detail::abort_is_raised(ctx) || (!goes_on(slot) && async_error_is_recorded(ctx));
}

// After an operation: what it has recorded, else what was found meanwhile and is nobody's own.
void throw_failure(PeSlot& slot, CallingThread& thread, Operation called) {
  if (thread.has_failed()) throw_own_error(*slot.runtime, thread.failure(), called);
  if (async_error_is_recorded(slot.host_context)) throw_recorded_error(*slot.runtime);
}

// What is looked at before an operation: what CHIME_CHECK says, or everything.
enum class Checks { kAsTheJobSays, kAll };

// What kernels have recorded is told before an operation where that ends the program, else after.
template <class Result, class OnGpu>
Result run_on_gpu(PeSlot& slot, OnGpu on_gpu) {
  Runtime& runtime = *slot.runtime;
  if (!goes_on(slot) || abort_cause(runtime.device->control().abort)) throw_async_error(runtime);
  if constexpr (std::is_void_v<Result>) {
    on_gpu(runtime);
    throw_recorded_error(runtime);
  } else {
    const auto result = static_cast<Result>(on_gpu(runtime));
    throw_recorded_error(runtime);
    return result;
  }
}

// Runs `on_cpu(context)` and throws what it recorded, or `on_gpu(runtime)`.
template <class OnCpu, class OnGpu>
auto run(Operation called, Checks checks, OnCpu on_cpu, OnGpu on_gpu) {
  PeSlot& slot = ready_slot();
  CallingThread& thread = CallingThread::of(slot);
  const Context& ctx = thread.context(checks == Checks::kAll);
  using Result = decltype(on_cpu(ctx));
  if (!slot.runtime->device->gpu->is_cpu()) return run_on_gpu<Result>(slot, on_gpu);
  if (is_told_first(slot, ctx)) throw_async_error(*slot.runtime);
  if constexpr (std::is_void_v<Result>) {
    on_cpu(ctx);
    throw_failure(slot, thread, called);
  } else {
    const Result result = on_cpu(ctx);
    throw_failure(slot, thread, called);
    return result;
  }
}

// One exported operation: errors are reported under the name that users call.
template <class OnCpu, class OnGpu>
auto operation(Operation called, OnCpu on_cpu, OnGpu on_gpu) noexcept {
  return guarded(called, [&] { return run(called, Checks::kAsTheJobSays, on_cpu, on_gpu); });
}

// The same for one that moves data, with every check in every job: on the host they cost a few
// compares, and the processor's copy beyond the heap would be a segmentation fault.
template <class OnCpu, class OnGpu>
auto transfer(Operation called, OnCpu on_cpu, OnGpu on_gpu) noexcept {
  return guarded(called, [&] { return run(called, Checks::kAll, on_cpu, on_gpu); });
}

void complete_all() {
  run(
      Operation::kQuiet, Checks::kAsTheJobSays, [](const Context& ctx) { quiet(ctx); },
      gpu_ops::quiet);
}

// A barrier (kBarrierAll) or sync (kSyncAll) of all PEs.
void meet_all(Operation which) {
  run(
      which, Checks::kAsTheJobSays,
      [which](const Context& ctx) {
        const InBarrier here(ready_slot(), which);
        if (which == Operation::kBarrierAll)
          barrier_all(ctx, Thread{});
        else
          sync_all(ctx, Thread{});
      },
      gpu_ops::barrier);
}

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

// Calls `body` with a value of the unsigned type of `bytes`.
template <class Body>
void with_word(std::size_t bytes, Body body) {
  check_element(bytes);
  with_element(bytes, body);
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

void check_amo(const AmoCall& call) {
  if (!amo_exists(call.op))
    throw Error("", CHIMEX_ERR_INVALID, "there is no such atomic operation");
  if (call.width != 4 && call.width != 8 && !(call.width == 2 && is_of_half(call.op)))
    throw Error(
        "", CHIMEX_ERR_INVALID,
        "atomics exist for words of 4 and 8 bytes; fetch, set, swap and the addition of half "
        "also for 2");
}

// `*word` of this PE.
std::uint64_t fetch(Runtime& runtime, const std::uint64_t* word) {
  std::uint64_t value = 0;
  gpu_ops::get(runtime, &value, word, sizeof(value), runtime.my_pe());
  return value;
}

}  // namespace
}  // namespace chime::host

using namespace chime;        // NOLINT: this file only forwards into it
using namespace chime::host;  // NOLINT

extern "C" {

// ---- Remote memory access ----------------------------------------------------------------------

void chime_host_put(void* dst, const void* src, size_t bytes, int pe) {
  transfer(
      Operation::kPut, [=](const Context& ctx) { putmem(ctx, Thread{}, dst, src, bytes, pe); },
      [=](Runtime& runtime) { gpu_ops::put(runtime, dst, src, bytes, pe); });
}

void chime_host_put_nbi(void* dst, const void* src, size_t bytes, int pe) {
  transfer(
      Operation::kPutNbi,
      [=](const Context& ctx) { putmem_nbi(ctx, Thread{}, dst, src, bytes, pe); },
      [=](Runtime& runtime) { gpu_ops::put(runtime, dst, src, bytes, pe); });
}

void chime_host_get(void* dst, const void* src, size_t bytes, int pe) {
  transfer(
      Operation::kGet, [=](const Context& ctx) { getmem(ctx, Thread{}, dst, src, bytes, pe); },
      [=](Runtime& runtime) { gpu_ops::get(runtime, dst, src, bytes, pe); });
}

void chime_host_get_nbi(void* dst, const void* src, size_t bytes, int pe) {
  transfer(
      Operation::kGetNbi,
      [=](const Context& ctx) { getmem_nbi(ctx, Thread{}, dst, src, bytes, pe); },
      [=](Runtime& runtime) { gpu_ops::get(runtime, dst, src, bytes, pe); });
}

void chime_host_p(void* dst, const void* value, size_t bytes, int pe) {
  transfer(
      Operation::kP,
      [=](const Context& ctx) {
        with_word(bytes, [&]<class T>(T word) {
          memcpy(&word, value, sizeof(T));
          p(ctx, static_cast<T*>(dst), word, pe);
        });
      },
      [=](Runtime& runtime) { gpu_ops::put_element(runtime, dst, value, bytes, pe); });
}

void chime_host_g(void* value, const void* src, size_t bytes, int pe) {
  transfer(
      Operation::kG,
      [=](const Context& ctx) {
        with_word(bytes, [&]<class T>(T) {
          const T word = g(ctx, static_cast<const T*>(src), pe);
          memcpy(value, &word, sizeof(T));
        });
      },
      [=](Runtime& runtime) { gpu_ops::get_element(runtime, value, src, bytes, pe); });
}

void chime_host_iput(void* dst, const void* src, ptrdiff_t dst_stride, ptrdiff_t src_stride,
                     size_t count, size_t element_bytes, int pe) {
  transfer(
      Operation::kIput,
      [=](const Context& ctx) {
        with_word(element_bytes, [&]<class T>(T) {
          iput(ctx, Thread{}, static_cast<T*>(dst), static_cast<const T*>(src), dst_stride,
               src_stride, count, pe);
        });
      },
      [=](Runtime& runtime) {
        gpu_ops::put_strided(runtime, dst, src, {dst_stride, src_stride, count, element_bytes}, pe);
      });
}

void chime_host_iget(void* dst, const void* src, ptrdiff_t dst_stride, ptrdiff_t src_stride,
                     size_t count, size_t element_bytes, int pe) {
  transfer(
      Operation::kIget,
      [=](const Context& ctx) {
        with_word(element_bytes, [&]<class T>(T) {
          iget(ctx, Thread{}, static_cast<T*>(dst), static_cast<const T*>(src), dst_stride,
               src_stride, count, pe);
        });
      },
      [=](Runtime& runtime) {
        gpu_ops::get_strided(runtime, dst, src, {dst_stride, src_stride, count, element_bytes}, pe);
      });
}

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

// ---- Atomics ------------------------------------------------------------------------------------

uint64_t chime_host_amo(int op, int fetch, void* dst, int width, uint64_t operand, uint64_t compare,
                        int pe) {
  const AmoCall call = {.op = op,
                        .fetch = fetch != 0,
                        .word = dst,
                        .width = width,
                        .pe = pe,
                        .operand = operand,
                        .compare = compare,
                        .old = nullptr};
  return operation(
      operation_of(call),
      [&](const Context& ctx) {
        check_amo(call);
        return apply_amo(ctx, call);
      },
      [&](Runtime& runtime) {
        check_amo(call);
        return gpu_ops::amo(runtime, call);
      });
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

// ---- Ordering and collectives -------------------------------------------------------------------

void chime_host_fence(void) {
  operation(
      Operation::kFence, [](const Context& ctx) { fence(ctx); }, [](Runtime&) {});
}

void chime_host_quiet(void) { guarded(Operation::kQuiet, complete_all); }

void chime_host_barrier_all(void) {
  exec::detail::tell_unseen_launch_errors();
  guarded(Operation::kBarrierAll, [] { meet_all(Operation::kBarrierAll); });
}

void chime_host_sync_all(void) {
  exec::detail::tell_unseen_launch_errors();
  guarded(Operation::kSyncAll, [] { meet_all(Operation::kSyncAll); });
}

int chime_host_barrier(chime_team_t team) {
  exec::detail::tell_unseen_launch_errors();
  return status_of(Operation::kBarrier, [=] {
    if (all_pes_meet_in(team))
      meet_all(Operation::kBarrierAll);
    else
      complete_all();
  });
}

int chime_host_team_sync(chime_team_t team) {
  exec::detail::tell_unseen_launch_errors();
  return status_of(Operation::kTeamSync, [=] {
    if (all_pes_meet_in(team)) meet_all(Operation::kSyncAll);
  });
}

// Addresses and paths alone: the same on both.
int chime_pe_accessible(int pe) {
  return guarded("chime_pe_accessible", [=] {
    return static_cast<int>(route_to(ready_slot().context, Traffic::kData, pe).path != Path::kNone);
  });
}

int chime_addr_accessible(const void* addr, int pe) {
  return guarded("chime_addr_accessible", [=] {
    const Context& ctx = ready_slot().context;
    const bool is_symmetric = is_in_heap(ctx, addr, 1);
    return static_cast<int>(is_symmetric && route_to(ctx, Traffic::kData, pe).path != Path::kNone);
  });
}

void* chime_host_ptr(const void* dst, int pe) {
  return guarded("chime_ptr", [=]() -> void* {
    return ptr(ready_slot().context, static_cast<std::byte*>(const_cast<void*>(dst)), pe);
  });
}

}  // extern "C"
