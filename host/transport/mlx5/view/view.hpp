// What device code sees of the NIC (chime/abi/channel.h, nic_memory.h), filled once its peers are
// connected. This is the only file that turns what the host knows into the structs that kernels
// read.
//
// What kernels alone use while they run lies in the device's memory, and is written there by a
// copy, once. What the host reads or writes meanwhile, and all that host operations use, is the
// host's.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "chime/abi/channel.h"
#include "chime/abi/nic_memory.h"
#include "host/gpu/gpu.hpp"
#include "host/transport/mlx5/connections.hpp"
#include "host/transport/mlx5/view/opening_desk.hpp"

namespace chime::host::mlx5 {

// The NIC's part of a Context.
struct NicView {
  abi::Channels channels;
  abi::NicMemory memory;
};

// The failures of an owner's queue pairs: [place][slot].
struct NicFaults {
  std::span<abi::ChannelFault> all;
  unsigned slots = 0;       // of each place
  unsigned first_slot = 0;  // of the connections'

  std::span<abi::ChannelFault> of(unsigned place) const {
    return all.subspan(std::size_t{place} * slots, slots);
  }
};

class View {
 public:
  // Of the peers that are connected, and if they are connected on demand, of those that will be.
  View(const Connections& nic, Gpu& gpu, const DeviceMemory& heap);
  View(const View&) = delete;  // the host's part points to that of kernels

  // Whom device code has asked for since the last call.
  std::vector<int> take_wanted() { return desk_ ? desk_->take_wanted() : std::vector<int>{}; }
  // Device code that waits for `pe` goes on: with its place, or without.
  void answer(int pe, bool is_reached);
  // Whose answer a wait at this address is for.
  std::optional<int> opening_at(std::uint64_t address) const {
    return desk_ ? desk_->answered_at(address) : std::nullopt;
  }

  // The default context of kernels; and that of host operations, whose queue pairs no kernel uses.
  const NicView& of(ContextOwner owner) const {
    return owner == ContextOwner::kKernels ? kernels_ : host_;
  }
  const NicFaults& faults_of(ContextOwner owner) const {
    return owner == ContextOwner::kKernels ? faults_of_kernels_ : faults_of_host_;
  }
  // Where faults_of() has those of `pe`; nullopt: none leads to it.
  std::optional<unsigned> place_of(int pe) const { return nic_.place_of(pe); }
  // What both know of registered buffers, with room for abi::kNicMostBuffers in each of its tables.
  abi::NicBuffers& buffers() const { return *buffers_; }

 private:
  std::unique_ptr<DeviceMemory> device_memory_, host_memory_;
  NicView kernels_, host_;
  NicFaults faults_of_kernels_, faults_of_host_;
  abi::NicBuffers* buffers_;
  const Connections& nic_;
  const std::uint8_t queue_flags_;
  std::optional<OpeningDesk> desk_;  // where ways are opened on demand
};

}  // namespace chime::host::mlx5
