// Every wait uses spin_until: it sees the abort word and a deadline, so every wait ends, and an
// error says what it waited for.
#ifndef CHIME_DEVICE_WAIT_CUH_
#define CHIME_DEVICE_WAIT_CUH_

#include <cstdint>

#include "chime/abi/context.h"
#include "chime/device/compare.cuh"
#include "chime/device/exec/exec.cuh"
#include "chime/device/fail.cuh"
#include "chime/device/order.cuh"

namespace chime {

// The event of a wait, for reports.
struct Wait {
  Operation operation;  // the operation that waits
  const void* address;
  std::uint64_t expected;
  int pe = -1;                   // the PE that is to make it true, if that is known
  std::uint64_t timeout_ns = 0;  // 0: no bound
  std::uint32_t bytes = 0;       // of the program's word at `address`; 0: it is not the program's
  Cmp cmp = Cmp::kEq;            // of that word with `expected`
};

struct WaitResult {
  int status =
      CHIMEX_OK;  // else CHIMEX_ERR_TIMEOUT, the reason in the abort word, or that a PE is lost
  int pe = -1;    // the PE that caused it
  std::uint64_t waited_ns = 0;

  CHIME_DEVICE bool ok() const { return status == CHIMEX_OK; }
};

namespace detail {

// A look costs a load from host-visible memory and a clock: it is rare beside the polls.
inline constexpr unsigned kPollsPerLook = 64;

// Pairs with the release of the thread that raised the word: its other fields are complete.
CHIME_DEVICE bool abort_is_raised(const Context& ctx) {
  return order::observe(&ctx.pe.abort->raised) == 2;
}

// The first PE of the job that is dead, where survivors go on; -1: there is none.
CHIME_DEVICE int first_dead(const Context& ctx) {
  return static_cast<int>(order::observe(&ctx.pe.abort->first_dead)) - 1;
}

// Whether `pe` is dead, also where the job ends by it. Loads from the host's memory: for threads
// that have waited long, and for queries. Acquire: pairs with the release in host/errors/abort.cpp.
// REQUIRES: pe_exists(ctx, pe).
CHIME_DEVICE bool is_dead(const Context& ctx, int pe) {
  return (order::observe(ctx.pe.dead + pe / 64) >> pe % 64 & 1) != 0;
}

struct NoLook {
  CHIME_DEVICE int operator()(std::uint64_t) const { return -1; }
};

}  // namespace detail

// Spins until `done()` is true, this PE's job is aborted, or the bound has passed. Now and then it
// calls `look(start)`: if that returns a PE, the PE is lost, and the wait ends. `wait_for()` makes
// the Wait. It is called only when the wait has lasted, so that a short wait keeps none of its
// fields in registers.
template <class WaitFor, class Done, class Look = detail::NoLook>
CHIME_DEVICE WaitResult spin_until_for(const Context& ctx, WaitFor wait_for, Done done,
                                       Look look = {}) {
  WaitResult result;
  std::uint64_t start = 0;
  for (unsigned polls = 1; !done(); ++polls) {
    if (polls % detail::kPollsPerLook == 0) {
      const std::uint64_t now = exec::clock_ns();
      const Wait wait = wait_for();
      if (start == 0) {
        start = now;
        exec::wait_lasts(static_cast<std::uint32_t>(wait.operation), wait.address, wait.expected,
                         wait.pe, wait.bytes, static_cast<int>(wait.cmp));
      }
      if (detail::abort_is_raised(ctx)) {
        result = {ctx.pe.abort->status, ctx.pe.abort->pe, now - start};
        break;
      }
      if (wait.timeout_ns != 0 && now - start >= wait.timeout_ns) {
        result = {CHIMEX_ERR_TIMEOUT, wait.pe, now - start};
        break;
      }
      const int lost = look(start);
      if (lost >= 0) {
        const int status = detail::is_dead(ctx, lost) ? CHIMEX_ERR_PEER_DEAD : CHIMEX_ERR_NETWORK;
        result = {status, lost, exec::clock_ns() - start};
        break;
      }
    }
    exec::pause();
  }
  exec::wait_ended();
  return result;
}
template <class Done, class Look = detail::NoLook>
CHIME_DEVICE WaitResult spin_until(const Context& ctx, const Wait& wait, Done done,
                                   Look look = {}) {
  return spin_until_for(
      ctx, [&] { return wait; }, done, look);
}

// Records that `wait` ended without its event; `seen` is the last value.
CHIME_DEVICE void record_wait(const Context& ctx, const Wait& wait, const WaitResult& result,
                              std::uint64_t seen, Fault fault = Fault::kWait) {
  record(ctx, {.status = result.status,
               .operation = wait.operation,
               .pe = result.pe,
               .fault = fault,
               .address = wait.address,
               .expected = wait.expected,
               .seen = seen,
               .waited_ns = result.waited_ns});
}

}  // namespace chime

#endif  // CHIME_DEVICE_WAIT_CUH_
