// What device code does when it cannot go on: it records the error once, then leaves as
// CHIME_ON_ERROR says.
#ifndef CHIME_DEVICE_FAIL_CUH_
#define CHIME_DEVICE_FAIL_CUH_

#include <cstddef>
#include <cstdint>

#include "chime/abi/context.h"
#include "chime/device/exec/exec.cuh"
#include "chime/error.h"

namespace chime {

// An error, in the terms of abi::ErrorRecord.
struct Failure {
  int status;  // chimex_status
  Operation operation;
  int pe = -1;
  Fault fault = Fault::kPlace;
  const void* address = nullptr;
  std::uint64_t expected = 0;
  std::uint64_t seen = 0;
  std::uint64_t waited_ns = 0;
};

// Fills the record if it is free: the first failure is the one that explains the others.
CHIME_DEVICE void record_in(abi::ErrorRecord* record, const Failure& failure) {
  using exec::Order;
  using exec::Scope;
  // Acquire: the host has read the record before it freed it (host/report/async_error.cpp).
  if (exec::atomic_cas<Order::kAcquire, Scope::kSystem>(&record->claimed, 0u, 1u) != 0) return;
  record->status = failure.status;
  record->pe = failure.pe;
  record->operation = static_cast<std::uint16_t>(failure.operation);
  record->fault = static_cast<std::uint16_t>(failure.fault);
  record->address = reinterpret_cast<std::uint64_t>(failure.address);
  record->expected = failure.expected;
  record->seen = failure.seen;
  record->waited_ns = failure.waited_ns;
  record->in_kernel = exec::in_kernel();
  if (exec::in_kernel()) {
    record->block = exec::block_rank();
    record->thread = exec::thread_rank();
  }
  // Publishes the fields: pairs with the acquire of the host's reader (abi/control_page.md).
  exec::st<Order::kRelease, Scope::kSystem>(&record->claimed, 2u);
}

// A failure in the caller's own record.
CHIME_DEVICE void record(const Context& ctx, const Failure& failure) {
  record_in(ctx.pe.error, failure);
}

// Ends the calling thread and with it the kernel (exec::end_kernel says how far), or traps, unless
// CHIME_ON_ERROR=return. Host code always gets back: its caller reads the record and reports to the
// user.
CHIME_DEVICE void leave(const Context& ctx) {
  if (!exec::in_kernel()) return;
  if (ctx.pe.on_error == OnError::kExit) exec::end_kernel();
  if (ctx.pe.on_error == OnError::kTrap) {
    exec::trap("chime: an operation has failed, and CHIME_ON_ERROR=trap");
  }
}

CHIME_DEVICE void fail(const Context& ctx, const Failure& failure) {
  record(ctx, failure);
  leave(ctx);
}

// ---- A Context that is not filled ---------------------------------------------------------------

[[noreturn]] CHIME_DEVICE_OUT_OF_LINE void trap_unfilled() {
  exec::trap(
      "chime: this kernel's state is not filled. It is after init, where a GPU was chosen before "
      "(cudaSetDevice); else after the first call that allocates or meets (malloc, barrier_all), "
      "or after chimex_init_device. (Of threads that are PEs on one GPU, kernels take their "
      "Context as an argument.)");
}

// Not 0 in a checked job.
CHIME_DEVICE std::uint32_t checks_of(const Context& ctx) { return exec::checks_of(ctx.pe.checked); }

// For functions that use the Context without another check. Operations on a PE need no such check:
// no path leads to a PE from an unfilled Context, and fail_route() then calls this. Waits need none
// either: unfilled_context() is that of a checked job, and the check calls this.
CHIME_DEVICE void need_filled(const Context& ctx) {
  if (exec::may_be_unfilled(ctx.pe.checked) && ctx.abi_version == 0) trap_unfilled();
}
CHIME_DEVICE const Context& filled(const Context& ctx) {
  need_filled(ctx);
  return ctx;
}

}  // namespace chime

#endif  // CHIME_DEVICE_FAIL_CUH_
