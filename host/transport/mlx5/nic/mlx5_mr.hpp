// The symmetric heap as the NIC knows it.
//
// With relaxed ordering it has two keys. Writes under the one for data may pass each other on the
// path to memory (PCIe and the CPU take them faster). Signals, atomics and small puts go under the
// strict one, which keeps PCIe's order, so none of them overtakes earlier data. Without it, one key
// serves both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "host/gpu/gpu.hpp"
#include "host/transport/mlx5/nic/mlx5_device.hpp"

namespace chime::host::mlx5 {

class RegisteredHeap {
 public:
  // By dma-buf if the memory has one, else by address (nvidia-peermem for a GPU's, or the host's
  // own). Throws Error that names every method that was tried.
  RegisteredHeap(const Device& device, Gpu& gpu, const DeviceMemory& heap);

  // Address of the heap's start in work requests, here and at peers: requests carry offsets.
  static constexpr std::uint64_t kStart = 0;

  std::uint32_t key() const { return data_->rkey; }  // equals the local key on mlx5
  std::uint32_t strict_key() const { return strict_ ? strict_->rkey : key(); }
  bool is_relaxed() const { return strict_ != nullptr; }
  const std::string& how() const { return how_; }  // "dma-buf"

 private:
  MemoryKey data_, strict_;  // strict_: null where data_ is strict itself
  std::string how_;
};

// Memory that only this PE's work requests name, the host's or the GPU's, by its address.
MemoryKey register_buffer(const Device& device, Gpu& gpu, std::byte* memory, std::size_t bytes);

}  // namespace chime::host::mlx5
