// All queue pairs of a PE: those of kernels, where kernels reach them best, and behind them those
// of host operations, which no kernel uses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "host/gpu/gpu.hpp"
#include "host/transport/mlx5/nic/mlx5_device.hpp"
#include "host/transport/mlx5/queues/queue_choice.hpp"
#include "host/transport/mlx5/queues/queue_set.hpp"
#include "host/transport/transport.hpp"

namespace chime::host::mlx5 {

// To each peer there is one for host operations, in the slot behind the kernels'.
inline constexpr unsigned kHostQueuePairs = 1;

// Memory that an owner's requests use beside the queues (results of atomics, staging): registered
// for this PE's own requests, by its address. Zero at first; the host may be unable to touch that
// of kernels.
struct Scratch {
  std::byte* memory = nullptr;
  std::uint32_t key = 0;
};
struct ScratchBytes {
  std::size_t kernels = 0, host = 0;
};

class PeQueues {
 public:
  // Throws Error. `device` and `gpu` outlive it.
  PeQueues(const Device& device, Gpu& gpu, unsigned places, const ScratchBytes& scratch);

  QueuePair& at(unsigned place, unsigned slot) const {
    return slot < slots_of_kernels_ ? kernels_->at(place, slot)
                                    : host_.at(place, slot - slots_of_kernels_);
  }
  unsigned slots() const { return slots_of_kernels_ + kHostQueuePairs; }
  Scratch scratch(ContextOwner owner) const;

  // "queue pairs of 1024 blocks: 4 of kernels by devx in the device's memory, 2 of the host by
  // verbs", and "rung by kernels".
  std::string describe() const;
  std::string describe_doorbells() const { return kernels_->describe_doorbells(); }
  // Transport::shortfalls(): queues in the GPU's memory, registers that kernels write.
  std::vector<Shortfall> shortfalls() const;

 private:
  std::unique_ptr<QueueSet> make_for_kernels(std::size_t scratch_bytes);
  std::unique_ptr<QueueSet> make_for_kernels(const QueueChoice& choice, std::size_t scratch_bytes);
  Doorbells doorbells_of_kernels();
  unsigned n_for_kernels() const { return places_ * slots_of_kernels_; }

  const Device& device_;
  Gpu& gpu_;
  const unsigned places_;
  const unsigned slots_of_kernels_;
  std::unique_ptr<DeviceMemory> mailboxes_;  // of kernels, where a host thread rings for them
  std::string why_host_;                     // why a GPU's kernels have queues in the host's memory
  std::unique_ptr<QueueSet> kernels_;
  QueueSet host_;
};

}  // namespace chime::host::mlx5
