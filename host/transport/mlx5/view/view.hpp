// The NIC as device code sees it: its queue pairs in the PE's channel tables, filled once its peers
// are connected. This is the only file that turns the host's knowledge of them into the structs
// that kernels read.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "chime/abi/channel.h"
#include "host/gpu/gpu.hpp"
#include "host/transport/channels/tables.hpp"
#include "host/transport/mlx5/connections.hpp"

namespace chime::host::mlx5 {

class View {
 public:
  // The view of the peers that are connected, and, if peers are connected on demand, of those that
  // will be. All arguments outlive it.
  View(const Connections& nic, Gpu& gpu, const DeviceMemory& heap, ChannelTables& tables);

  // The PEs that device code has asked for since the last call.
  std::vector<int> take_wanted() {
    return opening_requests() ? opening_requests()->take_wanted() : std::vector<int>{};
  }
  // Device code that waits for `pe` goes on: with its place, or without.
  void answer(int pe, bool is_reached);

  // The failures of an owner's queue pairs: to `pe`, none if no place leads there; of all,
  // [place][slot].
  std::span<const abi::ChannelFault> faults_of(ContextOwner owner, int pe) const;
  std::span<const abi::ChannelFault> faults_of(ContextOwner owner) const;

 private:
  OpeningRequests* opening_requests() const { return tables_.opening_requests(); }
  // As the tables count them, of what is the NIC's `place`.
  unsigned place_in_tables(unsigned place) const { return first_place_ + place; }
  void fill(ContextOwner owner);
  void lead(int pe);

  const Connections& nic_;
  ChannelTables& tables_;
  const std::uint8_t queue_flags_;
  const unsigned first_place_;
};

}  // namespace chime::host::mlx5
