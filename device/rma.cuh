// put, get, p, g and their strided forms.
//
// Every member of the group calls with the same arguments. The blocking forms end with a sync of
// the group, so that any member may reuse the source (put) or read the destination (get). No form
// begins with a sync: its callers have met since they wrote the source. The names of the C API
// begin and end with one, also the nbi forms (Together, group.cuh).
#ifndef CHIME_DEVICE_RMA_CUH_
#define CHIME_DEVICE_RMA_CUH_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "chime/abi/context.h"
#include "chime/device/copy.cuh"
#include "chime/device/exec/exec.cuh"
#include "chime/device/exec/timeline.cuh"
#include "chime/device/group.cuh"
#include "chime/device/op.cuh"
#include "chime/device/path/ops.cuh"
#include "chime/device/route.cuh"
#include "chime/types.h"

namespace chime {
namespace detail {

// The alignment that typed pointers and counts promise to the copy.
template <class T>
inline constexpr std::size_t kLeastWord = alignof(T) < kWidest ? alignof(T) : kWidest;

// The size of `n` elements. A size that size_t cannot hold becomes its largest value, which every
// check refuses.
template <class T>
CHIME_DEVICE std::size_t bytes_of(std::size_t n) {
  return CHIME_BYTES(n, sizeof(T));
}

// In a checked job the group names its source before it reads it. The CPU device then checks the
// source in weak mode (exec::block_reads).
template <class Group>
CHIME_DEVICE void name_source(const Context& ctx, Group g, const void* source, std::size_t bytes,
                              std::size_t stride, std::size_t count) {
  if (checks_of(ctx) != 0) g.reads(source, bytes, stride, count);
}

template <class Copy, std::size_t kLeast, class Group>
CHIME_DEVICE void do_put(const Context& ctx, Group g, const Put& put, int pe, Operation operation) {
  const Target target = {put.dst, put.bytes, kLeast, false, put.src};
  if (!go(ctx, Traffic::kData, target, pe, [&](const auto& path) {
        name_source(ctx, g, put.src, put.bytes, put.bytes, 1);
        path.template put<kLeast>(g, put);
      })) {
    fail_route(ctx, target, pe, operation);
  }
}

template <std::size_t kLeast, class Group>
CHIME_DEVICE void put_bytes(const Context& ctx, Group g, const Put& put, int pe,
                            Operation operation) {
  if (put.bytes == 0) return static_cast<void>(check_pe(ctx, pe, operation));
  if (!is_memory(ctx, put.src, put.bytes, operation)) return;
  if (may_note(ctx)) {
    return note(
        ctx, g, {operation, pe, put.dst, put.bytes},
        [](const Context& ctx, Group g, void* dst, const void* src, std::size_t bytes, Until until,
           int pe, Operation operation) {
          do_put<Noting, kLeast>(ctx, g, {dst, src, bytes, until}, pe, operation);
        },
        put.dst, put.src, put.bytes, put.until, pe, operation);
  }
  do_put<Quick, kLeast>(ctx, g, put, pe, operation);
}

template <class Copy, std::size_t kLeast, class Group>
CHIME_DEVICE void do_get(const Context& ctx, Group g, const Get& get, int pe, Operation operation) {
  const Target target = {get.src, get.bytes, kLeast, false, get.dst};
  if (!go(ctx, Traffic::kData, target, pe,
          [&](const auto& path) { path.template get<kLeast>(g, get); })) {
    fail_route(ctx, target, pe, operation);
  }
}

template <std::size_t kLeast, class Group>
CHIME_DEVICE void get_bytes(const Context& ctx, Group g, const Get& get, int pe,
                            Operation operation) {
  if (get.bytes == 0) return static_cast<void>(check_pe(ctx, pe, operation));
  if (!is_memory(ctx, get.dst, get.bytes, operation)) return;
  if (may_note(ctx)) {
    return note(
        ctx, g, {operation, pe, get.src, get.bytes},
        [](const Context& ctx, Group g, void* dst, const void* src, std::size_t bytes, Until until,
           int pe, Operation operation) {
          do_get<Noting, kLeast>(ctx, g, {dst, src, bytes, until}, pe, operation);
        },
        get.dst, get.src, get.bytes, get.until, pe, operation);
  }
  do_get<Quick, kLeast>(ctx, g, get, pe, operation);
}

// Bytes from the first to the end of the last of `count` elements that lie `stride` apart; the
// largest size_t as in bytes_of. The product of twice the width costs less than a division.
template <class T>
CHIME_DEVICE std::size_t strided_bytes(std::ptrdiff_t stride, std::size_t count) {
  __extension__ using Wide = unsigned __int128;
  constexpr std::size_t kMost = ~std::size_t{0} / sizeof(T);
  const Wide elements = static_cast<Wide>(count - 1) * static_cast<std::size_t>(stride);
  if ((stride < 1 && count != 1) || elements >= kMost) return ~std::size_t{0};
  return static_cast<std::size_t>(elements) * sizeof(T) + sizeof(T);
}

// A private element as its word; aligned to its size, up to 8 bytes. The addresses are void: nvcc's
// assume_aligned loses the type of others.
template <class W>
CHIME_DEVICE W load_element(const void* from) {
  W word;
  memcpy(&word, __builtin_assume_aligned(from, sizeof(W) < 8 ? sizeof(W) : 8), sizeof(W));
  return word;
}
template <class W>
CHIME_DEVICE void store_element(void* to, const W& word) {
  memcpy(__builtin_assume_aligned(to, sizeof(W) < 8 ? sizeof(W) : 8), &word, sizeof(W));
}

}  // namespace detail

// put_nbi: the source may be reused after quiet. Each member may read its own part before the call
// returns; on a mapped peer all of it is read then. Where a NIC carries the data, the leader posts
// for the group: its quiet completes the put, or that of another member after a sync. Complete at
// `pe` after quiet; ordered by fence.
template <class Group, class T>
CHIME_DEVICE void put_nbi(const Context& ctx, Group g, T* dst, const T* src, std::size_t n,
                          int pe) {
  detail::put_bytes<detail::kLeastWord<T>>(
      ctx, g, {dst, src, detail::bytes_of<T>(n), Until::kPosted}, pe, Operation::kPutNbi);
}

// put: the source may be reused when the call returns. Complete at `pe` after quiet.
template <class Group, class T>
CHIME_DEVICE void put(const Context& ctx, Group g, T* dst, const T* src, std::size_t n, int pe) {
  detail::put_bytes<detail::kLeastWord<T>>(
      ctx, g, {dst, src, detail::bytes_of<T>(n), Until::kLocal}, pe, Operation::kPut);
  end_together(g);
}

// get_nbi: the destination holds the data after quiet.
template <class Group, class T>
CHIME_DEVICE void get_nbi(const Context& ctx, Group g, T* dst, const T* src, std::size_t n,
                          int pe) {
  detail::get_bytes<detail::kLeastWord<T>>(
      ctx, g, {dst, src, detail::bytes_of<T>(n), Until::kPosted}, pe, Operation::kGetNbi);
}

// get: the destination holds the data, for every member, when the call returns.
template <class Group, class T>
CHIME_DEVICE void get(const Context& ctx, Group g, T* dst, const T* src, std::size_t n, int pe) {
  detail::get_bytes<detail::kLeastWord<T>>(
      ctx, g, {dst, src, detail::bytes_of<T>(n), Until::kLocal}, pe, Operation::kGet);
  end_together(g);
}

// The same for bytes at any alignment.
template <class Group>
CHIME_DEVICE void putmem(const Context& ctx, Group g, void* dst, const void* src, std::size_t bytes,
                         int pe) {
  detail::put_bytes<1>(ctx, g, {dst, src, bytes, Until::kLocal}, pe, Operation::kPut);
  end_together(g);
}
template <class Group>
CHIME_DEVICE void putmem_nbi(const Context& ctx, Group g, void* dst, const void* src,
                             std::size_t bytes, int pe) {
  detail::put_bytes<1>(ctx, g, {dst, src, bytes, Until::kPosted}, pe, Operation::kPutNbi);
}
template <class Group>
CHIME_DEVICE void getmem(const Context& ctx, Group g, void* dst, const void* src, std::size_t bytes,
                         int pe) {
  detail::get_bytes<1>(ctx, g, {dst, src, bytes, Until::kLocal}, pe, Operation::kGet);
  end_together(g);
}
template <class Group>
CHIME_DEVICE void getmem_nbi(const Context& ctx, Group g, void* dst, const void* src,
                             std::size_t bytes, int pe) {
  detail::get_bytes<1>(ctx, g, {dst, src, bytes, Until::kPosted}, pe, Operation::kGetNbi);
}

namespace detail {

template <class Copy, class T>
CHIME_DEVICE void do_p(const Context& ctx, T* dst, T value, int pe) {
  const Target target = target_word(dst);
  if (!go(ctx, Traffic::kData, target, pe,
          [&](const auto& path) { path.p(word_ptr(dst), to_word(value)); })) {
    fail_route(ctx, target, pe, Operation::kP);
  }
}

template <class Copy, class T>
CHIME_DEVICE T do_g(const Context& ctx, const T* src, int pe) {
  const Target target = target_word(src);
  Word<sizeof(T)> word = {};
  if (!go(ctx, Traffic::kData, target, pe,
          [&](const auto& path) { word = path.g(word_ptr(src)); })) {
    fail_route(ctx, target, pe, Operation::kG);
  }
  return from_word<T>(word);
}

}  // namespace detail

// One element of 1, 2, 4, 8 or 16 bytes by value: one store, one load. Aligned to its size.
template <class T>
CHIME_DEVICE void p(const Context& ctx, T* dst, std::type_identity_t<T> value, int pe) {
  if (detail::may_note(ctx)) {
    return detail::note(
        ctx, Thread{}, {Operation::kP, pe, dst, sizeof(T), detail::shown(to_word(value))},
        [](const Context& ctx, Thread, T* dst, T value, int pe) {
          detail::do_p<detail::Noting>(ctx, dst, value, pe);
        },
        dst, value, pe);
  }
  detail::do_p<detail::Quick>(ctx, dst, value, pe);
}

// Returns zero bytes if `pe` cannot be reached and CHIME_ON_ERROR=return.
template <class T>
CHIME_DEVICE T g(const Context& ctx, const T* src, int pe) {
  if (detail::may_note(ctx)) {
    return detail::note(
        ctx, Thread{}, {Operation::kG, pe, src, sizeof(T)},
        [](const Context& ctx, Thread, const T* src, int pe) {
          return detail::do_g<detail::Noting>(ctx, src, pe);
        },
        src, pe);
  }
  return detail::do_g<detail::Quick>(ctx, src, pe);
}

// `n` elements as in p and g; consecutive ones lie `dst_stride` apart in dst and `src_stride` in
// src, both at least 1. Blocking, like put and get. Each member moves its own.
template <class Group, class T>
CHIME_DEVICE void iput(const Context& ctx, Group g, T* dst, const T* src, std::ptrdiff_t dst_stride,
                       std::ptrdiff_t src_stride, std::size_t n, int pe) {
  if (n == 0) return static_cast<void>(check_pe(ctx, pe, Operation::kIput));
  if (!is_memory(ctx, src, sizeof(T), Operation::kIput)) return;
  if (!check_here(ctx, src, detail::strided_bytes<T>(src_stride, n), Operation::kIput)) return;
  using W = detail::Word<sizeof(T)>;
  const Target target = {dst, detail::strided_bytes<T>(dst_stride, n), sizeof(T)};
  const exec::Traced traced =
      detail::trace(ctx, g, {Operation::kIput, pe, dst, detail::bytes_of<T>(n)});
  const bool is_sent = go(ctx, Traffic::kData, target, pe, [&](const auto& path) {
    detail::name_source(ctx, g, src, sizeof(T), static_cast<std::size_t>(src_stride) * sizeof(T),
                        n);
    for (std::size_t i = g.rank(); i < n; i += g.size()) {
      const auto k = static_cast<std::ptrdiff_t>(i);
      path.p(word_ptr(dst + k * dst_stride), detail::load_element<W>(src + k * src_stride));
    }
  });
  traced.end();
  if (!is_sent) return fail_route(ctx, target, pe, Operation::kIput);
  end_together(g);
}

template <class Group, class T>
CHIME_DEVICE void iget(const Context& ctx, Group g, T* dst, const T* src, std::ptrdiff_t dst_stride,
                       std::ptrdiff_t src_stride, std::size_t n, int pe) {
  if (n == 0) return static_cast<void>(check_pe(ctx, pe, Operation::kIget));
  if (!is_memory(ctx, dst, sizeof(T), Operation::kIget)) return;
  if (!check_here(ctx, dst, detail::strided_bytes<T>(dst_stride, n), Operation::kIget)) return;
  const Target target = {src, detail::strided_bytes<T>(src_stride, n), sizeof(T)};
  const exec::Traced traced =
      detail::trace(ctx, g, {Operation::kIget, pe, src, detail::bytes_of<T>(n)});
  const bool is_fetched = go(ctx, Traffic::kData, target, pe, [&](const auto& path) {
    for (std::size_t i = g.rank(); i < n; i += g.size()) {
      const auto k = static_cast<std::ptrdiff_t>(i);
      detail::store_element(dst + k * dst_stride, path.g(word_ptr(src + k * src_stride)));
    }
  });
  traced.end();
  if (!is_fetched) return fail_route(ctx, target, pe, Operation::kIget);
  end_together(g);
}

// The address of `pe`'s copy of `dst` in this PE's address space, for plain loads and stores. Null
// if it is not mapped here or `dst` is not a symmetric address.
template <class T>
CHIME_DEVICE T* ptr(const Context& ctx, T* dst, int pe) {
  need_filled(ctx);
  const std::uint64_t offset = heap_offset(ctx, dst);
  if (offset >= ctx.pe.heap_bytes || !pe_exists(ctx, pe)) return nullptr;
  std::byte* const heap = mapped_heap(ctx, Traffic::kData, pe);
  return heap == nullptr ? nullptr : reinterpret_cast<T*>(heap + offset);
}

CHIME_DEVICE int my_pe(const Context& ctx) { return filled(ctx).pe.my_pe; }
CHIME_DEVICE int n_pes(const Context& ctx) { return filled(ctx).pe.n_pes; }
CHIME_DEVICE int node_my_pe(const Context& ctx) { return filled(ctx).pe.node_my_pe; }
CHIME_DEVICE int node_n_pes(const Context& ctx) { return filled(ctx).pe.node_n_pes; }

}  // namespace chime

#endif  // CHIME_DEVICE_RMA_CUH_
