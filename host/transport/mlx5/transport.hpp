// Peers that kernels reach by writing to the NIC's queues.
#pragma once

#include <memory>
#include <optional>

#include "host/transport/channels/tables.hpp"
#include "host/transport/mlx5/connections.hpp"
#include "host/transport/mlx5/nic/device_watch.hpp"
#include "host/transport/mlx5/view/view.hpp"
#include "host/transport/transport.hpp"

namespace chime::host {

class Mlx5Transport final : public Transport {
 public:
  // Throws Error where there is no NIC that does. `gpu` and `heap` outlive it.
  // `gone`: called as DeviceWatch does, when the device is gone. Empty: nobody wants to know.
  Mlx5Transport(const mlx5::NicPlace& place, Gpu& gpu, const DeviceMemory& heap,
                const NicOptions& options, mlx5::DeviceWatch::Gone gone = nullptr);

  Capabilities capabilities() const override;
  std::string describe() const override { return connections_.describe(); }
  std::vector<Shortfall> shortfalls() const override { return connections_.shortfalls(); }

  OwnEndpointInfo own_endpoint_info() const override {
    return {mlx5::write_endpoint_info(connections_.endpoint_info())};
  }
  EndpointInfoBytes offer(int pe) override { return mlx5::write_offer(connections_.offer(pe)); }
  Acceptance accept(int pe, const PeerEndpointInfo& endpoint_info) override {
    return connections_.accept(pe, endpoint_info);
  }
  void confirm(int pe, std::span<const std::byte> receipt) override {
    connections_.confirm(pe, mlx5::read_receipt(pe, receipt));
  }
  std::string why_not(int pe) const override { return connections_.why_not(pe); }

  bool opens_on_demand() const override { return connections_.opens_on_demand(); }
  bool agrees_with_first(std::span<const std::byte> endpoint_info) override;
  std::string why_no_offer(int pe) const override { return connections_.why_no_offer(pe); }
  void withdraw(int pe) override { connections_.withdraw(pe); }
  std::vector<int> take_wanted() override { return view_->take_wanted(); }
  void answer(int pe, bool is_reached) override { view_->answer(pe, is_reached); }

  ChannelNeeds channel_needs() const override;
  void make_view(ChannelTables& tables) override;

  std::unique_ptr<Registration> register_memory(std::byte* memory, std::size_t bytes) override;

  void fail(int pe) override;
  std::string end_given_up() override;
  std::optional<std::string> why_lost(int pe) const override;

  // For this folder's own tests.
  mlx5::Connections& connections() { return connections_; }

 private:
  Gpu& gpu_;
  const DeviceMemory& heap_;
  mlx5::Connections connections_;
  std::optional<mlx5::View> view_;  // from make_view() on
  std::optional<mlx5::DeviceWatch> watch_;
};

}  // namespace chime::host
