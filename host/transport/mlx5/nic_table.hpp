// What device code sees of the NIC (chime/abi/channel.h, nic_memory.h), filled from the connected
// transport. This is the only file that turns the transport's words into the structs that kernels
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
#include "host/transport/mlx5/mlx5_transport.hpp"

namespace chime::host {

// abi::Channels::id
inline constexpr std::uint32_t kKernelContextId = 0;
inline constexpr std::uint32_t kHostContextId = 1;

// The NIC's part of a Context.
struct NicView {
  abi::Channels channels;
  abi::NicMemory memory;
};

// Of the queue pairs of an owner: [pe][slot].
struct NicFaults {
  std::span<abi::ChannelFault> all;
  unsigned slots = 0;       // to each PE
  unsigned first_slot = 0;  // of the transport's

  std::span<abi::ChannelFault> of(int pe) const {
    return all.subspan(static_cast<std::size_t>(pe) * slots, slots);
  }
};

class NicTable {
 public:
  // Scratch memory that the table takes: what the transport is asked for.
  static ScratchBytes scratch(int n_pes, const NicOptions& options);

  // `nic` is connected, and opened with the same options.
  NicTable(const Mlx5Transport& nic, Gpu& gpu, const DeviceMemory& heap, int n_pes,
           const NicOptions& options);
  NicTable(const NicTable&) = delete;  // the host's part points to that of kernels

  // The default context of kernels; and that of host operations, whose queue pairs no kernel uses.
  const NicView& kernels() const { return kernels_; }
  const NicView& host() const { return host_; }
  const NicFaults& faults_of_kernels() const { return faults_of_kernels_; }
  const NicFaults& faults_of_host() const { return faults_of_host_; }
  // What both know of registered buffers, with room for abi::kNicMostBuffers in each of its tables.
  abi::NicBuffers& buffers() const { return *buffers_; }

 private:
  std::unique_ptr<DeviceMemory> device_memory_, host_memory_;
  NicView kernels_, host_;
  NicFaults faults_of_kernels_, faults_of_host_;
  abi::NicBuffers* buffers_;
};

}  // namespace chime::host
