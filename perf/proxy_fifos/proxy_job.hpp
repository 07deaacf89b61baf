// A PE in a process of its own that reaches all its peers by the proxy, over a fabric of the
// program's: kernels and host threads on one side of real FIFOs and the real thread.
#pragma once

#include <chime/chime.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "host/gpu/factory.hpp"
#include "host/transport/channels/tables.hpp"
#include "proxy/driven_transport.hpp"

namespace chime::perf {

class ProxyJob {
 public:
  ProxyJob(std::unique_ptr<host::Transport> fabric, int n_pes, std::size_t heap_bytes,
           const ProxyOptions& options)
      : heap_((heap_bytes + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t)),
        peer_heap_(static_cast<std::size_t>(n_pes)),
        dead_(static_cast<std::size_t>(n_pes) / 64 + 1) {
    const auto bytes = std::as_writable_bytes(std::span(heap_));
    peer_heap_[0] = bytes.data();  // the others' are not mapped
    driven_ = std::make_unique<proxy::DrivenTransport>(
        std::move(fabric),
        proxy::DrivenTransport::Setup{.my_pe = 0,
                                      .n_pes = n_pes,
                                      .node_pes = 1,
                                      .gpu = *gpu_,
                                      .heap = bytes,
                                      .options = options,
                                      .failed = [](const std::string& why) {
                                        std::fprintf(stderr, "the proxy ended: %s\n", why.c_str());
                                        std::exit(1);
                                      }});
    for (int pe = 1; pe < n_pes; ++pe) driven_->confirm(pe, {});
    const host::ChannelNeeds needs = driven_->channel_needs();
    tables_ = std::make_unique<host::ChannelTables>(*gpu_, n_pes, std::span(&needs, 1));
    driven_->make_view(*tables_);
    tables_->publish();
    driven_->begin();
  }

  Context context(host::ContextOwner owner) {
    Context context;
    context.abi_version = kAbiVersion;
    context.size = sizeof(Context);
    context.pe.my_pe = 0;
    context.pe.n_pes = static_cast<std::int32_t>(peer_heap_.size());
    context.pe.heap = peer_heap_[0];
    context.pe.heap_bytes = heap_.size() * sizeof(std::uint64_t);
    context.pe.peer_heap = peer_heap_.data();
    context.pe.dead = dead_.data();
    context.pe.abort = &abort_;
    context.pe.error = context.pe.async_error = &error_;
    context.pe.wait_timeout_ns = 60'000'000'000;
    context.pe.amo_path = Path::kProxy;
    tables_->view(owner, context);
    return context;
  }
  // Symmetric, as words.
  std::uint64_t* words() { return heap_.data(); }

 private:
  std::vector<std::uint64_t> heap_;
  std::vector<std::byte*> peer_heap_;
  std::vector<std::uint64_t> dead_;  // a bit for each
  abi::AbortWord abort_{};
  abi::ErrorRecord error_{};
  const std::unique_ptr<host::Gpu> gpu_ = host::open_simt_gpu();
  std::unique_ptr<host::ChannelTables> tables_;
  std::unique_ptr<proxy::DrivenTransport> driven_;
};

}  // namespace chime::perf
