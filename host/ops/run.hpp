// How a host operation of the families runs (chime/host_ops.h). On the CPU device: the templates
// that kernels run, by the group Thread, on the calling thread's PE. On a GPU: gpu/gpu_ops.hpp.
//
// A template records its failure in the calling thread's own record; here it becomes the error of
// this very call. Once the job is aborted, no operation begins.
#pragma once

#include <atomic>
#include <type_traits>

#include "chime/abi/operation.h"
#include "chime/device/wait.cuh"
#include "host/errors/abort.hpp"
#include "host/pe/pe.hpp"
#include "host/report/async_error.hpp"
#include "host/report/calling_thread.hpp"
#include "host/report/guard.hpp"

namespace chime::host {

// The calling thread's PE, ready for operations.
inline PeSlot& ready_slot() {
  PeSlot* slot = staying_slot();
  if (slot == nullptr || !slot->is_ready.load(std::memory_order_acquire)) {
    ready_runtime();
    slot = current_slot();
  }
  return *slot;
}

// Whether an error is pending that is not the calling thread's own.
inline bool async_error_is_recorded(const Context& ctx) {
  return std::atomic_ref(ctx.pe.async_error->claimed).load(std::memory_order_relaxed) != 0;
}

// Whether a pending error is thrown before the operation: the job is aborted, or an error that a
// kernel recorded ends it. The operation might wait long for a PE that is lost.
inline bool throws_first(const PeSlot& slot, const Context& ctx) {
  return chime::detail::abort_is_raised(ctx) || (!goes_on(slot) && async_error_is_recorded(ctx));
}

// After an operation: what it has recorded, else what was found meanwhile and is nobody's own.
inline void throw_failure(PeSlot& slot, CallingThread& thread, Operation called) {
  if (thread.has_failed()) throw_own_error(*slot.runtime, thread.failure(), called);
  if (async_error_is_recorded(slot.host_context)) throw_recorded_error(*slot.runtime);
}

// The checks before an operation: as CHIME_CHECK says, or all.
enum class Checks { kAsTheJobSays, kAll };

// Throws what kernels have recorded: before the operation where that ends the program, else after.
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
  if (throws_first(slot, ctx)) throw_async_error(*slot.runtime);
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

// The same for one that moves data, with every check in every job: on the host a check costs a few
// compares, and the processor's copy beyond the heap would be a segmentation fault.
template <class OnCpu, class OnGpu>
auto transfer(Operation called, OnCpu on_cpu, OnGpu on_gpu) noexcept {
  return guarded(called, [&] { return run(called, Checks::kAll, on_cpu, on_gpu); });
}

}  // namespace chime::host
