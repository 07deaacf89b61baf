// The memory formats of an mlx5 NIC: work requests (WQEs), completions (CQEs), the doorbell record
// and the doorbell. Big-endian, in 16-byte segments; requests.md has more.
//
// Builders return segments with the bytes of memory; parsers take words as they were loaded.
// Neither knows queues: device/path/nic puts segments into a send queue.
#ifndef CHIME_ABI_WQE_H_
#define CHIME_ABI_WQE_H_

#include <cstddef>
#include <cstdint>

#include "chime/abi/function.h"
#include "chime/cxx20.h"

namespace chime::abi {

// ---- Byte order ---------------------------------------------------------------------------------
// Converts between a value and the word that holds it big-endian in memory, on a little-endian
// processor.

CHIME_ABI_FN std::uint16_t be16(std::uint16_t v) {
  return static_cast<std::uint16_t>(v << 8 | v >> 8);
}
CHIME_ABI_FN std::uint32_t be32(std::uint32_t v) {
#ifdef CHIME_SWAP_BYTES
  if (!__builtin_is_constant_evaluated()) return CHIME_SWAP_BYTES(v);
#endif
  return v << 24 | (v & 0xff00u) << 8 | (v >> 8 & 0xff00u) | v >> 24;
}
CHIME_ABI_FN std::uint64_t be64(std::uint64_t v) {
  return static_cast<std::uint64_t>(be32(static_cast<std::uint32_t>(v))) << 32 |
         be32(static_cast<std::uint32_t>(v >> 32));
}

// ---- Send queue ---------------------------------------------------------------------------------

inline constexpr unsigned kWqebbBytes = 64;    // unit of indices: a WQE takes whole ones
inline constexpr unsigned kSegmentBytes = 16;  // unit of a WQE's length, `ds`
inline constexpr unsigned kSegmentsPerWqebb = kWqebbBytes / kSegmentBytes;
inline constexpr unsigned kMostSegments = 63;  // of a WQE: 6 bits

enum class WqeOpcode : std::uint8_t {
  kNop = 0x00,
  kWrite = 0x08,
  kWriteImm = 0x09,
  kRead = 0x10,
  kCompareSwap = 0x11,        // 8 bytes
  kFetchAdd = 0x12,           // 8 bytes
  kMaskedCompareSwap = 0x14,  // with an AtomicSize as opmod
  kMaskedFetchAdd = 0x15,     // with an AtomicSize as opmod
  kDump = 0x23,               // reads local memory and discards it: then earlier data has arrived
};

// Opmod of masked atomics.
enum class AtomicSize : std::uint8_t { kPlain = 0, k4 = 0x08, k8 = 0x09 };

// Byte 11 of the control segment: when a CQE is written, and what the NIC finishes before.
inline constexpr std::uint8_t kCqeOnFirstError = 1 << 2;
inline constexpr std::uint8_t kCqeAlways = 2 << 2;
inline constexpr std::uint8_t kFenceReads = 4 << 5;  // starts after earlier reads and atomics

// 16 bytes in memory order, as four little-endian words.
struct alignas(16) WqeSegment {
  std::uint32_t word[4];
};
static_assert(sizeof(WqeSegment) == kSegmentBytes);

// The first segment. `qpn_be` is be32(qpn << 8), precomputed: the low byte is for `ds`.
struct WqeControl {
  WqeOpcode opcode;
  std::uint8_t segments;  // ds: of the whole WQE, at most kMostSegments
  std::uint8_t flags = 0;
  AtomicSize size = AtomicSize::kPlain;
  std::uint32_t immediate_be = 0;
};

CHIME_ABI_FN WqeSegment control_segment(const WqeControl& control, std::uint64_t index,
                                        std::uint32_t qpn_be) {
  const std::uint32_t head = static_cast<std::uint32_t>(control.size) << 24 |
                             (static_cast<std::uint32_t>(index) & 0xffffu) << 8 |
                             static_cast<std::uint32_t>(control.opcode);
  return {{be32(head), qpn_be | static_cast<std::uint32_t>(control.segments) << 24,
           static_cast<std::uint32_t>(control.flags) << 24, control.immediate_be}};
}

// 64-bit values in big-endian order, as two words.
CHIME_ABI_FN WqeSegment two_words_segment(std::uint64_t first, std::uint64_t second) {
  const std::uint64_t a = be64(first), b = be64(second);
  return {{static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(a >> 32),
           static_cast<std::uint32_t>(b), static_cast<std::uint32_t>(b >> 32)}};
}

CHIME_ABI_FN WqeSegment remote_segment(std::uint64_t address, std::uint32_t rkey_be) {
  const std::uint64_t a = be64(address);
  return {{static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(a >> 32), rkey_be, 0}};
}

CHIME_ABI_FN WqeSegment data_segment(std::uint32_t bytes, std::uint32_t lkey_be,
                                     std::uint64_t address) {
  const std::uint64_t a = be64(address);
  return {
      {be32(bytes), lkey_be, static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(a >> 32)}};
}

// Inline data follows a header of 4 bytes: 12 bytes fit in its segment, 28 in that and the next.
inline constexpr unsigned kInlineHeaderBytes = 4;
inline constexpr unsigned kInlineMostBytes = 1023;  // 10 bits
inline constexpr unsigned kInlineInOneSegment = 12;
inline constexpr unsigned kInlineInTwoSegments = 28;
inline constexpr unsigned kMostInline = 32 * 8;  // that Chime posts: elements of a whole warp
struct InlineData {
  std::uint32_t word[7];  // bytes in memory order
};

CHIME_ABI_FN std::uint32_t inline_header(std::uint32_t bytes) { return be32(bytes | 0x80000000u); }
CHIME_ABI_FN unsigned inline_segments_of(std::uint32_t bytes) {
  return (kInlineHeaderBytes + bytes + kSegmentBytes - 1) / kSegmentBytes;
}
CHIME_ABI_FN WqeSegment inline_segment(std::uint32_t bytes, const InlineData& data) {
  return {{inline_header(bytes), data.word[0], data.word[1], data.word[2]}};
}
CHIME_ABI_FN WqeSegment inline_rest_segment(const InlineData& data) {
  return {{data.word[3], data.word[4], data.word[5], data.word[6]}};
}

// The atomic segment by opcode. 8 bytes: a masked compare-and-swap has two of them, the others one.
CHIME_ABI_FN WqeSegment fetch_add_segment(std::uint64_t add) { return two_words_segment(add, 0); }
CHIME_ABI_FN WqeSegment compare_swap_segment(std::uint64_t swap, std::uint64_t compare) {
  return two_words_segment(swap, compare);
}
// Adds without carry over the bits of `boundary`; all ones makes it an exclusive or.
CHIME_ABI_FN WqeSegment masked_add8_segment(std::uint64_t add, std::uint64_t boundary) {
  return two_words_segment(add, boundary);
}
CHIME_ABI_FN WqeSegment masked_add4_segment(std::uint32_t add, std::uint32_t boundary) {
  return {{be32(add), be32(boundary), 0, 0}};
}
// If the word equals `compare` in the bits of its mask, takes `swap` in the bits of its mask.
template <class Word>
struct MaskedSwap {
  Word swap, compare, swap_mask, compare_mask;
};
CHIME_ABI_FN WqeSegment masked_swap4_segment(const MaskedSwap<std::uint32_t>& m) {
  return {{be32(m.swap), be32(m.compare), be32(m.swap_mask), be32(m.compare_mask)}};
}
CHIME_ABI_FN WqeSegment masked_swap8_segment(const MaskedSwap<std::uint64_t>& m) {
  return two_words_segment(m.swap, m.compare);
}
CHIME_ABI_FN WqeSegment masked_swap8_masks_segment(const MaskedSwap<std::uint64_t>& m) {
  return two_words_segment(m.swap_mask, m.compare_mask);
}

// WQEBBs that a WQE of `segments` takes.
CHIME_ABI_FN unsigned wqebbs_of(unsigned segments) {
  return (segments + kSegmentsPerWqebb - 1) / kSegmentsPerWqebb;
}

// ---- Doorbell -----------------------------------------------------------------------------------

// The record has the index of the next free WQEBB. The NIC reads it after the doorbell.
CHIME_ABI_FN std::uint32_t doorbell_record(std::uint64_t next) {
  return be32(static_cast<std::uint32_t>(next) & 0xffffu);
}
// One store of 8 bytes to the doorbell register: index and queue pair, as in a control segment.
CHIME_ABI_FN std::uint64_t doorbell_value(std::uint64_t next, std::uint32_t qpn_be) {
  const std::uint32_t head = be32((static_cast<std::uint32_t>(next) & 0xffffu) << 8);
  return static_cast<std::uint64_t>(qpn_be) << 32 | head;
}

// ---- Completion queue ---------------------------------------------------------------------------

inline constexpr unsigned kCqeBytes = 64;
inline constexpr unsigned kCqeSyndromeWord = 52;  // {.., .., vendor error, syndrome}
inline constexpr unsigned kCqeOpcodeWord = 56;    // {WQE's opcode, qpn}
inline constexpr unsigned kCqeTailWord = 60;      // {counter, signature, opcode and owner}

enum class CqeOpcode : std::uint8_t {
  kRequest = 0x0,
  kRequestError = 0xd,
  kResponseError = 0xe,
  kInvalid = 0xf,  // nothing has been written here: what software fills the queue with
};

// The last four bytes, read in ONE load: the counter belongs to the opcode beside it.
struct CqeTail {
  std::uint16_t counter;  // index of the WQE's first WQEBB
  CqeOpcode opcode;
  bool owner;  // turns with each lap of the queue, 0 in the first
};
CHIME_ABI_FN CqeTail cqe_tail(std::uint32_t word) {
  return {static_cast<std::uint16_t>(be32(word) >> 16), static_cast<CqeOpcode>(word >> 28),
          (word >> 24 & 1) != 0};
}
CHIME_ABI_FN bool cqe_is_error(CqeOpcode opcode) {
  return opcode == CqeOpcode::kRequestError || opcode == CqeOpcode::kResponseError;
}

// Why a work request failed.
enum class CqeSyndrome : std::uint8_t {
  kLocalLength = 0x01,
  kLocalQueuePair = 0x02,
  kLocalProtection = 0x04,
  kFlushed = 0x05,  // not the cause: an earlier request failed
  kBadResponse = 0x10,
  kLocalAccess = 0x11,
  kRemoteInvalid = 0x12,
  kRemoteAccess = 0x13,
  kRemoteOperation = 0x14,
  kTransportRetry = 0x15,
  kReceiverNotReady = 0x16,
  kRemoteAborted = 0x22,
};
CHIME_ABI_FN CqeSyndrome cqe_syndrome(std::uint32_t syndrome_word) {
  return static_cast<CqeSyndrome>(syndrome_word >> 24);
}
CHIME_ABI_FN std::uint8_t cqe_vendor_error(std::uint32_t syndrome_word) {
  return static_cast<std::uint8_t>(syndrome_word >> 16);
}
CHIME_ABI_FN WqeOpcode cqe_wqe_opcode(std::uint32_t opcode_word) {
  return static_cast<WqeOpcode>(opcode_word & 0xff);
}

}  // namespace chime::abi

#endif  // CHIME_ABI_WQE_H_
