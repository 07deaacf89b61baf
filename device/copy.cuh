// Copies between private memory and a mapped peer, by a whole group, in the widest words that the
// addresses allow.
//
// The word is the largest power of two, up to 16 bytes, for which both addresses are equally far
// from alignment. The bytes before the first aligned word and after the last one move in halves of
// it, each aligned to itself. So one store moves an element that is aligned on both sides, and a
// reader never sees half of it.
//
// Only exec's stores write peers' memory, and here only exec's loads read it: these have system
// scope on a GPU and can be delayed on the CPU (weak-memory mode). Reductions read peers' sources
// by plain loads (coll/combine.cuh), which arrivals order. Private memory is plain.
#ifndef CHIME_DEVICE_COPY_CUH_
#define CHIME_DEVICE_COPY_CUH_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "chime/device/exec/exec.cuh"
#include "chime/device/group.cuh"
#include "chime/device/order.cuh"

namespace chime {
namespace detail {

template <std::size_t kBytes>
struct WordOf;
template <>
struct WordOf<1> : std::type_identity<std::uint8_t> {};
template <>
struct WordOf<2> : std::type_identity<std::uint16_t> {};
template <>
struct WordOf<4> : std::type_identity<std::uint32_t> {};
template <>
struct WordOf<8> : std::type_identity<std::uint64_t> {};
template <>
struct WordOf<16> : std::type_identity<exec::Vec16> {};
template <std::size_t kBytes>
using Word = typename WordOf<kBytes>::type;

inline constexpr std::size_t kWidest = 16;

// Words in flight per thread before the first store: hides the latency of the loads.
inline constexpr std::size_t kBatch = 4;

// Below this a call of memcpy costs more than the words.
inline constexpr std::size_t kBulkBytes = 64;

struct Private {
  template <class W>
  CHIME_DEVICE static W load(const std::byte* p) {
    W word;
    memcpy(&word, __builtin_assume_aligned(p, sizeof(W)), sizeof(W));
    return word;
  }
  template <class W>
  CHIME_DEVICE static void store(std::byte* p, W word) {
    memcpy(__builtin_assume_aligned(p, sizeof(W)), &word, sizeof(W));
  }
};

struct Peer {
  template <class W>
  CHIME_DEVICE static W load(const std::byte* p) {
    if constexpr (sizeof(W) == kWidest) {
      return exec::ld16(p);
    } else {
      return order::load_data(reinterpret_cast<const W*>(p));
    }
  }
  template <class W>
  CHIME_DEVICE static void store(std::byte* p, W word) {
    if constexpr (sizeof(W) == kWidest) {
      exec::st16(p, word);
    } else {
      order::store_data(reinterpret_cast<W*>(p), word);
    }
  }
};

// A direction of copying: which memory is loaded from, and which is stored to.
template <class From, class To>
struct Direction {
  template <std::size_t kBytes>
  CHIME_DEVICE static void one(std::byte* dst, const std::byte* src) {
    To::store(dst, From::template load<Word<kBytes>>(src));
  }

  // Moves `bytes` (less than kWidth), smallest words first: up to an aligned address.
  template <std::size_t kWidth, std::size_t kLeast>
  CHIME_DEVICE static void head(std::byte* dst, const std::byte* src, std::size_t bytes) {
    std::size_t done = 0;
    if constexpr (kLeast <= 1 && kWidth > 1) {
      if (bytes & 1) one<1>(dst, src), done = 1;
    }
    if constexpr (kLeast <= 2 && kWidth > 2) {
      if (bytes & 2) one<2>(dst + done, src + done), done += 2;
    }
    if constexpr (kLeast <= 4 && kWidth > 4) {
      if (bytes & 4) one<4>(dst + done, src + done), done += 4;
    }
    if constexpr (kLeast <= 8 && kWidth > 8) {
      if (bytes & 8) one<8>(dst + done, src + done);
    }
  }

  // Moves `bytes` (less than kWidth) from an aligned address, largest words first.
  template <std::size_t kWidth, std::size_t kLeast>
  CHIME_DEVICE static void tail(std::byte* dst, const std::byte* src, std::size_t bytes) {
    std::size_t done = 0;
    if constexpr (kLeast <= 8 && kWidth > 8) {
      if (bytes & 8) one<8>(dst, src), done = 8;
    }
    if constexpr (kLeast <= 4 && kWidth > 4) {
      if (bytes & 4) one<4>(dst + done, src + done), done += 4;
    }
    if constexpr (kLeast <= 2 && kWidth > 2) {
      if (bytes & 2) one<2>(dst + done, src + done), done += 2;
    }
    if constexpr (kLeast <= 1 && kWidth > 1) {
      if (bytes & 1) one<1>(dst + done, src + done);
    }
  }

  // Member r of s moves words r, r + s, ...: neighbours touch neighbouring words.
  template <std::size_t kWidth, class Group>
  CHIME_DEVICE static void words(Group g, std::byte* dst, const std::byte* src, std::size_t count) {
    using W = Word<kWidth>;
    const std::size_t stride = g.size();
    std::size_t i = g.rank();
    for (; i + (kBatch - 1) * stride < count; i += kBatch * stride) {
      W batch[kBatch];
      for (std::size_t k = 0; k < kBatch; ++k) {
        batch[k] = From::template load<W>(src + (i + k * stride) * kWidth);
      }
      for (std::size_t k = 0; k < kBatch; ++k) To::store(dst + (i + k * stride) * kWidth, batch[k]);
    }
    for (; i < count; i += stride) one<kWidth>(dst + i * kWidth, src + i * kWidth);
  }

  // The leader moves the head, the last member the tail. Needs bytes >= kWidth, and both addresses
  // equally far from alignment.
  template <std::size_t kWidth, std::size_t kLeast, class Group>
  CHIME_DEVICE static void aligned(Group g, std::byte* dst, const std::byte* src,
                                   std::size_t bytes) {
    const std::size_t before = (0 - reinterpret_cast<std::uintptr_t>(dst)) % kWidth;
    const std::size_t count = (bytes - before) / kWidth;
    const std::size_t done = before + count * kWidth;
    if (g.is_leader()) head<kWidth, kLeast>(dst, src, before);
    words<kWidth>(g, dst + before, src + before, count);
    if (g.rank() == g.size() - 1) tail<kWidth, kLeast>(dst + done, src + done, bytes - done);
  }

  // Contiguous slices by memcpy, where the device is a CPU: see exec::memcpy_is_relaxed.
  template <class Group>
  CHIME_DEVICE static void slices(Group g, std::byte* dst, const std::byte* src,
                                  std::size_t bytes) {
    constexpr std::size_t kLine = 64;
    const std::size_t slice = (bytes / g.size() + kLine) / kLine * kLine;
    const std::size_t begin = g.rank() * slice;
    if (begin >= bytes) return;
    const std::size_t rest = bytes - begin;
    memcpy(dst + begin, src + begin, rest < slice ? rest : slice);
  }

  template <std::size_t kLeast, class Group>
  CHIME_DEVICE static void copy(Group g, std::byte* dst, const std::byte* src, std::size_t bytes) {
    if (bytes >= kBulkBytes && exec::memcpy_is_relaxed()) return slices(g, dst, src, bytes);
    const std::uintptr_t apart =
        reinterpret_cast<std::uintptr_t>(dst) ^ reinterpret_cast<std::uintptr_t>(src);
    const auto fits = [&](std::size_t width) { return apart % width == 0 && bytes >= width; };
    if (fits(16)) return aligned<16, kLeast>(g, dst, src, bytes);
    if constexpr (kLeast <= 8) {
      if (fits(8)) return aligned<8, kLeast>(g, dst, src, bytes);
    }
    if constexpr (kLeast <= 4) {
      if (fits(4)) return aligned<4, kLeast>(g, dst, src, bytes);
    }
    if constexpr (kLeast <= 2) {
      if (fits(2)) return aligned<2, kLeast>(g, dst, src, bytes);
    }
    if constexpr (kLeast <= 1) {
      if (bytes != 0) aligned<1, kLeast>(g, dst, src, bytes);
    }
  }
};

}  // namespace detail

// Copies `bytes` from private memory to a mapped peer. kLeast: an alignment that both addresses and
// `bytes` are known to have. Does not say when the peer sees the data: see order.cuh.
template <std::size_t kLeast = 1, class Group>
CHIME_DEVICE void copy_to_peer(Group g, void* peer, const void* src, std::size_t bytes) {
  detail::Direction<detail::Private, detail::Peer>::copy<kLeast>(
      g, static_cast<std::byte*>(peer), static_cast<const std::byte*>(src), bytes);
}

// Copies `bytes` from a mapped peer to private memory. Each member may read what it moved itself;
// the rest after a sync of the group.
template <std::size_t kLeast = 1, class Group>
CHIME_DEVICE void copy_from_peer(Group g, void* dst, const void* peer, std::size_t bytes) {
  detail::Direction<detail::Peer, detail::Private>::copy<kLeast>(
      g, static_cast<std::byte*>(dst), static_cast<const std::byte*>(peer), bytes);
}

}  // namespace chime

#endif  // CHIME_DEVICE_COPY_CUH_
