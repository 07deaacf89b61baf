// A ring of packets in shared memory with one producer and one consumer, each in its own process.
//
// Records are multiples of 64 bytes: a PacketHeader, then its payload. A record never wraps: if it
// does not fit before the end, a marker record (payload = kSkip) sends the consumer to the start.
//
// The producer is another process, which may write anything, at any time. So the consumer uses only
// a copy of a record's header, and only if the record lies inside what was produced.
//
//   produced  written by the producer; its release publishes the record, pairs with the acquire in
//             peek()
//   consumed  written by the consumer; its release frees the space, pairs with the acquire in
//             reserve()
//   asleep    how the consumer sleeps, set before it does; taken by the producer that then wakes it
#pragma once

#include <algorithm>
#include <atomic>

#include "packet.hpp"

namespace softnic {

// How a consumer sleeps, which decides how it is woken: by a byte on its socket, or as a futex on
// `asleep`.
enum class Sleep : std::uint32_t { kAwake, kOnSocket, kOnFutex };

class Ring {
 public:
  static constexpr std::size_t kBytes = 1 << 20;

  struct Shared {
    alignas(64) std::atomic<std::uint64_t> produced{0};
    alignas(64) std::atomic<std::uint64_t> consumed{0};
    alignas(64) std::atomic<Sleep> asleep{Sleep::kAwake};
    alignas(64) std::byte data[kBytes];
  };

  explicit Ring(Shared* shared) : shared_(shared) {}

  // Producer: the place of a record's payload, or null if the ring has no room now.
  std::byte* reserve(std::uint32_t payload) {
    std::size_t need = record_bytes(payload);
    const std::size_t at = produced_ % kBytes;
    const std::size_t before_end = kBytes - at;
    const std::size_t skipped = need > before_end ? before_end : 0;
    if (produced_ + skipped + need - consumed_seen_ > kBytes) {
      consumed_seen_ = shared_->consumed.load(std::memory_order_acquire);
      if (produced_ + skipped + need - consumed_seen_ > kBytes) return nullptr;
    }
    if (skipped) {
      record_at(produced_)->payload = kSkip;  // only this word: 64 bytes may be all that is left
      produced_ += skipped;
    }
    return shared_->data + produced_ % kBytes + sizeof(PacketHeader);
  }

  // Producer: publishes the record for which reserve() gave room.
  void publish(const PacketHeader& header) {
    *record_at(produced_) = header;
    produced_ += record_bytes(header.payload);
    shared_->produced.store(produced_, std::memory_order_release);
  }

  // Producer: returns how the consumer sleeps and must be woken, once for each sleep; then kAwake.
  // The fences here and in fall_asleep() guarantee that the consumer sees the record, or this call
  // sees it asleep.
  Sleep takes_waking() {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (shared_->asleep.load(std::memory_order_relaxed) == Sleep::kAwake) return Sleep::kAwake;
    return shared_->asleep.exchange(Sleep::kAwake, std::memory_order_relaxed);
  }

  // Consumer: from now on the producer announces records. False if one is here already.
  bool fall_asleep(Sleep how) {
    shared_->asleep.store(how, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return !has_record();
  }
  void wake_up() { shared_->asleep.store(Sleep::kAwake, std::memory_order_relaxed); }

  // The futex word of a sleeping consumer, for both sides.
  std::uint32_t* futex() { return reinterpret_cast<std::uint32_t*>(&shared_->asleep); }

  // Consumer: whether there is a record that was not popped.
  bool has_record() {
    if (consumed_ == produced_seen_)
      produced_seen_ = shared_->produced.load(std::memory_order_acquire);
    return consumed_ != produced_seen_ && !is_broken_;
  }

  // Consumer: the place of the oldest record's payload; `header` receives its header. Null if there
  // is none, or none that a NIC would write: then is_broken() stays true.
  const std::byte* peek(PacketHeader& header) {
    if (!has_record()) return nullptr;
    if (payload_at(consumed_) == kSkip) consumed_ += kBytes - consumed_ % kBytes;
    const std::uint64_t there = produced_seen_ - consumed_;
    const std::uint64_t room = std::min(there, kBytes - consumed_ % kBytes);
    is_broken_ = there > kBytes || room < sizeof header;
    if (is_broken_) return nullptr;
    header = *record_at(consumed_);
    std::atomic_signal_fence(std::memory_order_seq_cst);  // read once: it may change behind this
    is_broken_ = !header.is_sound() || record_bytes(header.payload) > room;
    return is_broken_ ? nullptr : shared_->data + consumed_ % kBytes + sizeof header;
  }
  bool is_broken() const { return is_broken_; }

  // Consumer: frees the record from peek().
  void pop(const PacketHeader& header) {
    consumed_ += record_bytes(header.payload);
    shared_->consumed.store(consumed_, std::memory_order_release);
  }

 private:
  static constexpr std::uint32_t kSkip = ~0u;

  static std::size_t record_bytes(std::uint32_t payload) {
    return (sizeof(PacketHeader) + payload + 63) / 64 * 64;
  }
  std::uint32_t payload_at(std::uint64_t position) {
    return __atomic_load_n(&record_at(position)->payload, __ATOMIC_RELAXED);
  }
  PacketHeader* record_at(std::uint64_t position) {
    return reinterpret_cast<PacketHeader*>(shared_->data + position % kBytes);
  }

  Shared* shared_;
  std::uint64_t produced_ = 0;       // producer's own copy
  std::uint64_t consumed_seen_ = 0;  // producer's last look at `consumed`
  std::uint64_t consumed_ = 0;       // consumer's own copy
  std::uint64_t produced_seen_ = 0;  // consumer's last look at `produced`
  bool is_broken_ = false;           // consumer's verdict
};

}  // namespace softnic
