// All memory of a set of queue pairs: one piece that kernels and the NIC see, handed out once, from
// front to back, and freed as a whole. One mapping for the GPU, and nothing to allocate while
// kernels run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "host/gpu/gpu.hpp"

namespace chime::host::mlx5 {

// The kind of memory in which queues lie.
enum class QueuePlace { kHost, kDevice };

class Slab {
 public:
  // Words of different queues share no line that the GPU or the NIC fetches.
  static constexpr std::size_t kLine = 128;
  // Where the queues of one begin: the NIC addresses them by pages.
  static constexpr std::size_t kPage = 4096;

  Slab(Gpu& gpu, QueuePlace place, std::size_t bytes)
      : gpu_(gpu),
        place_(place),
        memory_(place == QueuePlace::kDevice ? gpu.allocate_device(bytes)
                                             : gpu.allocate_host_visible(bytes)) {}

  // Zeroed. Null when the slab is used up. `alignment`: a power of two; at least a line is kept.
  std::byte* take(std::size_t bytes, std::size_t alignment) noexcept {
    const std::size_t unit = alignment < kLine ? kLine : alignment;
    const auto start = reinterpret_cast<std::uintptr_t>(memory_->address());
    const std::size_t at = ((start + used_ + unit - 1) & ~(unit - 1)) - start;
    if (at > memory_->bytes() || bytes > memory_->bytes() - at) return nullptr;
    used_ = at + bytes;
    return memory_->address() + at;
  }

  // Also where the host cannot write by itself.
  void fill(std::byte* at, int byte, std::size_t bytes) { gpu_.set(at, byte, bytes); }

  bool holds(const std::byte* at) const { return at >= address() && at < address() + bytes(); }

  QueuePlace place() const { return place_; }
  std::byte* address() const { return memory_->address(); }
  std::size_t bytes() const { return memory_->bytes(); }
  DmaBuf export_dma_buf() const { return gpu_.export_dma_buf(address(), bytes()); }

 private:
  Gpu& gpu_;
  const QueuePlace place_;
  std::unique_ptr<DeviceMemory> memory_;
  std::size_t used_ = 0;
};

}  // namespace chime::host::mlx5
