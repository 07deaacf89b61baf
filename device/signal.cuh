// put_signal, and the operations on a signal word: a symmetric word of 64 bits that announces data.
#ifndef CHIME_DEVICE_SIGNAL_CUH_
#define CHIME_DEVICE_SIGNAL_CUH_

#include <cstddef>
#include <cstdint>

#include "chime/abi/context.h"
#include "chime/device/check.cuh"
#include "chime/device/exec/exec.cuh"
#include "chime/device/exec/timeline.cuh"
#include "chime/device/group.cuh"
#include "chime/device/op.cuh"
#include "chime/device/order.cuh"
#include "chime/device/path/ops.cuh"
#include "chime/device/rma.cuh"
#include "chime/device/route.cuh"
#include "chime/device/wait.cuh"

namespace chime {

// A signal update from the C API's arguments; `op` is a CHIME_SIGNAL_*.
CHIME_DEVICE SignalUpdate signal_of(std::uint64_t* word, std::uint64_t value, int op) {
  return {word, value, static_cast<SignalOp>(op)};
}

namespace detail {

// As go(): `f` gets the operations of the path that the signal takes.
template <class F>
CHIME_DEVICE bool go_with_signal(const Context& ctx, const SignalUpdate& signal, int pe, F f) {
  return signal_op_exists(signal.op) &&
         go(ctx, traffic_of(signal.op), target_word(signal.word), pe, f);
}

CHIME_DEVICE abi::TracedWork work_of(Operation operation, const SignalUpdate& signal, int pe,
                                     std::size_t bytes) {
  return {operation, pe, signal.word, bytes, signal.value, static_cast<int>(signal.op)};
}

// No path leads to the signal.
CHIME_DEVICE_OUT_OF_LINE void fail_signal(const Context& ctx, SignalUpdate signal, int pe,
                                          Operation operation) {
  if (signal_op_exists(signal.op)) {
    return fail_route(ctx, target_word(signal.word), pe, operation);
  }
  need_filled(ctx);
  fail(ctx, {.status = CHIMEX_ERR_INVALID,
             .operation = operation,
             .pe = pe,
             .fault = Fault::kSignalOp,
             .address = signal.word,
             .expected = static_cast<std::uint64_t>(signal.op)});
}

// Data and signal take one path, that of the signal. A signal is never sent without its data. A
// mapped path to the calling PE takes data that are not symmetric; a channel, which updates the
// heap's words, does not.
template <class Copy, std::size_t kLeast, class Group>
CHIME_DEVICE void do_put_signal(const Context& ctx, Group g, const Put& put,
                                const SignalUpdate& signal, int pe, Operation operation) {
  const Target data = {put.dst, put.bytes, kLeast, false, put.src};
  if (!go_with_signal(ctx, signal, pe, [&](const auto& path) {
        if (put.bytes != 0) {
          if (!is_in_unchecked_heap(ctx, data) && !may_touch_too(ctx, data, pe, path.kIsMapped)) {
            return fail_route(ctx, data, pe, operation);
          }
          name_source(ctx, g, put.src, put.bytes, put.bytes, 1);
        }
        path.template put_signal<kLeast>(g, put, signal);
      })) {
    fail_signal(ctx, signal, pe, operation);
  }
}

template <std::size_t kLeast, class Group>
CHIME_DEVICE void put_signal_bytes(const Context& ctx, Group g, const Put& put,
                                   const SignalUpdate& signal, int pe, Operation operation) {
  if (put.bytes != 0 && !is_memory(ctx, put.src, put.bytes, operation)) return;
  if (may_note(ctx)) {
    return note(
        ctx, g, work_of(operation, signal, pe, put.bytes),
        [](const Context& ctx, Group g, void* dst, const void* src, std::size_t bytes, Until until,
           std::uint64_t* word, std::uint64_t value, SignalOp op, int pe, Operation operation) {
          do_put_signal<Noting, kLeast>(ctx, g, {dst, src, bytes, until}, {word, value, op}, pe,
                                        operation);
        },
        put.dst, put.src, put.bytes, put.until, signal.word, signal.value, signal.op, pe,
        operation);
  }
  do_put_signal<Quick, kLeast>(ctx, g, put, signal, pe, operation);
}

template <class Copy>
CHIME_DEVICE void do_signal_op(const Context& ctx, const SignalUpdate& signal, int pe) {
  if (!go_with_signal(ctx, signal, pe, [&](const auto& path) { path.signal(signal); })) {
    fail_signal(ctx, signal, pe, Operation::kSignalOp);
  }
}

}  // namespace detail

// Puts, then updates the signal at `pe`. A reader that sees the update also sees the data of this
// call; earlier puts need a fence. The source may be reused when the call returns; with nbi, after
// quiet. A group updates the signal once. With n == 0 only the signal is sent.
template <class Group, class T>
CHIME_DEVICE void put_signal(const Context& ctx, Group g, T* dst, const T* src, std::size_t n,
                             SignalUpdate signal, int pe) {
  detail::put_signal_bytes<detail::kLeastWord<T>>(
      ctx, g, {dst, src, detail::bytes_of<T>(n), Until::kLocal}, signal, pe, Operation::kPutSignal);
}
template <class Group, class T>
CHIME_DEVICE void put_signal_nbi(const Context& ctx, Group g, T* dst, const T* src, std::size_t n,
                                 SignalUpdate signal, int pe) {
  detail::put_signal_bytes<detail::kLeastWord<T>>(
      ctx, g, {dst, src, detail::bytes_of<T>(n), Until::kPosted}, signal, pe,
      Operation::kPutSignalNbi);
}
template <class Group>
CHIME_DEVICE void putmem_signal(const Context& ctx, Group g, void* dst, const void* src,
                                std::size_t bytes, SignalUpdate signal, int pe) {
  detail::put_signal_bytes<1>(ctx, g, {dst, src, bytes, Until::kLocal}, signal, pe,
                              Operation::kPutSignal);
}
template <class Group>
CHIME_DEVICE void putmem_signal_nbi(const Context& ctx, Group g, void* dst, const void* src,
                                    std::size_t bytes, SignalUpdate signal, int pe) {
  detail::put_signal_bytes<1>(ctx, g, {dst, src, bytes, Until::kPosted}, signal, pe,
                              Operation::kPutSignalNbi);
}

// Updates the signal alone, atomically and with no order: put, fence, signal_op is the sequence
// that announces data.
CHIME_DEVICE void signal_op(const Context& ctx, const SignalUpdate& signal, int pe) {
  if (detail::may_note(ctx)) {
    return detail::note(
        ctx, Thread{}, detail::work_of(Operation::kSignalOp, signal, pe, 0),
        [](const Context& ctx, Thread, std::uint64_t* word, std::uint64_t value, SignalOp op,
           int pe) {
          detail::do_signal_op<detail::Noting>(ctx, {word, value, op}, pe);
        },
        signal.word, signal.value, signal.op, pe);
  }
  detail::do_signal_op<detail::Quick>(ctx, signal, pe);
}

// Reads this PE's signal word once. What came with this value is visible after it. Returns 0 if the
// check refuses the word and CHIME_ON_ERROR=return.
CHIME_DEVICE std::uint64_t signal_fetch(const Context& ctx, const std::uint64_t* sig) {
  const auto watched = detail::watched_word(Operation::kSignalFetch, sig);
  return detail::passes(ctx, watched) ? order::observe(sig) : 0;
}

}  // namespace chime

#endif  // CHIME_DEVICE_SIGNAL_CUH_
