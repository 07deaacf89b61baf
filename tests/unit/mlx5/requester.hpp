// Posts work requests by hand through a queue pair's description, as kernels do: the bytes follow
// the format's documentation, and no code of Chime writes them.
#pragma once

#include <endian.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <thread>

#include "host/transport/mlx5/queues/queue_pair.hpp"

namespace chime::host::mlx5 {

struct Remote {
  std::uint64_t address;
  std::uint32_t key;
};
struct Local {
  std::uint64_t address;
  std::uint32_t key;
};
struct Completion {
  unsigned opcode;  // 0 done, 13 failed
  unsigned syndrome;
  std::uint16_t counter;
};

class Requester {
 public:
  explicit Requester(const QueuePairView& queue) : queue_(queue) {}

  enum Opcode : std::uint8_t { kWrite = 0x08, kRead = 0x10, kFetchAdd = 0x12 };

  // Puts a request into the queue; returns its index. `told`: whether it gets a completion.
  std::uint16_t transfer(Opcode opcode, Remote remote, Local local, std::uint32_t bytes,
                         bool told) {
    std::byte* wqe = begin(opcode, 3, told);
    put_remote(wqe, remote);
    put_data(wqe + 32, local, bytes);
    return next_++;
  }
  std::uint16_t fetch_add(Remote remote, Local result, std::uint64_t add) {
    std::byte* wqe = begin(kFetchAdd, 4, true);
    put_remote(wqe, remote);
    put64(wqe + 32, add);
    put64(wqe + 40, 0);
    put_data(wqe + 48, result, 8);
    return next_++;
  }

  void ring() {
    std::atomic_thread_fence(std::memory_order_release);
    std::atomic_ref(*queue_.send_record).store(htobe32(next_), std::memory_order_release);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    std::uint64_t value;
    std::memcpy(&value, block(static_cast<std::uint16_t>(next_ - 1)), sizeof value);
    std::atomic_ref(*queue_.doorbell).store(value, std::memory_order_release);
  }

  // The completion of the request `index`: the next one of a ring, the latest of a collapsed queue.
  Completion wait(std::uint16_t index) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    for (;;) {
      if (const std::uint32_t tail = seen(); is_new(tail, index)) return take(tail);
      if (std::chrono::steady_clock::now() > deadline)
        throw std::runtime_error("no completion of request " + std::to_string(index));
      std::this_thread::yield();
    }
  }

  std::uint16_t next() const { return next_; }

 private:
  std::byte* block(std::uint16_t index) const {
    return queue_.send_queue + 64 * (index & ((1u << queue_.log2_blocks) - 1));
  }
  std::byte* begin(Opcode opcode, std::uint8_t segments, bool told) {
    std::byte* wqe = block(next_);
    std::memset(wqe, 0, 64);
    put32(wqe, static_cast<std::uint32_t>(next_) << 8 | opcode);
    put32(wqe + 4, queue_.qpn << 8 | segments);
    wqe[11] = std::byte(told ? 0x08 : 0);
    return wqe;
  }
  static void put32(std::byte* at, std::uint32_t value) {
    value = htobe32(value);
    std::memcpy(at, &value, sizeof value);
  }
  static void put64(std::byte* at, std::uint64_t value) {
    value = htobe64(value);
    std::memcpy(at, &value, sizeof value);
  }
  static void put_remote(std::byte* wqe, Remote remote) {
    put64(wqe + 16, remote.address);
    put32(wqe + 24, remote.key);
  }
  static void put_data(std::byte* segment, Local local, std::uint32_t bytes) {
    put32(segment, bytes);
    put32(segment + 4, local.key);
    put64(segment + 8, local.address);
  }

  std::byte* entry() const {
    return queue_.completions + 64 * (taken_ & ((1u << queue_.log2_completions) - 1));
  }
  std::uint32_t seen() const {
    auto& word = *reinterpret_cast<std::uint32_t*>(entry() + 60);
    return be32toh(std::atomic_ref(word).load(std::memory_order_acquire));
  }
  bool is_new(std::uint32_t tail, std::uint16_t index) const {
    if ((tail >> 4 & 0xf) == 0xf) return false;
    if (queue_.mode == CompletionMode::kCollapsed)
      return static_cast<std::int16_t>((tail >> 16) - index) >= 0;
    return (tail & 1) == (taken_ >> queue_.log2_completions & 1);
  }
  Completion take(std::uint32_t tail) {
    const Completion completion{tail >> 4 & 0xf, std::to_integer<unsigned>(entry()[55]),
                                static_cast<std::uint16_t>(tail >> 16)};
    if (queue_.mode == CompletionMode::kRing) ++taken_;
    return completion;
  }

  const QueuePairView queue_;
  std::uint16_t next_ = 0;
  std::uint32_t taken_ = 0;
};

}  // namespace chime::host::mlx5
