// What two PEs say to each other about a request: an ask to the owner of the word or the memory,
// with what it needs, and its answer. Bytes of one version of Chime; letter.hpp carries them.
#pragma once

#include <cstdint>
#include <type_traits>

#include "host/transport/transport.hpp"

namespace chime::host::ofi {

inline constexpr std::size_t kMostPutBytes = 128;  // of a put that is a message

struct Message {
  enum class Kind : std::uint8_t { kAsk = 1, kAnswer, kPut };

  std::uint64_t id;    // of the request, at the PE that asks
  std::uint64_t at;    // kAsk, kPut: offset in the heap; kAnswer: the word before
  std::uint8_t bytes;  // of the word; kPut: of the data
  Kind kind;
  std::uint8_t op;      // kAsk: AmoOp
  std::uint8_t status;  // kAnswer: a chimex_status
  std::uint32_t reserved = 0;

  // What follows it in a letter: a multiple of 8.
  std::size_t body_bytes() const {
    if (kind == Kind::kAsk) return 2 * sizeof(std::uint64_t);  // operand, compare
    return kind == Kind::kPut ? (bytes + 7u) / 8 * 8 : 0;
  }
  // Whether it is one at all.
  bool is_known() const {
    if (kind == Kind::kAnswer)
      return status == CHIMEX_OK || status == CHIMEX_ERR_INVALID || status == CHIMEX_ERR_NETWORK;
    return kind == Kind::kAsk || (kind == Kind::kPut && bytes >= 1 && bytes <= kMostPutBytes);
  }
  // Whether `heap_bytes` have what an ask or a put names, and there is such an operation.
  bool fits(std::uint64_t heap_bytes) const {
    if (at >= heap_bytes || heap_bytes - at < bytes) return false;
    return kind == Kind::kPut || (op <= static_cast<std::uint8_t>(AmoOp::kCompareSwap) &&
                                  (bytes == 4 || bytes == 8) && at % bytes == 0);
  }
};
static_assert(std::is_trivially_copyable_v<Message> && sizeof(Message) == 24);
static_assert(kMostPutBytes <= 255 && kMostPutBytes % 8 == 0);

inline Message ask_for(const HostRequest& wanted, std::uint64_t id) {
  const bool is_put = wanted.kind == HostRequest::Kind::kPut;
  return {.id = id,
          .at = wanted.at,
          .bytes = static_cast<std::uint8_t>(is_put ? wanted.bytes : wanted.update.bytes),
          .kind = is_put ? Message::Kind::kPut : Message::Kind::kAsk,
          .op = static_cast<std::uint8_t>(wanted.update.op),
          .status = CHIMEX_OK};
}

inline Message answer_to(std::uint64_t id, std::uint64_t before, chimex_status status) {
  return {.id = id,
          .at = before,
          .bytes = 0,
          .kind = Message::Kind::kAnswer,
          .op = 0,
          .status = static_cast<std::uint8_t>(status)};
}

}  // namespace chime::host::ofi
