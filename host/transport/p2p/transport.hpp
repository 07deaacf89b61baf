// Peers whose memory is mapped here: local peers on the CPU device, GPUs that can map each other.
//
// A local peer that is a thread of this process is not mapped a second time
// (host/gpu/process_memory.hpp).
#pragma once

#include <memory>
#include <vector>

#include "host/gpu/gpu.hpp"
#include "host/options/p2p.hpp"
#include "host/transport/setup.hpp"
#include "host/transport/transport.hpp"

namespace chime::host {

class P2pTransport final : public Transport {
 public:
  // Heaps of PEs of this PE's group are mapped; without groups its own alone.
  P2pTransport(int my_pe, int n_pes, Gpu& gpu, std::shared_ptr<DeviceMemory> heap,
               P2pGroups groups);

  Capabilities capabilities() const override;
  std::string describe() const override;

  OwnEndpointInfo own_endpoint_info() const override;
  // In the order of PEs, so that all name the same two whose heaps differ.
  Acceptance accept(int pe, const PeerEndpointInfo& endpoint_info) override;
  std::string why_not(int pe) const override;

  void make_view(ChannelTables&) override;
  void view(ContextOwner owner, Context& context) const override;

  void take_mapping(int pe) override;
  // On a GPU, kernels that begin when this has returned find it unmapped, too; of others, stores to
  // it may go on, and nobody sees them. Waits for the device.
  void fail(int pe) override;

 private:
  std::shared_ptr<DeviceMemory> map(int pe, const PeerEndpointInfo& endpoint_info) const;
  void check_same_size(int pe, std::size_t bytes);
  std::byte** kernels_table() const;  // REQUIRES: for_kernels_

  const int my_pe_;
  Gpu& gpu_;
  const std::shared_ptr<DeviceMemory> heap_;
  const P2pGroups groups_;
  std::vector<std::shared_ptr<DeviceMemory>> mapped_;
  struct {
    int pe = -1;
    std::size_t bytes = 0;
  } first_;                                    // the first that was accepted
  std::vector<std::byte*> peer_heap_;          // [n_pes], null: not mapped
  std::unique_ptr<DeviceMemory> for_kernels_;  // the same
};

std::unique_ptr<Transport> open_p2p(const TransportSetup& setup);

}  // namespace chime::host
