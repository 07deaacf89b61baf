// Everything that goes through libfabric's endpoint.
#pragma once

#include "host/transport/ofi/fabric/memory.hpp"
#include "host/transport/ofi/requests/wire.hpp"

namespace chime::host::ofi {

class FabricWire final : public Wire {
 public:
  // All of them outlive this. `may_inject`: the host can read what is sent.
  FabricWire(const Endpoint& endpoint, Memory& memory, const ProviderFacts& facts, bool may_inject)
      : endpoint_(endpoint), memory_(memory), facts_(facts), may_inject_(may_inject) {}

  const ProviderFacts& facts() const override { return facts_; }

  long post(const PeerName& peer, Request& request) override;
  long post(const PeerName& peer, MessageBatch& batch) override;
  long post(Arrival& arrival) override;

  long read(std::span<Completion> completions) override;
  Failure take_failure() override;

  std::size_t piece_of(std::size_t bytes) const override;
  int idle_descriptor() const override {
    if (endpoint_.descriptor() < 0) return HostDriven::kNoDescriptor;
    return endpoint_.may_sleep() ? endpoint_.descriptor() : HostDriven::kLookSoon;
  }

 private:
  std::uint64_t inject_flag(std::size_t bytes) const;

  const Endpoint& endpoint_;
  Memory& memory_;
  const ProviderFacts& facts_;
  const bool may_inject_;
};

}  // namespace chime::host::ofi
