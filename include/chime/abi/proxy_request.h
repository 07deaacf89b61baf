// Requests of kernels to the proxy: encoded as the slots of a FIFO, and decoded. requests.md has
// the picture.
//
// A slot is valid when each of its words has the lap of its index: a vector store is not one
// access, so half of a slot may be visible before the other. Bit 63 of each word is the lap; the
// bit of a value that belongs there lies in another word.
#ifndef CHIME_ABI_PROXY_REQUEST_H_
#define CHIME_ABI_PROXY_REQUEST_H_

#include <cstdint>

#include "chime/abi/amo_op.h"
#include "chime/abi/function.h"
#include "chime/abi/proxy_fifo.h"
#include "chime/cxx20.h"

namespace chime::abi {

// 32 bytes, stored in two halves.
struct alignas(32) ProxySlot {
  std::uint64_t word[4];
};
static_assert(sizeof(ProxySlot) == 32);

inline constexpr unsigned kProxyMostValue = 16;  // bytes
inline constexpr unsigned kProxyMostSlots = 2;   // of a request

// The signal of a put: an atomic update of a word of 8 bytes. A reader that sees it also sees the
// put's data.
struct ProxySignal {
  std::uint64_t at;  // offset in the peer's heap
  std::uint64_t operand;
  AmoOp op;  // kSet or kAdd
};

// A decoded request.
struct ProxyRequest {
  ProxyKind kind;
  AmoOp op;         // of the atomics
  bool has_signal;  // of the puts
  bool has_answer;  // its poster waits
  std::int32_t pe;
  std::uint32_t answer;            // the answer's number
  std::uint64_t at;                // offset in the peer's heap
  std::uint64_t bytes;             // a value's: 1 to 16; an atomic's word: 4 or 8
  std::uint64_t here;              // kPut, kGet: as device code addresses it
  std::uint64_t value[2];          // kPutValue: low bytes first
  std::uint64_t operand, compare;  // of the atomics, in their low bytes
  ProxySignal signal;
};

// ---- Answers ------------------------------------------------------------------------------------

// A FIFO has one answer for each slot. These lie in pairs, and requests to a peer use one of each
// pair (pairs.h). After them follow two for each staging slot of its context: one for each half,
// used by the thread that has the slot.
CHIME_ABI_FN std::uint32_t proxy_answers(std::uint32_t depth, std::uint32_t staging_slots) {
  return depth + 2 * staging_slots;
}

// ---- Laps ---------------------------------------------------------------------------------------

inline constexpr std::uint64_t kProxyLap = 1ull << 63;

// The lap of a slot's index. The first lap has the bit set, because the memory begins as zeros.
// `depth`: slots, a power of two.
CHIME_ABI_FN std::uint64_t proxy_lap(std::uint64_t index, std::uint64_t depth) {
  return (index & depth) == 0 ? kProxyLap : 0;
}
CHIME_ABI_FN bool proxy_has_lap(std::uint64_t word, std::uint64_t lap) {
  return (word & kProxyLap) == lap;
}
CHIME_ABI_FN ProxySlot with_lap(const ProxySlot& slot, std::uint64_t lap) {
  return {{slot.word[0] | lap, slot.word[1] | lap, slot.word[2] | lap, slot.word[3] | lap}};
}

// ---- Encoding, without the laps -----------------------------------------------------------------

// Word 0: pe 32 | bytes of a value or word 5 | ProxyKind 3 | AmoOp 3 | signal 1 | 1 + answer 17, 0
// without one | bits 63 of words 2 and 3 | lap. Word 0 of a second slot: AmoOp 3 | ... | bit 63 of
// word 2 | 0 | lap.
inline constexpr unsigned kProxySizeShift = 32, kProxyKindShift = 37, kProxyOpShift = 40;
inline constexpr std::uint64_t kProxySignal = 1ull << 43;
inline constexpr unsigned kProxyAnswerShift = 44, kProxyAnswerBits = 17;
static_assert(2 * kProxyMostDepth < 1u << kProxyAnswerBits);
inline constexpr unsigned kProxyHigh2Shift = 61, kProxyHigh3Shift = 62;

namespace detail {

CHIME_ABI_FN std::uint64_t proxy_head(ProxyKind kind, std::int32_t pe, unsigned size = 0,
                                      AmoOp op = AmoOp::kFetch) {
  return static_cast<std::uint32_t>(pe) | std::uint64_t{size} << kProxySizeShift |
         static_cast<std::uint64_t>(kind) << kProxyKindShift |
         static_cast<std::uint64_t>(op) << kProxyOpShift;
}
// Words 2 and 3 have 64 bits. An offset that does not fit lies in no heap, with its highest bit or
// without, and the proxy refuses it.
CHIME_ABI_FN ProxySlot proxy_slot(std::uint64_t head, std::uint64_t at, std::uint64_t two,
                                  std::uint64_t three) {
  return {{head | two >> 63 << kProxyHigh2Shift | three >> 63 << kProxyHigh3Shift, at & ~kProxyLap,
           two & ~kProxyLap, three & ~kProxyLap}};
}
CHIME_ABI_FN std::uint64_t proxy_two(const ProxySlot& slot) {
  return (slot.word[2] & ~kProxyLap) | (slot.word[0] >> kProxyHigh2Shift & 1) << 63;
}
CHIME_ABI_FN std::uint64_t proxy_three(const ProxySlot& slot) {
  return (slot.word[3] & ~kProxyLap) | (slot.word[0] >> kProxyHigh3Shift & 1) << 63;
}

}  // namespace detail

CHIME_ABI_FN ProxySlot proxy_put(std::int32_t pe, std::uint64_t at, std::uint64_t here,
                                 std::uint64_t bytes) {
  return detail::proxy_slot(detail::proxy_head(ProxyKind::kPut, pe), at, here, bytes);
}
CHIME_ABI_FN ProxySlot proxy_put_value(std::int32_t pe, std::uint64_t at, unsigned bytes,
                                       std::uint64_t low, std::uint64_t high = 0) {
  return detail::proxy_slot(detail::proxy_head(ProxyKind::kPutValue, pe, bytes), at, low, high);
}
CHIME_ABI_FN ProxySlot proxy_get(std::int32_t pe, std::uint64_t at, std::uint64_t here,
                                 std::uint64_t bytes) {
  return detail::proxy_slot(detail::proxy_head(ProxyKind::kGet, pe), at, here, bytes);
}
CHIME_ABI_FN ProxySlot proxy_get_value(std::int32_t pe, std::uint64_t at, unsigned bytes) {
  return detail::proxy_slot(detail::proxy_head(ProxyKind::kGetValue, pe, bytes), at, 0, 0);
}
CHIME_ABI_FN ProxySlot proxy_atomic(ProxyKind kind, AmoOp op, std::int32_t pe, std::uint64_t at,
                                    unsigned bytes, std::uint64_t operand,
                                    std::uint64_t compare = 0) {
  return detail::proxy_slot(detail::proxy_head(kind, pe, bytes, op), at, operand, compare);
}

// A put's first slot, if a signal follows; and the second slot.
CHIME_ABI_FN ProxySlot with_signal(const ProxySlot& put) {
  return {{put.word[0] | kProxySignal, put.word[1], put.word[2], put.word[3]}};
}
CHIME_ABI_FN ProxySlot proxy_signal(const ProxySignal& signal) {
  return detail::proxy_slot(static_cast<std::uint64_t>(signal.op), signal.at, signal.operand, 0);
}

// A first slot, of a request whose poster waits at the answer.
CHIME_ABI_FN ProxySlot with_answer(const ProxySlot& first, std::uint32_t answer) {
  return {{first.word[0] | std::uint64_t{answer + 1} << kProxyAnswerShift, first.word[1],
           first.word[2], first.word[3]}};
}
// ---- Decoding -----------------------------------------------------------------------------------

CHIME_ABI_FN unsigned proxy_slots_of(std::uint64_t first_word) {
  return (first_word & kProxySignal) != 0 ? 2 : 1;
}

// `second` is used only if the request has two slots.
CHIME_ABI_FN ProxyRequest proxy_request(const ProxySlot& first, const ProxySlot& second) {
  const std::uint64_t head = first.word[0];
  ProxyRequest request = {};
  request.kind = static_cast<ProxyKind>(head >> kProxyKindShift & 7);
  request.op = static_cast<AmoOp>(head >> kProxyOpShift & 7);
  request.has_signal = proxy_slots_of(head) == 2;
  const auto answer =
      static_cast<std::uint32_t>(head >> kProxyAnswerShift) & ((1u << kProxyAnswerBits) - 1);
  request.has_answer = answer != 0;
  request.answer = answer - (answer != 0);
  request.pe = static_cast<std::int32_t>(static_cast<std::uint32_t>(head));
  request.at = first.word[1] & ~kProxyLap;
  request.bytes = head >> kProxySizeShift & 31;
  const std::uint64_t two = detail::proxy_two(first), three = detail::proxy_three(first);
  if (request.kind == ProxyKind::kPut || request.kind == ProxyKind::kGet) {
    request.here = two;
    request.bytes = three;
  } else if (request.kind == ProxyKind::kPutValue) {
    request.value[0] = two;
    request.value[1] = three;
  } else {
    request.operand = two;
    request.compare = three;
  }
  if (request.has_signal) {
    request.signal = {second.word[1] & ~kProxyLap, detail::proxy_two(second),
                      static_cast<AmoOp>(second.word[0] & 7)};
  }
  return request;
}

}  // namespace chime::abi

#endif  // CHIME_ABI_PROXY_REQUEST_H_
