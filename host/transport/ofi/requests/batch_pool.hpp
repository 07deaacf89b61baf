// The memory of batches of messages: outgoing batches, and places where batches of messages arrive.
//
// A batch of messages is answered out of a new one, and the place where it arrived is free at once.
// So no PE's answers wait for another's, however many ask it. The memory of answers grows with
// that, up to all that peers may have asked at once.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "host/transport/ofi/requests/message_batch.hpp"
#include "host/transport/ofi/requests/posted.hpp"

namespace chime::host::ofi {

struct MessageBatch : Posted {
  MessageBatch() : Posted(Kind::kMessageBatch) {}
  int to = -1;        // PE
  unsigned puts = 0;  // in it, that atomics may have to follow (Order)
  BatchText text;

  std::span<std::byte> bytes_for(std::uint64_t pass) { return text.finish(pass); }
};

struct Arrival : Posted {
  Arrival() : Posted(Kind::kReceive) {}
  static constexpr std::size_t kBytes = kBatchBytes;

  std::byte* data() { return memory_.data(); }

 private:
  alignas(8) BatchMemory memory_;
};

class BatchPool {
 public:
  static constexpr std::size_t kArrivals = 64;

  MessageBatch& take() {
    if (free_.empty()) grow();
    MessageBatch& batch = *free_.back();
    free_.pop_back();
    return batch;
  }
  void free(MessageBatch& batch) { free_.push_back(&batch); }

  std::span<Arrival> arrivals() { return *arrivals_; }

 private:
  using Sheet = std::array<MessageBatch, 8>;

  void grow() {
    for (MessageBatch& batch : *sheets_.emplace_back(std::make_unique<Sheet>()))
      free_.push_back(&batch);
  }

  std::vector<std::unique_ptr<Sheet>> sheets_;
  std::vector<MessageBatch*> free_;
  const std::unique_ptr<std::array<Arrival, kArrivals>> arrivals_ =
      std::make_unique<std::array<Arrival, kArrivals>>();
};

}  // namespace chime::host::ofi
