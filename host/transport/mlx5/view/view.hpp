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
#include <span>

#include "chime/abi/channel.h"
#include "chime/abi/nic_memory.h"
#include "host/gpu/gpu.hpp"
#include "host/transport/mlx5/connections.hpp"

namespace chime::host::mlx5 {

// The NIC's part of a Context.
struct NicView {
  abi::Channels channels;
  abi::NicMemory memory;
};

// The failures of an owner's queue pairs: [pe][slot].
struct NicFaults {
  std::span<abi::ChannelFault> all;
  unsigned slots = 0;       // to each PE
  unsigned first_slot = 0;  // of the connections'

  std::span<abi::ChannelFault> of(int pe) const {
    return all.subspan(static_cast<std::size_t>(pe) * slots, slots);
  }
};

class View {
 public:
  View(const Connections& nic, Gpu& gpu, const DeviceMemory& heap);
  View(const View&) = delete;  // the host's part points to that of kernels

  // The default context of kernels; and that of host operations, whose queue pairs no kernel uses.
  const NicView& of(ContextOwner owner) const {
    return owner == ContextOwner::kKernels ? kernels_ : host_;
  }
  const NicFaults& faults_of(ContextOwner owner) const {
    return owner == ContextOwner::kKernels ? faults_of_kernels_ : faults_of_host_;
  }
  // What both know of registered buffers, with room for abi::kNicMostBuffers in each of its tables.
  abi::NicBuffers& buffers() const { return *buffers_; }

 private:
  std::unique_ptr<DeviceMemory> device_memory_, host_memory_;
  NicView kernels_, host_;
  NicFaults faults_of_kernels_, faults_of_host_;
  abi::NicBuffers* buffers_;
};

}  // namespace chime::host::mlx5
