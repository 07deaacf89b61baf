// The messages of two PEs about a request: an ask to the owner of the word or the memory, with the
// data that it needs, and its answer. Bytes of one version of Chime; requests/message_batch.hpp
// carries them.
#pragma once

#include <cstdint>
#include <type_traits>

#include "host/transport/transport.hpp"

namespace chime::host::ofi {

inline constexpr std::size_t kMostPutBytes = 128;  // of a put that is a message
// The same where data goes through bounce buffers, and of a get's data in an answer: two of them
// fill a batch of messages.
inline constexpr std::size_t kMostCarriedBytes = 2016;

// The header before the data of a kPutSignal.
struct SignalPlace {
  std::uint64_t at, operand;

  bool fits(std::uint64_t heap_bytes) const {
    return at % 8 == 0 && at < heap_bytes && heap_bytes - at >= 8;
  }
};
static_assert(std::is_trivially_copyable_v<SignalPlace> && sizeof(SignalPlace) == 16);

struct Message {
  // For ../bounce: kPull, a put whose data the owner reads from a slot of the initiator's; kPush, a
  // get whose data it writes into one, and then answers; kGet, one whose data comes as kData.
  // kPutSignal: a put, and behind it an update of a word of 8 bytes.
  enum class Kind : std::uint8_t { kAsk = 1, kAnswer, kPut, kPull, kPush, kGet, kData, kPutSignal };

  std::uint64_t id;     // of the request, at the PE that asks
  std::uint64_t at;     // of what is asked: offset in the heap; kAnswer: the word before
  std::uint32_t bytes;  // of the word, of the data
  Kind kind;
  std::uint8_t op;            // kAsk, kPutSignal: AmoOp
  std::uint8_t status;        // kAnswer: a chimex_status
  std::uint8_t wants_before;  // kAsk: whether the word before is wanted

  // The bytes that follow it in a batch of messages: a multiple of 8.
  std::size_t body_bytes() const {
    switch (kind) {
      case Kind::kAsk:
        return 2 * sizeof(std::uint64_t);  // operand, compare
      case Kind::kPut:
      case Kind::kData:
        return (bytes + std::size_t{7}) / 8 * 8;
      case Kind::kPutSignal:
        return sizeof(SignalPlace) + (bytes + std::size_t{7}) / 8 * 8;
      case Kind::kPull:
      case Kind::kPush:
        return sizeof(std::uint64_t);  // the slot's offset in the initiator's pool
      case Kind::kAnswer:
      case Kind::kGet:
        break;
    }
    return 0;
  }
  // Whether it is one at all.
  bool is_known() const {
    if (kind == Kind::kAnswer)
      return status == CHIMEX_OK || status == CHIMEX_ERR_INVALID || status == CHIMEX_ERR_NETWORK;
    if (kind == Kind::kPut || kind == Kind::kData || kind == Kind::kGet)
      return bytes >= 1 && bytes <= kMostCarriedBytes;
    if (kind == Kind::kPutSignal) return bytes >= 1 && bytes <= kMostPutBytes;
    return kind == Kind::kAsk || kind == Kind::kPull || kind == Kind::kPush;
  }
  // Whether `heap_bytes` have what it asks for, and there is such an operation.
  bool fits(std::uint64_t heap_bytes) const {
    if (at >= heap_bytes || heap_bytes - at < bytes) return false;
    const bool is_operation = op <= static_cast<std::uint8_t>(AmoOp::kCompareSwap);
    if (kind == Kind::kPutSignal) return is_operation;
    return kind != Kind::kAsk || (is_operation && (bytes == 4 || bytes == 8) && at % bytes == 0);
  }
};
static_assert(std::is_trivially_copyable_v<Message> && sizeof(Message) == 24);
static_assert(kMostPutBytes <= kMostCarriedBytes && kMostCarriedBytes % 8 == 0);

inline Message ask_for(const HostRequest& wanted, std::uint64_t id) {
  const bool is_put = wanted.kind == HostRequest::Kind::kPut;
  const auto put = wanted.has_signal ? Message::Kind::kPutSignal : Message::Kind::kPut;
  return {.id = id,
          .at = wanted.at,
          .bytes = is_put ? static_cast<std::uint32_t>(wanted.bytes) : wanted.update.bytes,
          .kind = is_put ? put : Message::Kind::kAsk,
          .op = static_cast<std::uint8_t>(wanted.update.op),
          .status = CHIMEX_OK,
          .wants_before = wanted.here != nullptr};
}

inline Message answer_to(std::uint64_t id, std::uint64_t before, chimex_status status) {
  return {.id = id,
          .at = before,
          .bytes = 0,
          .kind = Message::Kind::kAnswer,
          .op = 0,
          .status = static_cast<std::uint8_t>(status),
          .wants_before = 0};
}

// A piece of a put or get that goes through slots.
inline Message ask_for_piece(Message::Kind kind, std::uint64_t id, std::uint64_t at,
                             std::size_t bytes) {
  return {.id = id,
          .at = at,
          .bytes = static_cast<std::uint32_t>(bytes),
          .kind = kind,
          .op = 0,
          .status = CHIMEX_OK,
          .wants_before = 0};
}

}  // namespace chime::host::ofi
