// Batch of messageses: as many messages as there are for one PE when it is posted, up to what there
// is room for.
//
//   head: pass 8 | from 4 | bytes 4     message 24, body     message 24, body     ...
//
// `pass` is the receiver's, from its endpoint info: strangers do not know it. `bytes` are those
// behind the head. Each message stands at a multiple of 8.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "host/transport/ofi/requests/message.hpp"

namespace chime::host::ofi {

inline constexpr std::size_t kBatchBytes = 4096;
using BatchMemory = std::array<std::byte, kBatchBytes>;

struct BatchHead {
  std::uint64_t pass;
  std::int32_t from;  // PE
  std::uint32_t bytes;
};
static_assert(sizeof(BatchHead) == 16);

// A batch of messages that is being written.
class BatchText {
 public:
  void begin(std::int32_t from) {
    const BatchHead head{0, from, 0};
    std::memcpy(memory_.data(), &head, sizeof head);
    end_ = sizeof head;
  }

  bool is_empty() const { return end_ == sizeof(BatchHead); }
  bool has_room_for(const Message& message) const {
    return kBatchBytes - end_ >= sizeof message + message.body_bytes();
  }
  // REQUIRES: room. `body`: at most the message's body_bytes(); what is left of them is zeros.
  void add(const Message& message, std::span<const std::byte> body = {}) {
    std::memcpy(&memory_[end_], &message, sizeof message);
    end_ += sizeof message;
    const std::size_t bytes = message.body_bytes();
    if (bytes == 0) return;
    std::memset(&memory_[end_ + bytes - 8], 0, 8);
    std::memcpy(&memory_[end_], body.data(), body.size());
    end_ += bytes;
  }

  // REQUIRES: room. A put with its signal.
  void add(const Message& message, const SignalPlace& signal, std::span<const std::byte> data) {
    std::byte* const body = &memory_[end_ + sizeof message];
    add(message, std::as_bytes(std::span(&signal, 1)));
    std::memcpy(body + sizeof signal, data.data(), data.size());
  }

  // To be sent to the PE that has this pass.
  std::span<std::byte> finish(std::uint64_t pass) {
    std::memcpy(&memory_[offsetof(BatchHead, pass)], &pass, sizeof pass);
    const auto bytes = static_cast<std::uint32_t>(end_ - sizeof(BatchHead));
    std::memcpy(&memory_[offsetof(BatchHead, bytes)], &bytes, sizeof bytes);
    return std::span(memory_).first(end_);
  }

 private:
  alignas(8) BatchMemory memory_;
  std::size_t end_ = 0;
};

// A batch of messages that has come, message by message.
class BatchReader {
 public:
  // Null: it is no batch of messages to the PE that has this pass.
  static std::optional<BatchReader> open(std::span<const std::byte> bytes, std::uint64_t pass) {
    BatchHead head;
    if (bytes.size() < sizeof head) return std::nullopt;
    std::memcpy(&head, bytes.data(), sizeof head);
    if (head.pass != pass) return std::nullopt;
    return BatchReader(head, bytes.subspan(sizeof head));
  }

  std::int32_t from() const { return head_.from; }

  // Whether all of it can be read. Before next(): of what cannot, nothing is to be carried out.
  bool is_well() const {
    BatchReader copy = *this;
    if (rest_.empty() || rest_.size() != head_.bytes) return false;
    while (!copy.is_over()) {
      const std::optional<Message> message = copy.peek();
      if (!message) return false;
      copy.skip(*message);
    }
    return true;
  }

  bool is_over() const { return rest_.empty(); }
  // REQUIRES: is_well(), of the whole; not is_over(). `body` stays in the batch of messages's
  // memory.
  Message next(std::span<const std::byte>& body) {
    Message message;
    std::memcpy(&message, rest_.data(), sizeof message);
    body = rest_.subspan(sizeof message, message.body_bytes());
    skip(message);
    return message;
  }

 private:
  BatchReader(const BatchHead& head, std::span<const std::byte> rest) : head_(head), rest_(rest) {}

  std::optional<Message> peek() const {
    Message message;
    if (rest_.size() < sizeof message) return std::nullopt;
    std::memcpy(&message, rest_.data(), sizeof message);
    if (!message.is_known() || rest_.size() - sizeof message < message.body_bytes())
      return std::nullopt;
    return message;
  }
  void skip(const Message& message) {
    rest_ = rest_.subspan(sizeof message + message.body_bytes());
  }

  BatchHead head_;
  std::span<const std::byte> rest_;
};

}  // namespace chime::host::ofi
