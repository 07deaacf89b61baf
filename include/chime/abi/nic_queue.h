// The fields of a channel that is a queue pair of a NIC. The bytes of its requests and completions
// are in wqe.h. All pointers are addresses for device code. Names that end in _be are big-endian in
// memory, as work requests carry them.
#ifndef CHIME_ABI_NIC_QUEUE_H_
#define CHIME_ABI_NIC_QUEUE_H_

#include <cstddef>
#include <cstdint>

#include "chime/cxx20.h"

namespace chime::abi {

enum class NicCqMode : std::uint32_t {
  kCollapsed = 0,  // one CQE that every completion overwrites (DevX)
  kRing = 1,       // more CQEs than WQEBBs in the send queue, with owner bits (verbs)
};

// ChannelHead::flags of a queue pair: properties of its NIC.
inline constexpr std::uint32_t kNicResult4Big = 1 << 0;  // 4-byte results land big-endian
inline constexpr std::uint32_t kNicResult8Big = 1 << 1;  // 8-byte results land big-endian
inline constexpr std::uint32_t kNicFlushReads = 1 << 2;  // a CQE may overtake a read's data: DUMP
inline constexpr std::uint32_t kNicUnorderedWrites = 1 << 3;  // a peer may see writes out of order
inline constexpr std::uint32_t kNicUnorderedData = 1 << 4;    // only writes under NicPeer::rkey_be
inline constexpr std::uint32_t kNicSwapsSignals = 1 << 5;  // unordered: put_signal sets by a swap

inline constexpr unsigned kNicBatch = 32;  // WQEBBs after which a doorbell is posted in any case
inline constexpr unsigned kNicMostAtOnce = 96;  // WQEBBs of a submission: 3 of each lane of a warp
inline constexpr std::uint32_t kNicLeastDepth = 128;        // WQEBBs: see device/channel/README.md
inline constexpr std::uint32_t kNicMostDepth = 32768;       // half the range of a 16-bit index
inline constexpr std::uint64_t kNicMostBytes = 1ull << 30;  // of one work request

// Where results of fetching atomics land: slot i belongs to the WQE whose first WQEBB has index i
// (mod depth).
struct alignas(16) NicFetchSlot {
  std::uint64_t value;  // owner: the NIC while busy
  std::uint64_t busy;   // 0 -> 1 by the poster, 1 -> 0 by the reader, when it has the value
};
static_assert(sizeof(NicFetchSlot) == 16);

// How a doorbell is posted: what a post reads besides the ChannelHead, in one load.
struct alignas(16) NicBell {
  std::uint32_t* record;    // the send half of the doorbell record
  std::uint64_t* doorbell;  // register; or a mailbox that a host thread empties into it
};

// Where completions are found: what a poll reads besides the ChannelHead.
struct alignas(16) NicCq {
  std::byte* cqes;      // filled with 0xff at the start
  std::uint32_t count;  // a power of two: 1, or at least 2 * depth
  NicCqMode mode;
};

// The PE that a queue pair leads to. Owner: the host.
struct alignas(16) NicPeer {
  std::uint64_t heap;            // address of its heap's start in work requests
  std::uint32_t rkey_be;         // for data
  std::uint32_t strict_rkey_be;  // for signals, atomics and small puts: never overtakes
};
static_assert(sizeof(NicPeer) == 16);

// Owner: the host.
struct NicQueue {
  NicBell bell;
  NicCq cq;
  NicFetchSlot* fetch;      // [depth + 1]; the last one takes results that are not wanted
  std::uint64_t fetch_nic;  // its address in work requests
  std::uint32_t fetch_lkey_be;
  std::uint32_t reserved[3];
  NicPeer peer;
};
static_assert(sizeof(NicBell) == 16 && sizeof(NicCq) == 16 && sizeof(NicQueue) == 80);

}  // namespace chime::abi

#endif  // CHIME_ABI_NIC_QUEUE_H_
