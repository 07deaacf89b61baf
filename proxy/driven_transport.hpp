// A transport that the host drives, made one whose queues kernels write: between the two stand
// FIFOs and the proxy's thread.
//
// How peers are brought together, and what is known of their loss, stays the transport's business.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "host/gpu/gpu.hpp"
#include "host/options/proxy.hpp"
#include "host/transport/channels/tables.hpp"
#include "host/transport/transport.hpp"
#include "proxy/counts/counts_file.hpp"
#include "proxy/heap_words.hpp"
#include "proxy/progress.hpp"
#include "proxy/view.hpp"

namespace chime::proxy {

class DrivenTransport final : public host::Transport {
 public:
  struct Setup {
    int my_pe, n_pes, node_pes;
    host::Gpu& gpu;
    std::span<std::byte> heap;  // as large on every PE
    ProxyOptions options;
    Progress::Failed failed;  // see there
    // Called once, when the view is made, for the owner of this PE's words. None, or null: the
    // processor.
    std::function<std::unique_ptr<host::WordOwner>()> words = {};
    // The same where the fabric has the device update them: a context of kernels, where by a NIC.
    std::function<std::optional<Context>()> words_by_nic = {};
  };
  // REQUIRES: fabric->host_driven().
  DrivenTransport(std::unique_ptr<host::Transport> fabric, const Setup& setup);

  host::Capabilities capabilities() const override { return fabric_->capabilities(); }
  std::string describe() const override { return fabric_->describe(); }

  host::OwnEndpointInfo own_endpoint_info() const override { return fabric_->own_endpoint_info(); }
  host::EndpointInfoBytes offer(int pe) override { return fabric_->offer(pe); }
  host::Acceptance accept(int pe, const host::PeerEndpointInfo& endpoint_info) override {
    return fabric_->accept(pe, endpoint_info);
  }
  void confirm(int pe, std::span<const std::byte> receipt) override;
  std::string why_not(int pe) const override { return fabric_->why_not(pe); }

  bool is_used() const override { return fabric_->is_used(); }
  bool opens_on_demand() const override { return fabric_->opens_on_demand(); }
  bool finds_peers() const override { return fabric_->finds_peers(); }
  bool agrees_with_first(std::span<const std::byte> endpoint_info) override {
    return fabric_->agrees_with_first(endpoint_info);
  }

  // FIFOs are one place, for all its peers.
  host::ChannelNeeds channel_needs() const override {
    return {.places = 1, .kernel_slots = setup_.options.fifos, .host_slots = 1};
  }
  void make_view(host::ChannelTables& tables) override;
  // Starts the thread: what peers ask for is carried out from here on.
  void begin() override;

  std::unique_ptr<host::Registration> register_memory(std::byte* memory,
                                                      std::size_t bytes) override {
    return fabric_->register_memory(memory, bytes);
  }
  void forget_all_memory() override { fabric_->forget_all_memory(); }

  void fail(int pe) override { fabric_->fail(pe); }
  std::optional<std::string> why_lost(int pe) const override { return fabric_->why_lost(pe); }

  std::string activity() const override { return "its proxy: " + words_of(counts_.counts()); }

 private:
  bool leads_to(int pe) const;
  void give_words(host::HostDriven& driven);

  const Setup setup_;
  const CountsFile counts_;
  std::unique_ptr<host::WordOwner> words_;  // from begin() on
  std::set<int> reached_;
  std::optional<View> view_;                       // from make_view() on
  const std::unique_ptr<host::Transport> fabric_;  // may use what is above until it is closed
  std::optional<Progress> progress_;  // from begin() on; last: its thread uses all of the above
};

}  // namespace chime::proxy
