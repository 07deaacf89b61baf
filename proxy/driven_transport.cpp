#include "proxy/driven_transport.hpp"

#include <utility>

namespace chime::proxy {

DrivenTransport::DrivenTransport(std::unique_ptr<host::Transport> fabric, const Setup& setup)
    : setup_(setup), counts_(setup.my_pe), fabric_(std::move(fabric)) {}

void DrivenTransport::confirm(int pe, std::span<const std::byte> receipt) {
  fabric_->confirm(pe, receipt);
  reached_.insert(pe);
}

// A transport that finds its peers reaches all, as far as is known, if it reaches itself.
bool DrivenTransport::leads_to(int pe) const {
  return reached_.contains(finds_peers() ? setup_.my_pe : pe);
}

void DrivenTransport::give_words(host::HostDriven& driven) {
  if (driven.owns_words()) {
    const auto by_nic = setup_.words_by_nic ? setup_.words_by_nic() : std::nullopt;
    if (by_nic) driven.update_by_nic(*by_nic);
    return;
  }
  if (setup_.words) words_ = setup_.words();
  if (!words_) words_ = std::make_unique<HeapWords>(setup_.heap);
  driven.serve(*words_);
}

void DrivenTransport::make_view(host::ChannelTables& tables) {
  const ProxyOptions& options = setup_.options;
  const View::Shape shape = {.n_pes = setup_.n_pes,
                             .depth = options.depth,
                             .flags = abi::kProxyUnordered | abi::kProxyUnorderedAtomics,
                             .heap = setup_.heap};
  view_.emplace(
      setup_.gpu, shape, [this](int pe) { return leads_to(pe); }, tables);
}

void DrivenTransport::begin() {
  const ProxyOptions& options = setup_.options;
  host::HostDriven& driven = *fabric_->host_driven();
  give_words(driven);
  progress_.emplace(driven, view_->fifos(),
                    Progress::Settings{.carrier = {.heap_bytes = setup_.heap.size(),
                                                   .batch = options.batch,
                                                   .my_pe = setup_.my_pe},
                                       .pause = Pause::limits_beside(setup_.node_pes),
                                       .cpu = options.cpu,
                                       .sleep = &view_->sleep()},
                    counts_.counts(), setup_.failed);
}

}  // namespace chime::proxy
