// This PE's NIC and what it is connected to: one mlx5 port, the heap registered with it, queue
// pairs to PEs, this one included, and what the peers have shown of theirs.
//
// The constructor makes everything that this PE can make alone; then a place is offered to each
// peer, its endpoint info accepted, and its receipt confirmed: at init, or when it is first
// touched. Any thread may call functions that read; one thread at a time connects.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "host/gpu/gpu.hpp"
#include "host/options/nic.hpp"
#include "host/transport/mlx5/endpoint_info.hpp"
#include "host/transport/mlx5/nic/mlx5_device.hpp"
#include "host/transport/mlx5/nic/mlx5_mr.hpp"
#include "host/transport/mlx5/nic/softnic_activation.hpp"
#include "host/transport/mlx5/places.hpp"
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

  EndpointInfo endpoint_info() const;
  // Why no place can be offered to `pe`; empty if one can be.
  std::string why_no_offer(int pe) const;
  // Numbers of this PE's queue pairs for it, whose place is held from here on. REQUIRES:
  // why_no_offer(pe) is empty.
  std::vector<std::uint32_t> offer(int pe);
  // The place is free again, if its queue pairs are as after their creation.
  void withdraw(int pe);
  // Throws Error where PEs do not fit together.
  Acceptance accept(int pe, const PeerEndpointInfo& theirs);
  void confirm(int pe, DataOrder order);

  // Throws Error where this PE cannot be in a job with the one of that endpoint info.
  void check_fits(int pe, const EndpointInfo& theirs) const;

  // Whether `pe` has accepted and was accepted.
  bool reaches(int pe) const;
  std::string why_not(int pe) const;

  // For a PE that it reaches: the heap as requests name it; whether this PE counts on its writes
  // arriving there in the order of posting.
  EndpointInfo endpoint_info_of(int pe) const;
  bool counts_on_order(int pe) const;

  // The place that is held for it; nullopt: none is.
  std::optional<unsigned> place_of(int pe) const;
  unsigned places() const { return places_.count(); }
  // Slots 0 .. options().slots - 1 are kernels', those behind them the host's.
  QueuePair& queue_pair(unsigned place, unsigned slot) const { return queues_.at(place, slot); }
  unsigned slots() const { return queues_.slots(); }
  Scratch scratch(ContextOwner owner) const { return queues_.scratch(owner); }

  // Ends a queue pair that is given up: whatever is in it is flushed. Nothing if it has ended; from
  // any thread.
  void to_error(unsigned place, unsigned slot);

  MemoryKey register_buffer(std::byte* memory, std::size_t bytes) const;

  int n_pes() const { return place_.n_pes; }
  bool opens_on_demand() const { return options().opens_on_demand(n_pes()); }
  ibv_context* context() const { return device_.context(); }
  const NicOptions& options() const { return device_.options(); }
  const DeviceCapabilities& capabilities() const { return device_.capabilities(); }

  // "mlx5_0 port 1 (the only active mlx5 port), InfiniBand, LID 7; queue pairs of 1024 blocks: 4 of
  // kernels by devx in the device's memory, 2 of the host by verbs; heap registered as host memory;
  // doorbells rung by kernels; writes in order, as all NICs say".
  std::string describe() const;
  std::vector<Shortfall> shortfalls() const { return queues_.shortfalls(); }

 private:
  // The facts that a peer has shown.
  struct Peer {
    EndpointInfo endpoint_info;           // when accepted, or why it was not
    DataOrder order = DataOrder::kNoNic;  // of what is written there
    bool is_confirmed = false;
  };
  Peer peer(int pe) const;
  std::vector<DataOrder> orders() const;

  Route route_to(const EndpointInfo& theirs, std::uint32_t queue_pair) const;

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
  std::set<std::pair<unsigned, unsigned>> ended_;  // {place, slot} of those moved to error
  mutable std::mutex mutex_;                       // guards what follows
  Places places_;
  std::unordered_map<int, Peer> peers_;  // that have shown something
};

}  // namespace chime::host::mlx5
