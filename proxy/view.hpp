// What device code sees of the proxy: FIFOs as channels of a context, what it knows of memory here,
// and what both sides share. This is the only file that turns it into the structs that kernels
// read.
//
// What kernels alone use lies in the device's memory, and is written there by a copy, once. What
// the proxy reads or writes, and all that host operations use, is the host's.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "chime/abi/channel.h"
#include "chime/abi/nic_memory.h"
#include "host/gpu/gpu.hpp"
#include "host/transport/transport.hpp"
#include "proxy/fifo.hpp"
#include "proxy/lost_peers.hpp"

namespace chime::proxy {

// The proxy's part of a Context.
struct ContextView {
  abi::Channels channels;
  abi::NicMemory memory;
};

class View {
 public:
  struct Shape {
    int n_pes;
    unsigned kernel_fifos;  // a power of two, at most 64. The host has one of its own
    unsigned depth;         // slots of each: a power of two
    std::uint8_t flags;     // of the FIFOs: abi::kProxyUnordered...
    std::span<std::byte> heap;
  };
  // `leads_to(pe)`: whether the proxy does.
  View(host::Gpu& gpu, const Shape& shape, const std::function<bool(int pe)>& leads_to);
  View(const View&) = delete;  // the host's part points to that of kernels

  const ContextView& of(host::ContextOwner owner) const {
    return owner == host::ContextOwner::kKernels ? kernels_ : host_;
  }
  // What both know of registered buffers.
  abi::NicBuffers& buffers() const { return *buffers_; }
  // All FIFOs, of kernels and of the host.
  std::span<Fifo> fifos() { return fifos_; }
  // Where their posters record failures.
  std::span<const abi::ChannelFault> faults() const { return faults_; }

 private:
  std::unique_ptr<host::DeviceMemory> device_memory_, host_memory_, staging_memory_;
  std::unique_ptr<LostPeers> lost_;
  std::vector<Fifo> fifos_;
  ContextView kernels_, host_;
  abi::NicBuffers* buffers_ = nullptr;
  std::span<const abi::ChannelFault> faults_;
};

}  // namespace chime::proxy
