// What device code sees of the NIC (chime/abi/channel.h, nic_memory.h), filled from the connected
// transport. This is the only file that turns the transport's words into the structs that kernels
// read.
//
// Everything lies in the transport's scratch memory: host-visible, mapped for the device, and known
// to the NIC, which writes results of atomics into it.
#pragma once

#include <cstddef>

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

class NicTable {
 public:
  // Scratch memory that the table takes: what the transport is asked for.
  static std::size_t bytes(int n_pes, const NicOptions& options);

  // `nic` is connected, and opened with the same options.
  NicTable(const Mlx5Transport& nic, const Gpu& gpu, const DeviceMemory& heap, int n_pes,
           const NicOptions& options);
  NicTable(const NicTable&) = delete;  // the host's part points to that of kernels

  // The default context of kernels; and that of host operations, whose queue pairs no kernel uses.
  const NicView& kernels() const { return kernels_; }
  const NicView& host() const { return host_; }
  // What both know of registered buffers, with room for abi::kNicMostBuffers in each of its tables.
  abi::NicBuffers& buffers() const { return *buffers_; }

 private:
  NicView kernels_, host_;
  abi::NicBuffers* buffers_;
};

}  // namespace chime::host
