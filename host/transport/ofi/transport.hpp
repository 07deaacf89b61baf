// Peers that the host reaches through libfabric.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/gpu/gpu.hpp"
#include "host/transport/ofi/driver/driver.hpp"
#include "host/transport/ofi/endpoint_info.hpp"
#include "host/transport/ofi/fabric/leftovers.hpp"
#include "host/transport/ofi/requests/fabric_wire.hpp"
#include "host/transport/transport.hpp"

namespace chime::host {
namespace ofi {

struct PePlace {
  int my_pe, n_pes;
  std::uint64_t timeout_ns;  // as FabricOptions has it
};

}  // namespace ofi

class OfiTransport final : public Transport, private ofi::Names {
 public:
  // Throws Error where the provider does not open. `gpu` and `heap` outlive it, and so does
  // `endpoint_infos`, by which it finds its peers when they are first touched. Null: each is
  // accepted before.
  OfiTransport(const ofi::PePlace& place, Gpu& gpu, const DeviceMemory& heap,
               ofi::Provider provider, EndpointInfoFinder* endpoint_infos = nullptr);

  Capabilities capabilities() const override;
  std::string describe() const override;

  OwnEndpointInfo own_endpoint_info() const override {
    return {ofi::write_endpoint_info(endpoint_info())};
  }
  Acceptance accept(int pe, const PeerEndpointInfo& endpoint_info) override;
  std::string why_not(int pe) const override;

  bool is_used() const override { return why_unused_.empty(); }
  bool opens_on_demand() const override { return endpoint_infos_ != nullptr; }
  bool finds_peers() const override { return endpoint_infos_ != nullptr; }
  bool agrees_with_first(std::span<const std::byte> endpoint_info) override;

  // Kernels see nothing of it: their requests are the proxy's to carry here.
  void make_view(ChannelTables&) override {}

  std::unique_ptr<Registration> register_memory(std::byte* memory, std::size_t bytes) override;
  void forget_all_memory() override { memory_.forget_all(); }

  void fail(int pe) override {
    driver_.fail(pe);
    leftovers_.remove();
  }
  std::optional<std::string> why_lost(int pe) const override { return driver_.why_lost(pe); }

  HostDriven* host_driven() override { return &driver_; }

 private:
  void look_for(int pe) override { endpoint_infos_->look_for(pe); }
  std::vector<ofi::Names::Found> take_found() override;

  ofi::EndpointInfo endpoint_info() const;
  ofi::Names::Found name(int pe, std::span<const std::byte> endpoint_info);
  std::string why_unfit(const ofi::EndpointInfo& theirs) const;
  std::string why_malformed(std::span<const std::byte> address) const;

  const ofi::PePlace place_;
  const std::size_t heap_bytes_;
  const ofi::Provider provider_;
  const std::uint64_t pass_;
  const bool takes_puts_;
  const bool bounces_;  // its heap is one that the provider does not know
  EndpointInfoFinder* const endpoint_infos_;
  std::string why_unused_;              // not empty: the job goes by no fabric
  std::map<int, std::string> refused_;  // and why
  ofi::Leftovers leftovers_;
  // Posted objects stand before the endpoint that they are posted to: it may use them until it is
  // closed.
  std::unique_ptr<DeviceMemory> pool_;  // of slots; null on the CPU device
  std::unique_ptr<ofi::Driver::Device> device_;
  ofi::Requests requests_;
  ofi::BatchPool batches_;
  ofi::Endpoint endpoint_;
  ofi::Memory memory_;
  ofi::FabricWire wire_;
  ofi::Driver driver_;
};

}  // namespace chime::host
