// Fcollects and reductions by multimem: one instruction stores to all members' heaps,
// or loads one value from all, combined by the switch between the GPUs. Not yet run on hardware:
// the user has to ask for it (host/teams/algorithms.hpp).
//
// Memory. The host has bound the heaps of all PEs of a node to a multicast object, and mapped it
// (host/teams/multicast.hpp). What lies at an offset of each heap lies at the same offset from
// Team::multicast_heap. Teams that have exactly these PEs have that address; others go as ever.
// Arrivals stay ordinary words, each in the memory of the GPU that awaits it.
//
// Order. The instructions are relaxed accesses at system scope, so the arrivals of a round order
// them as they order ordinary data: stores come before the arrival that the leader publishes
// (send_arrival), loads behind those that it has observed (await_message). But PTX counts accesses
// by two addresses of the same memory as those of two proxies, which causality orders only if a
// proxy fence lies between them. So each thread makes one before its multicast accesses, behind
// what it has observed of the members' ordinary ones; and one behind its multicast stores, before
// the group meets and its leader publishes.
//
// Results are those of other algorithms to the bit: sums, least and largest values and bits of
// integers do not depend on the order in which they are combined. Floating point does, and goes as
// ever.
//
// A member that may not take the instructions for its addresses, or whose code has none, stores to
// each other member, which cannot tell the difference. Before a reduction all members say that they
// can load (sources.cuh).
#ifndef CHIME_DEVICE_COLL_MULTIMEM_CUH_
#define CHIME_DEVICE_COLL_MULTIMEM_CUH_

#include <cstddef>
#include <cstdint>

#include "chime/abi/context.h"
#include "chime/device/coll/combine.cuh"
#include "chime/device/coll/exchange.cuh"
#include "chime/device/coll/message.cuh"
#include "chime/device/copy.cuh"
#include "chime/device/exec/exec.cuh"
#include "chime/device/symmetric.cuh"
#include "chime/host_ops.h"

namespace chime::detail {

// `call`: a bit of Team::by_multimem.
CHIME_DEVICE bool goes_by_multimem(const Context& ctx, chime_team_t team, std::uint32_t call) {
  return (team_of(ctx, team).by_multimem & call) != 0;
}

template <class T>
CHIME_DEVICE T* at_all(const Context& ctx, Meeting meeting, T* symmetric) {
  return at_peer(ctx, team_of(ctx, meeting.handle).multicast_heap, symmetric);
}

// ---- To all ------------------------------------------------------------------------------------

// The least that an instruction stores.
inline constexpr std::size_t kLeastOfMultimem = 4;

// Memory that copies store to (copy.cuh).
struct Multicast {
  template <class W>
  CHIME_DEVICE static void store(std::byte* p, W word) {
    if constexpr (sizeof(W) == kWidest) {
      exec::multimem_st16(p, word);
    } else {
      exec::multimem_st(reinterpret_cast<W*>(p), word);
    }
  }
};

// `dst`: a multicast address. The source, `dst` and the bytes are multiples of kLeastOfMultimem.
template <class Group>
CHIME_DEVICE void copy_to_all(Group g, std::byte* dst, const void* src, std::size_t bytes) {
  exec::multimem_fence();
  Direction<Private, Multicast>::copy<kLeastOfMultimem>(g, dst, static_cast<const std::byte*>(src),
                                                        bytes);
  exec::multimem_fence();
}

// Out of line: inside the loop below it would cost the collectives that call it registers.
template <class Group>
CHIME_DEVICE_OUT_OF_LINE void copy_to_one(Group g, std::byte* dst, const std::byte* src,
                                          std::size_t bytes) {
  copy_to_peer(g, dst, src, bytes);
}

// By ordinary stores, where addresses or the code allow no other. All members are mapped: one that
// is not any more is dead, and the round says so.
template <class Group>
CHIME_DEVICE_OUT_OF_LINE void copy_to_each(const Context& ctx, Group g, Meeting meeting,
                                           std::byte* dst, const std::byte* src,
                                           std::size_t bytes) {
  for (unsigned rank = 0; rank < size_of(ctx, meeting); ++rank) {
    std::byte* const heap = heap_of_member(ctx, meeting, rank);
    const bool is_there = rank == rank_of(ctx, meeting) && dst == src;
    if (heap != nullptr && !is_there) copy_to_one(g, at_peer(ctx, heap, dst), src, bytes);
  }
}

// `dst` of all members, this one too, becomes the source. The next round's arrivals tell of it.
template <class Group>
CHIME_DEVICE_OUT_OF_LINE void store_to_all(const Context& ctx, Group g, Meeting meeting, void* dst,
                                           const void* src, std::size_t bytes) {
  const auto address = [](const void* p) { return reinterpret_cast<std::uintptr_t>(p); };
  auto* const to = static_cast<std::byte*>(dst);
  if constexpr (exec::has_multimem()) {
    if ((address(dst) | address(src) | bytes) % kLeastOfMultimem == 0)
      return copy_to_all(g, at_all(ctx, meeting, to), src, bytes);
  }
  copy_to_each(ctx, g, meeting, to, static_cast<const std::byte*>(src), bytes);
}

// One round, in which all hear from all.
template <class Group>
CHIME_DEVICE_OUT_OF_LINE bool gather_by_multimem(const Context& ctx, Group g, Meeting meeting,
                                                 void* dst, const void* src, std::size_t bytes) {
  std::byte* const mine = static_cast<std::byte*>(dst) + rank_of(ctx, meeting) * bytes;
  store_to_all(ctx, g, meeting, mine, src, bytes);
  return hear_all(ctx, g, meeting);
}

// ---- From all ----------------------------------------------------------------------------------

// What one instruction combines: `number` is number_of_combine()'s.
CHIME_DEVICE constexpr bool multimem_combines(unsigned number) {
  const unsigned op = number >> 16, element = number >> 8 & 0xff, bytes = number & 0xff;
  return (element == CHIME_ELEMENT_INT || element == CHIME_ELEMENT_UINT) &&
         (bytes == 4 || bytes == 8) && op != CHIME_REDUCE_PROD && op != CHIME_REDUCE_MAXLOC;
}

// dst[i] of all members = their src[i], combined.
template <exec::Multimem kOp, class T, class Group>
CHIME_DEVICE void combine_at_all(Group g, T* dst, const T* src, std::size_t count) {
  const std::size_t stride = g.size();
  std::size_t i = g.rank();
  for (; i + (kBatch - 1) * stride < count; i += kBatch * stride) {
    T batch[kBatch];
    for (std::size_t k = 0; k < kBatch; ++k)
      batch[k] = exec::multimem_ld_reduce<kOp>(src + i + k * stride);
    for (std::size_t k = 0; k < kBatch; ++k) exec::multimem_st(dst + i + k * stride, batch[k]);
  }
  for (; i < count; i += stride) exec::multimem_st(dst + i, exec::multimem_ld_reduce<kOp>(src + i));
}

// The same of integers that `number` says.
template <class Signed, class Unsigned, class Group>
CHIME_DEVICE void combine_integers_at_all(Group g, unsigned number, std::byte* dst,
                                          const std::byte* src, std::size_t bytes) {
  const bool is_signed = (number >> 8 & 0xff) == CHIME_ELEMENT_INT;
  const auto by = [&]<exec::Multimem kOp, class T>() {
    combine_at_all<kOp>(g, reinterpret_cast<T*>(dst), reinterpret_cast<const T*>(src),
                        bytes / sizeof(T));
  };
  using exec::Multimem;
  switch (number >> 16) {
    case CHIME_REDUCE_SUM:
      return by.template operator()<Multimem::kAdd, Unsigned>();
    case CHIME_REDUCE_MIN:
      return is_signed ? by.template operator()<Multimem::kMin, Signed>()
                       : by.template operator()<Multimem::kMin, Unsigned>();
    case CHIME_REDUCE_MAX:
      return is_signed ? by.template operator()<Multimem::kMax, Signed>()
                       : by.template operator()<Multimem::kMax, Unsigned>();
    case CHIME_REDUCE_AND:
      return by.template operator()<Multimem::kAnd, Unsigned>();
    case CHIME_REDUCE_OR:
      return by.template operator()<Multimem::kOr, Unsigned>();
    default:
      return by.template operator()<Multimem::kXor, Unsigned>();
  }
}

// The same by a number: that of number_of_combine().
template <class Group>
CHIME_DEVICE void combine_block_at_all(Group g, unsigned number, std::byte* dst,
                                       const std::byte* src, std::size_t bytes) {
  exec::multimem_fence();
  if ((number & 0xff) == sizeof(std::uint32_t)) {
    combine_integers_at_all<std::int32_t, std::uint32_t>(g, number, dst, src, bytes);
  } else {
    combine_integers_at_all<std::int64_t, std::uint64_t>(g, number, dst, src, bytes);
  }
  exec::multimem_fence();
}

// One block for each member, which stores what it has combined to all. When a member has heard from
// all, they have stored theirs, and read its source. REQUIRES: Sharing::kAlike.
template <class Group>
CHIME_DEVICE_OUT_OF_LINE bool reduce_by_multimem(const Context& ctx, Group g, Meeting meeting,
                                                 unsigned number, std::byte* dst,
                                                 const std::byte* src, std::size_t n) {
  if constexpr (exec::has_multimem()) {
    const Pieces blocks = blocks_of(ctx, meeting, src, n);
    const unsigned me = rank_of(ctx, meeting);
    const std::size_t begin = me * blocks.each;
    combine_block_at_all(g, number, at_all(ctx, meeting, dst) + begin,
                         at_all(ctx, meeting, src) + begin, blocks.bytes(me));
  }
  return hear_all(ctx, g, meeting);
}

// Whether this member can take part in it.
CHIME_DEVICE bool can_reduce_by_multimem(std::size_t alignment, const std::byte* dst,
                                         const std::byte* src) {
  return exec::has_multimem() && is_aligned(dst, alignment) && is_aligned(src, alignment);
}

}  // namespace chime::detail

#endif  // CHIME_DEVICE_COLL_MULTIMEM_CUH_
