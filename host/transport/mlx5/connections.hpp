// This PE's NIC and what it is connected to: one mlx5 port, the heap registered with it, queue
// pairs to every PE, this one included, and what the peers have shown of theirs.
//
// The constructor makes everything that this PE can make alone; then each peer's card is accepted,
// and its receipt confirmed.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "host/gpu/gpu.hpp"
#include "host/transport/mlx5/card.hpp"
#include "host/transport/mlx5/nic/mlx5_device.hpp"
#include "host/transport/mlx5/nic/mlx5_mr.hpp"
#include "host/transport/mlx5/nic/softnic_activation.hpp"
#include "host/transport/mlx5/options.hpp"
#include "host/transport/mlx5/queues/pe_queues.hpp"
#include "host/transport/transport.hpp"

namespace chime::host::mlx5 {

// This PE in its job.
struct NicPlace {
  int my_pe;
  int n_pes;
  std::string job;  // names the softnic's fabric
  int node_pe = 0;  // its place among the PEs of its node
};

class Connections {
 public:
  // Throws Error where there is no NIC that does. `gpu` outlives it; so does the heap.
  Connections(const NicPlace& place, Gpu& gpu, const DeviceMemory& heap, const NicOptions& options);

  Card card() const;
  std::vector<std::uint32_t> offer(int pe) const;  // numbers of this PE's queue pairs for it
  // Throws Error where PEs do not fit together.
  Acceptance accept(int pe, const PeerCard& theirs);
  void confirm(int pe, DataOrder order);

  // Whether `pe` has accepted and was accepted.
  bool reaches(int pe) const { return is_confirmed_[static_cast<std::size_t>(pe)]; }
  std::string why_not(int pe) const;

  // Of PEs that it reaches: the heap as requests name it; whether this PE takes it that its writes
  // arrive there in the order in which they were posted.
  const Card& card_of(int pe) const { return cards_[static_cast<std::size_t>(pe)]; }
  bool counts_on_order(int pe) const;

  // Slots 0 .. options().slots - 1 are kernels', those behind them the host's.
  QueuePair& queue_pair(int pe, unsigned slot) const { return queues_.at(pe, slot); }
  unsigned slots() const { return queues_.slots(); }
  Scratch scratch(ContextOwner owner) const { return queues_.scratch(owner); }

  // Ends a queue pair that is given up: whatever is in it is flushed. Nothing if it has ended; from
  // any thread.
  void to_error(int pe, unsigned slot);

  MemoryKey register_buffer(std::byte* memory, std::size_t bytes) const;

  int n_pes() const { return place_.n_pes; }
  const NicOptions& options() const { return device_.options(); }
  const DeviceCapabilities& capabilities() const { return device_.capabilities(); }

  // "mlx5_0 port 1 (the only active mlx5 port), InfiniBand, LID 7; queue pairs of 1024 blocks: 4 of
  // kernels by devx in the device's memory, 2 of the host by verbs; heap registered as host memory;
  // doorbells rung by kernels; writes in order, as all NICs say".
  std::string describe() const;

 private:
  void check_fits(int pe, const Card& theirs, std::size_t queue_pairs) const;
  Route route_to(const Card& theirs, std::uint32_t queue_pair) const;

  const NicPlace place_;
  Gpu& gpu_;
  // The order of members is that of making; nothing outlives what it stands on.
  ActiveSoftnic softnic_;
  Device device_;
  const std::size_t heap_bytes_;
  RegisteredHeap heap_;
  PeQueues queues_;
  const std::uint32_t psn_;
  std::mutex one_ends_;
  std::set<std::pair<int, unsigned>> ended_;  // {pe, slot} of those moved to error
  std::vector<Card> cards_;                   // [pe], when accepted, or why it was not
  std::vector<DataOrder> orders_;             // [pe], of what is written there
  std::vector<bool> is_confirmed_;            // [pe]
};

}  // namespace chime::host::mlx5
