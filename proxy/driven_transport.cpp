#include "proxy/driven_transport.hpp"

#include <utility>

namespace chime::proxy {

using host::ContextOwner;

DrivenTransport::DrivenTransport(std::unique_ptr<host::Transport> fabric, const Setup& setup)
    : setup_(setup), counts_(setup.my_pe), words_(setup.heap), fabric_(std::move(fabric)) {}

void DrivenTransport::confirm(int pe, std::span<const std::byte> receipt) {
  fabric_->confirm(pe, receipt);
  reached_.insert(pe);
}

void DrivenTransport::make_view() {
  const ProxyOptions& options = setup_.options;
  const View::Shape shape = {.n_pes = setup_.n_pes,
                             .kernel_fifos = options.fifos,
                             .depth = options.depth,
                             .flags = abi::kProxyUnordered | abi::kProxyUnorderedAtomics,
                             .heap = setup_.heap};
  view_.emplace(setup_.gpu, shape, [this](int pe) { return reached_.contains(pe); });
  buffers_.emplace(view_->buffers());
  host::HostDriven& driven = *fabric_->host_driven();
  driven.serve(words_);
  progress_.emplace(
      driven, view_->fifos(),
      Progress::Settings{.carrier = {.heap_bytes = setup_.heap.size(), .batch = options.batch},
                         .pause = Pause::limits_beside(setup_.node_pes),
                         .cpu = options.cpu},
      counts_.counts(), setup_.failed);
}

void DrivenTransport::view(ContextOwner owner, Context& context) const {
  const ContextView& mine = view_->of(owner);
  context.channels = mine.channels;
  context.nic = mine.memory;
}

std::unique_ptr<host::Registration> DrivenTransport::register_memory(std::byte* memory,
                                                                     std::size_t bytes) {
  return buffers_->add(memory, bytes, 0, fabric_->register_memory(memory, bytes));
}

void DrivenTransport::forget_all_memory() {
  if (buffers_) buffers_->forget_all();
  fabric_->forget_all_memory();
}

// Kernels and host operations wait for slots of their own.
std::optional<host::Scarcity> DrivenTransport::awaited_at(std::uint64_t address) const {
  for (const ContextOwner owner : {ContextOwner::kKernels, ContextOwner::kHost}) {
    const abi::NicStaging& staging = view_->of(owner).memory.staging;
    if (reinterpret_cast<std::uint64_t>(staging.busy) == address)
      return host::Scarcity{"no staging slot came free",
                            "there are " + std::to_string(staging.slots) +
                                ", for memory here that is neither in the heap nor registered by "
                                "chimex_buffer_register"};
  }
  return std::nullopt;
}

}  // namespace chime::proxy
