// Work requests in a send queue: which segments each takes (chime/abi/README.md has the table).
#ifndef CHIME_DEVICE_PATH_NIC_REQUEST_CUH_
#define CHIME_DEVICE_PATH_NIC_REQUEST_CUH_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "chime/abi/nic.h"
#include "chime/abi/wqe.h"
#include "chime/device/exec.cuh"
#include "chime/device/path/nic/memory.cuh"
#include "chime/device/path/nic/queue.cuh"

namespace chime::nic {

// Where a request lies and how its completion is told.
struct Place {
  const NicQueue& queue;
  std::uint64_t index;  // of its first WQEBB
  std::uint8_t flags;   // byte 11 of the control segment

  // One 16-byte store. At the ring's end a request goes on at its start.
  CHIME_DEVICE void put(unsigned segment, const abi::WqeSegment& value) const {
    const std::uint64_t ring_bytes = std::uint64_t{queue.depth} * abi::kWqebbBytes;
    const std::uint64_t at = index * abi::kWqebbBytes + segment * abi::kSegmentBytes;
    exec::st16(queue.sq + (at & (ring_bytes - 1)),
               {{value.word[0], value.word[1], value.word[2], value.word[3]}});
  }
  CHIME_DEVICE void put_control(abi::WqeOpcode opcode, unsigned segments,
                                abi::AtomicSize size = abi::AtomicSize::kPlain) const {
    put(0, abi::control_segment({.opcode = opcode,
                                 .segments = static_cast<std::uint8_t>(segments),
                                 .flags = flags,
                                 .size = size},
                                index, queue.qpn_be));
  }
};

// A write of, or a read into, memory that the NIC knows.
CHIME_DEVICE void put_transfer(const Place& place, abi::WqeOpcode opcode, const Remote& remote,
                               const Local& local, std::uint32_t bytes) {
  place.put(1, abi::remote_segment(remote.address, remote.rkey_be));
  place.put(2, abi::data_segment(bytes, local.lkey_be, local.address));
  place.put_control(opcode, 3);
}

// A write whose data is in the request.
CHIME_DEVICE void put_inline_write(const Place& place, const Remote& remote, std::uint32_t bytes,
                                   const abi::InlineData& data) {
  const bool is_long = bytes > abi::kInlineInOneSegment;
  place.put(1, abi::remote_segment(remote.address, remote.rkey_be));
  place.put(2, abi::inline_segment(bytes, data));
  if (is_long) place.put(3, abi::inline_rest_segment(data));
  place.put_control(abi::WqeOpcode::kWrite, is_long ? 4 : 3);
}

// Reads what was written here, after all reads before: then these have arrived.
CHIME_DEVICE void put_dump(const Place& place, const Local& local) {
  place.put(1, abi::data_segment(1, local.lkey_be, local.address));
  const Place fenced = {place.queue, place.index,
                        static_cast<std::uint8_t>(place.flags | abi::kFenceReads)};
  fenced.put_control(abi::WqeOpcode::kDump, 2);
}

// ---- Atomics ------------------------------------------------------------------------------------
// Each says its opcode, and writes its segments after the remote one.

struct FetchAdd8 {
  using Word = std::uint64_t;
  static constexpr abi::WqeOpcode kOpcode = abi::WqeOpcode::kFetchAdd;
  static constexpr abi::AtomicSize kSize = abi::AtomicSize::kPlain;
  static constexpr unsigned kSegments = 1;
  std::uint64_t add;

  CHIME_DEVICE void put(const Place& place) const { place.put(2, abi::fetch_add_segment(add)); }
};

struct CompareSwap8 {
  using Word = std::uint64_t;
  static constexpr abi::WqeOpcode kOpcode = abi::WqeOpcode::kCompareSwap;
  static constexpr abi::AtomicSize kSize = abi::AtomicSize::kPlain;
  static constexpr unsigned kSegments = 1;
  std::uint64_t swap, compare;

  CHIME_DEVICE void put(const Place& place) const {
    place.put(2, abi::compare_swap_segment(swap, compare));
  }
};

struct MaskedAdd4 {
  using Word = std::uint32_t;
  static constexpr abi::WqeOpcode kOpcode = abi::WqeOpcode::kMaskedFetchAdd;
  static constexpr abi::AtomicSize kSize = abi::AtomicSize::k4;
  static constexpr unsigned kSegments = 1;
  std::uint32_t add, boundary;

  CHIME_DEVICE void put(const Place& place) const {
    place.put(2, abi::masked_add4_segment(add, boundary));
  }
};

struct MaskedAdd8 {
  using Word = std::uint64_t;
  static constexpr abi::WqeOpcode kOpcode = abi::WqeOpcode::kMaskedFetchAdd;
  static constexpr abi::AtomicSize kSize = abi::AtomicSize::k8;
  static constexpr unsigned kSegments = 1;
  std::uint64_t add, boundary;

  CHIME_DEVICE void put(const Place& place) const {
    place.put(2, abi::masked_add8_segment(add, boundary));
  }
};

struct MaskedSwap4 {
  using Word = std::uint32_t;
  static constexpr abi::WqeOpcode kOpcode = abi::WqeOpcode::kMaskedCompareSwap;
  static constexpr abi::AtomicSize kSize = abi::AtomicSize::k4;
  static constexpr unsigned kSegments = 1;
  abi::MaskedSwap<std::uint32_t> masked;

  CHIME_DEVICE void put(const Place& place) const {
    place.put(2, abi::masked_swap4_segment(masked));
  }
};

struct MaskedSwap8 {
  using Word = std::uint64_t;
  static constexpr abi::WqeOpcode kOpcode = abi::WqeOpcode::kMaskedCompareSwap;
  static constexpr abi::AtomicSize kSize = abi::AtomicSize::k8;
  static constexpr unsigned kSegments = 2;
  abi::MaskedSwap<std::uint64_t> masked;

  CHIME_DEVICE void put(const Place& place) const {
    place.put(2, abi::masked_swap8_segment(masked));
    place.put(3, abi::masked_swap8_masks_segment(masked));
  }
};

template <class Atomic>
inline constexpr unsigned kSegmentsOf = 3 + Atomic::kSegments;  // and control, remote, result
template <class Atomic>
inline constexpr unsigned kWqebbsOf = abi::wqebbs_of(kSegmentsOf<Atomic>);

template <class Atomic>
CHIME_DEVICE void put_atomic(const Place& place, const Remote& remote, const Atomic& atomic,
                             const Local& result) {
  place.put(1, abi::remote_segment(remote.address, remote.rkey_be));
  atomic.put(place);
  place.put(2 + Atomic::kSegments,
            abi::data_segment(sizeof(typename Atomic::Word), result.lkey_be, result.address));
  place.put_control(Atomic::kOpcode, kSegmentsOf<Atomic>, Atomic::kSize);
}

}  // namespace chime::nic

#endif  // CHIME_DEVICE_PATH_NIC_REQUEST_CUH_
