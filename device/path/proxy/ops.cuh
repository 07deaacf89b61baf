// The path through the proxy: the kernel writes requests into a FIFO, and a thread of the host
// carries them out.
//
// The leader posts for a warp or block. An operation that fails leaves as CHIME_ON_ERROR says; with
// `return` it gives zero. Functions that may stage are out of line: other paths need their
// registers.
#ifndef CHIME_DEVICE_PATH_PROXY_OPS_CUH_
#define CHIME_DEVICE_PATH_PROXY_OPS_CUH_

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "chime/abi/channel.h"
#include "chime/abi/context.h"
#include "chime/device/channel/channel.cuh"
#include "chime/device/channel/error.cuh"
#include "chime/device/exec/exec.cuh"
#include "chime/device/group.cuh"
#include "chime/device/op.cuh"
#include "chime/device/path/ops.cuh"
#include "chime/device/path/proxy/fetch.cuh"
#include "chime/device/path/proxy/rma.cuh"

namespace chime {
namespace fifo {

// A thread posts together with others of its warp that are at the call; the leader of a group posts
// alone.
template <class Group>
using PosterOf = std::conditional_t<std::is_same_v<Group, Thread>, Thread, Leader>;

CHIME_DEVICE void leave_unless(bool is_well, const Context& ctx, Channel& fifo, int pe) {
  if (!is_well) channel::leave_operation(ctx, fifo, pe);
}

template <std::size_t kLeast, class Poster>
CHIME_DEVICE_OUT_OF_LINE void put(const Context& ctx, Channel& fifo, int pe, void* dst,
                                  const void* src, std::size_t bytes, Until until) {
  leave_unless(write<kLeast>(ctx, Poster{}, fifo, {dst, src, bytes, until}, pe), ctx, fifo, pe);
}

template <class Poster>
CHIME_DEVICE_OUT_OF_LINE void get(const Context& ctx, Channel& fifo, int pe, void* dst,
                                  const void* src, std::size_t bytes, Until until) {
  leave_unless(read(ctx, Poster{}, fifo, {dst, src, bytes, until}, pe), ctx, fifo, pe);
}

template <class W>
CHIME_DEVICE void p(const Context& ctx, Channel& fifo, int pe, const W* dst, W value) {
  leave_unless(write_element(ctx, Thread{}, fifo, remote_of(ctx, dst, pe), value), ctx, fifo, pe);
}

template <class W>
CHIME_DEVICE W g(const Context& ctx, Channel& fifo, int pe, const W* src) {
  W value = {};
  leave_unless(read_element(ctx, fifo, pe, heap_offset(ctx, src), &value), ctx, fifo, pe);
  return value;
}

template <std::size_t kLeast, class Poster>
CHIME_DEVICE_OUT_OF_LINE void put_signal(const Context& ctx, Channel& fifo, int pe, void* dst,
                                         const void* src, std::size_t bytes, Until until,
                                         std::uint64_t* word, std::uint64_t value, SignalOp op) {
  leave_unless(write_with_signal<kLeast>(ctx, Poster{}, fifo, {dst, src, bytes, until},
                                         {word, value, op}, pe),
               ctx, fifo, pe);
}

CHIME_DEVICE void announce_or_leave(const Context& ctx, Channel& fifo, int pe, std::uint64_t* word,
                                    std::uint64_t value) {
  leave_unless(announce(ctx, fifo, {word, value}, pe), ctx, fifo, pe);
}

// `op`: not one that only fetches.
CHIME_DEVICE void amo(const Context& ctx, Channel& fifo, int pe, const void* word, AmoOp op,
                      unsigned bytes, std::uint64_t operand) {
  leave_unless(post_atomic(ctx, Thread{}, fifo, remote_of(ctx, word, pe), op, bytes, operand).ok(),
               ctx, fifo, pe);
}

template <class A>
CHIME_DEVICE typename A::Word fetch_amo(const Context& ctx, Channel& fifo, int pe, A amo) {
  typename A::Word before = 0;
  leave_unless(fetch_atomic(ctx, fifo, pe, heap_offset(ctx, amo.word), amo, &before), ctx, fifo,
               pe);
  return before;
}

}  // namespace fifo

template <>
class Ops<Path::kProxy> {
 public:
  CHIME_DEVICE Ops(const Context& ctx, abi::Channel& fifo, int pe)
      : ctx_(ctx), fifo_(fifo), pe_(pe) {}

  static constexpr bool kIsMapped = false;

  // ---- Remote memory access ----

  template <std::size_t kLeast, class Group>
  CHIME_DEVICE void put(Group g, const Put& put) const {
    if (!g.is_leader()) return;
    fifo::put<kLeast, fifo::PosterOf<Group>>(ctx_, fifo_, pe_, put.dst, put.src, put.bytes,
                                             put.until);
  }
  template <std::size_t kLeast, class Group>
  CHIME_DEVICE void get(Group g, const Get& get) const {
    if (!g.is_leader()) return;
    fifo::get<fifo::PosterOf<Group>>(ctx_, fifo_, pe_, get.dst, get.src, get.bytes, get.until);
  }

  template <class W>
  CHIME_DEVICE void p(W* dst, W value) const {
    fifo::p<W>(ctx_, fifo_, pe_, dst, value);
  }
  template <class W>
  CHIME_DEVICE W g(const W* src) const {
    return fifo::g<W>(ctx_, fifo_, pe_, src);
  }

  // ---- Signals and atomics ----

  static constexpr bool kAddsFloats = false;

  template <std::size_t kLeast, class Group>
  CHIME_DEVICE void put_signal(Group g, const Put& put, const SignalUpdate& signal) const {
    if (g.is_leader()) {
      fifo::put_signal<kLeast, fifo::PosterOf<Group>>(ctx_, fifo_, pe_, put.dst, put.src, put.bytes,
                                                      put.until, signal.word, signal.value,
                                                      signal.op);
    }
    if (put.until == Until::kLocal) end_together(g);  // any member may reuse the source
  }

  template <std::size_t kLeast, class Group>
  CHIME_DEVICE void put_in_turn(Group g, const Put& put, const SignalUpdate& signal) const {
    if (g.is_leader()) fifo::await_turn_of_signals(ctx_, fifo_, pe_);
    put_signal<kLeast>(g, put, signal);
  }

  CHIME_DEVICE void signal(const SignalUpdate& signal) const {
    fifo::amo(ctx_, fifo_, pe_, signal.word, fifo::amo_of(signal.op), sizeof(signal.value),
              signal.value);
  }
  CHIME_DEVICE void announce(const SignalUpdate& signal) const {
    fifo::announce_or_leave(ctx_, fifo_, pe_, signal.word, signal.value);
  }

  template <class A>
  CHIME_DEVICE void amo(const A& amo) const {
    static_assert(A::kOp != AmoOp::kFetch && A::kOp != AmoOp::kCompareSwap, "these have a result");
    fifo::amo(ctx_, fifo_, pe_, amo.word, A::kOp, sizeof(typename A::Word), amo.operand);
  }
  // Returns the word before.
  template <class A>
  CHIME_DEVICE typename A::Word fetch_amo(const A& amo) const {
    return fifo::fetch_amo(ctx_, fifo_, pe_, amo);
  }

 private:
  const Context& ctx_;
  abi::Channel& fifo_;
  const int pe_;
};

}  // namespace chime

#endif  // CHIME_DEVICE_PATH_PROXY_OPS_CUH_
