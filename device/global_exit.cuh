// The end of the job, with a status, by a kernel.
#ifndef CHIME_DEVICE_GLOBAL_EXIT_CUH_
#define CHIME_DEVICE_GLOBAL_EXIT_CUH_

#include <cstdint>

#include "chime/abi/context.h"
#include "chime/device/exec/exec.cuh"
#include "chime/device/fail.cuh"

namespace chime {

// Asks this PE's host to end the job, and ends the calling thread and the kernel as
// exec::end_kernel does. The host obeys at its next call or soon, also while it sleeps and whatever
// CHIME_ON_ERROR says. Only the first request counts. REQUIRES: in a kernel.
[[noreturn]] CHIME_DEVICE void global_exit(const Context& ctx, int status) {
  need_filled(ctx);
  using exec::Order;
  using exec::Scope;
  const std::uint64_t asked = abi::kExitAsked | static_cast<std::uint32_t>(status);
  exec::atomic_cas<Order::kRelaxed, Scope::kSystem>(&ctx.pe.abort->exit_asked, std::uint64_t{0},
                                                    asked);
  // After the status: record() releases it, and the host acquires the record before it looks for a
  // status (host/report/async_error.cpp).
  record(ctx, {.status = CHIMEX_ERR_ABORTED, .operation = Operation::kNone, .pe = ctx.pe.my_pe});
  exec::end_kernel();
}

}  // namespace chime

#endif  // CHIME_DEVICE_GLOBAL_EXIT_CUH_
