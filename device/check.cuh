// What a wait, test or fetch on this PE's own memory refuses before it begins: a comparison that
// does not exist; in a checked job (CHIME_CHECK=1) an address outside the heap or one that is not
// aligned; with CHIME_CHECK=2 words that no single allocation has.
//
// route.cuh has the checks of puts, gets and atomics: they are a part of finding the route.
#ifndef CHIME_DEVICE_CHECK_CUH_
#define CHIME_DEVICE_CHECK_CUH_

#include <cstddef>
#include <cstdint>

#include "chime/abi/context.h"
#include "chime/device/bounds.cuh"
#include "chime/device/compare.cuh"
#include "chime/device/exec/exec.cuh"
#include "chime/device/fail.cuh"
#include "chime/device/symmetric.cuh"

namespace chime::detail {

// The memory that an operation looks at.
struct Watched {
  Operation operation;
  const void* address;
  std::size_t bytes;
  std::size_t alignment;
  Cmp cmp = Cmp::kEq;
};

template <class T>
CHIME_DEVICE Watched watched_word(Operation operation, const T* word, Cmp cmp = Cmp::kEq) {
  return {operation, word, sizeof(T), sizeof(T), cmp};
}

CHIME_DEVICE bool lies_right(const Context& ctx, const Watched& watched) {
  need_filled(ctx);
  return watched.bytes == 0 || (is_aligned(watched.address, watched.alignment) &&
                                is_in_heap(ctx, watched.address, watched.bytes) &&
                                is_in_bounds(ctx, watched.address, watched.bytes));
}

// A wait for nothing may name any address.
CHIME_DEVICE bool is_nowhere(const Watched& watched) {
  return watched.bytes != 0 && exec::is_no_memory(watched.address);
}

CHIME_DEVICE bool is_refused(const Context& ctx, const Watched& watched) {
  return !compare_exists(watched.cmp) || is_nowhere(watched) ||
         (checks_of(ctx) != 0 && !lies_right(ctx, watched));
}

// REQUIRES: is_refused(ctx, watched).
CHIME_DEVICE void record_refusal(const Context& ctx, const Watched& watched) {
  Failure failure = {.status = CHIMEX_ERR_INVALID,
                     .operation = watched.operation,
                     .pe = ctx.pe.my_pe,
                     .address = watched.address,
                     .expected = watched.bytes};
  if (!compare_exists(watched.cmp)) {
    failure.fault = Fault::kComparison;
    failure.expected = static_cast<std::uint64_t>(watched.cmp);
  } else if (is_nowhere(watched)) {
    failure.fault = Fault::kNoMemory;
  } else if (!is_aligned(watched.address, watched.alignment) &&
             is_in_heap(ctx, watched.address, watched.bytes)) {
    failure.fault = Fault::kAlignment;
    failure.expected = watched.alignment;
  } else if (is_in_heap(ctx, watched.address, watched.bytes)) {
    failure.fault = Fault::kBounds;
  }
  record(ctx, failure);
}

// Out of line, so that a job without checks pays no register for the checks and the error.
CHIME_DEVICE_OUT_OF_LINE bool begins_if_right(const Context& ctx, Watched watched) {
  if (!is_refused(ctx, watched)) return true;
  record_refusal(ctx, watched);
  leave(ctx);
  return false;
}

// False if the wait or test is refused. Then this has recorded the error, and the thread leaves.
CHIME_DEVICE bool begins(const Context& ctx, const Watched& watched) {
  const bool needs_no_look =
      checks_of(ctx) == 0 && compare_exists(watched.cmp) && !is_nowhere(watched);
  return needs_no_look || begins_if_right(ctx, watched);
}

// The same for calls that look once and may do so often: free in a job that is not checked.
CHIME_DEVICE bool passes(const Context& ctx, const Watched& watched) {
  return (checks_of(ctx) == 0 && !is_nowhere(watched)) || begins(ctx, watched);
}

}  // namespace chime::detail

#endif  // CHIME_DEVICE_CHECK_CUH_
