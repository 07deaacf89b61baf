// put, get, p, g and their strided forms.
//
// Every member of the group calls with the same arguments. The blocking forms end with a sync of
// the group, so that any member may reuse the source (put) or read the destination (get). Source
// memory that the group's threads wrote needs a sync of the group before the call.
#ifndef CHIME_DEVICE_RMA_CUH_
#define CHIME_DEVICE_RMA_CUH_

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "chime/abi/state.h"
#include "chime/device/copy.cuh"
#include "chime/device/exec.cuh"
#include "chime/device/group.cuh"
#include "chime/device/path/p2p.cuh"
#include "chime/device/peer.cuh"
#include "chime/device/unmapped.cuh"
#include "chime/types.h"

namespace chime {
namespace detail {

// The alignment that typed pointers and counts promise to the copy.
template <class T>
inline constexpr std::size_t kLeastWord = alignof(T) < kWidest ? alignof(T) : kWidest;

// The size of `n` elements. One that size_t cannot hold becomes its largest value, which no heap
// has and CHIME_CHECK=1 refuses.
template <class T>
CHIME_DEVICE std::size_t bytes_of(std::size_t n) {
  return CHIME_BYTES(n, sizeof(T));
}

// False if it failed and CHIME_ON_ERROR=return: nothing was put.
template <std::size_t kLeast, class Group>
CHIME_DEVICE bool put_bytes(const Context& ctx, Group g, void* dst, const void* src,
                            std::size_t bytes, int pe, Operation operation) {
  if (bytes == 0) return check_pe(ctx, pe, operation);
  if (void* mapped = peer_ptr(ctx, static_cast<std::byte*>(dst), pe, bytes, kLeast)) {
    copy_to_peer<kLeast>(g, mapped, src, bytes);
    return true;
  }
  return unmapped::put<kLeast>(ctx, g, dst, src, bytes, pe, operation);
}

template <std::size_t kLeast, class Group>
CHIME_DEVICE void get_bytes(const Context& ctx, Group g, void* dst, const void* src,
                            std::size_t bytes, int pe, Operation operation) {
  if (bytes == 0) return static_cast<void>(check_pe(ctx, pe, operation));
  if (const void* mapped = peer_ptr(ctx, static_cast<const std::byte*>(src), pe, bytes, kLeast)) {
    return copy_from_peer<kLeast>(g, dst, mapped, bytes);
  }
  unmapped::get(ctx, g, dst, src, bytes, pe, {operation, kLeast});
}

// Bytes from the first to the end of the last of `count` elements that lie `stride` apart; the
// largest size_t as in bytes_of, if the job is checked: it takes a division.
template <class T>
CHIME_DEVICE std::size_t strided_bytes(const Context& ctx, std::ptrdiff_t stride,
                                       std::size_t count) {
  constexpr std::size_t kMost = ~std::size_t{0} / sizeof(T);
  const std::size_t steps = count - 1;
  if (ctx.checked != 0 && (stride < 1 || steps > (kMost - 1) / static_cast<std::size_t>(stride))) {
    return ~std::size_t{0};
  }
  return steps * static_cast<std::size_t>(stride) * sizeof(T) + sizeof(T);
}

}  // namespace detail

// put_nbi: the source may be reused after quiet. It may be read before the call returns, by each
// member its own part; on a mapped peer all of it is. Where a NIC carries it, the leader posts for
// the group, and it is the leader whose quiet completes it, or a member's after a sync. Complete at
// `pe` after quiet; ordered by fence.
template <class Group, class T>
CHIME_DEVICE void put_nbi(const Context& ctx, Group g, T* dst, const T* src, std::size_t n,
                          int pe) {
  detail::put_bytes<detail::kLeastWord<T>>(ctx, g, dst, src, detail::bytes_of<T>(n), pe,
                                           Operation::kPutNbi);
}

// put: the source may be reused when the call returns. Complete at `pe` after quiet.
template <class Group, class T>
CHIME_DEVICE void put(const Context& ctx, Group g, T* dst, const T* src, std::size_t n, int pe) {
  detail::put_bytes<detail::kLeastWord<T>>(ctx, g, dst, src, detail::bytes_of<T>(n), pe,
                                           Operation::kPut);
  g.sync();
}

// get_nbi: the destination holds the data after quiet.
template <class Group, class T>
CHIME_DEVICE void get_nbi(const Context& ctx, Group g, T* dst, const T* src, std::size_t n,
                          int pe) {
  detail::get_bytes<detail::kLeastWord<T>>(ctx, g, dst, src, detail::bytes_of<T>(n), pe,
                                           Operation::kGetNbi);
}

// get: the destination holds the data, for every member, when the call returns.
template <class Group, class T>
CHIME_DEVICE void get(const Context& ctx, Group g, T* dst, const T* src, std::size_t n, int pe) {
  detail::get_bytes<detail::kLeastWord<T>>(ctx, g, dst, src, detail::bytes_of<T>(n), pe,
                                           Operation::kGet);
  g.sync();
}

// The same for bytes at any alignment.
template <class Group>
CHIME_DEVICE void putmem(const Context& ctx, Group g, void* dst, const void* src, std::size_t bytes,
                         int pe) {
  detail::put_bytes<1>(ctx, g, dst, src, bytes, pe, Operation::kPut);
  g.sync();
}
template <class Group>
CHIME_DEVICE void putmem_nbi(const Context& ctx, Group g, void* dst, const void* src,
                             std::size_t bytes, int pe) {
  detail::put_bytes<1>(ctx, g, dst, src, bytes, pe, Operation::kPutNbi);
}
template <class Group>
CHIME_DEVICE void getmem(const Context& ctx, Group g, void* dst, const void* src, std::size_t bytes,
                         int pe) {
  detail::get_bytes<1>(ctx, g, dst, src, bytes, pe, Operation::kGet);
  g.sync();
}
template <class Group>
CHIME_DEVICE void getmem_nbi(const Context& ctx, Group g, void* dst, const void* src,
                             std::size_t bytes, int pe) {
  detail::get_bytes<1>(ctx, g, dst, src, bytes, pe, Operation::kGetNbi);
}

// One element of 1, 2, 4, 8 or 16 bytes by value: one store, one load. Aligned to its size.
template <class T>
CHIME_DEVICE void p(const Context& ctx, T* dst, std::type_identity_t<T> value, int pe) {
  if (T* mapped = peer_word_ptr(ctx, dst, pe)) return p2p::store(mapped, value);
  unmapped::p(ctx, p2p::word_ptr(dst), p2p::to_word(value), pe);
}

// Zero bytes if `pe` cannot be reached and CHIME_ON_ERROR=return.
template <class T>
CHIME_DEVICE T g(const Context& ctx, const T* src, int pe) {
  if (const T* mapped = peer_word_ptr(ctx, src, pe)) return p2p::load(mapped);
  return p2p::from_word<T>(unmapped::g(ctx, p2p::word_ptr(src), pe));
}

// `n` elements like those of p and g; consecutive ones lie `dst_stride` apart in dst and
// `src_stride` in src, both at least 1. Blocking, like put and get.
template <class Group, class T>
CHIME_DEVICE void iput(const Context& ctx, Group g, T* dst, const T* src, std::ptrdiff_t dst_stride,
                       std::ptrdiff_t src_stride, std::size_t n, int pe) {
  if (n == 0) return static_cast<void>(check_pe(ctx, pe, Operation::kIput));
  const std::size_t extent = detail::strided_bytes<T>(ctx, dst_stride, n);
  if (T* mapped = peer_ptr(ctx, dst, pe, extent, sizeof(T))) {
    for (std::size_t i = g.rank(); i < n; i += g.size()) {
      p2p::store(mapped + i * dst_stride, src[i * src_stride]);
    }
    return g.sync();
  }
  unmapped::iput<detail::Word<sizeof(T)>>(ctx, g, dst, src, {dst_stride, src_stride}, n, extent,
                                          pe);
}

template <class Group, class T>
CHIME_DEVICE void iget(const Context& ctx, Group g, T* dst, const T* src, std::ptrdiff_t dst_stride,
                       std::ptrdiff_t src_stride, std::size_t n, int pe) {
  if (n == 0) return static_cast<void>(check_pe(ctx, pe, Operation::kIget));
  const std::size_t extent = detail::strided_bytes<T>(ctx, src_stride, n);
  if (const T* mapped = peer_ptr(ctx, src, pe, extent, sizeof(T))) {
    for (std::size_t i = g.rank(); i < n; i += g.size()) {
      dst[i * dst_stride] = p2p::load(mapped + i * src_stride);
    }
    return g.sync();
  }
  unmapped::iget<detail::Word<sizeof(T)>>(ctx, g, dst, src, {dst_stride, src_stride}, n, extent,
                                          pe);
}

// The address of `pe`'s copy of `dst` in this PE's address space, for plain loads and stores. Null
// if it is not mapped here or `dst` is not a symmetric address.
template <class T>
CHIME_DEVICE T* ptr(const Context& ctx, T* dst, int pe) {
  return peer_ptr(ctx, dst, pe);
}

CHIME_DEVICE int my_pe(const Context& ctx) { return ctx.my_pe; }
CHIME_DEVICE int n_pes(const Context& ctx) { return ctx.n_pes; }
CHIME_DEVICE int node_my_pe(const Context& ctx) { return ctx.node_my_pe; }
CHIME_DEVICE int node_n_pes(const Context& ctx) { return ctx.node_n_pes; }

}  // namespace chime

#endif  // CHIME_DEVICE_RMA_CUH_
