// The calls by which the driver posts, which return at once: libfabric's endpoint
// (requests/fabric_wire), or a test's stand-in.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "host/transport/ofi/fabric/provider_choice.hpp"
#include "host/transport/ofi/requests/batch_pool.hpp"
#include "host/transport/ofi/requests/peer_link.hpp"

namespace chime::host::ofi {

class Wire {
 public:
  struct Completion {
    Posted* what;
    std::size_t bytes;  // of an arrival
  };
  struct Failure {
    Posted* what;  // null: the provider does not say
    bool is_cancelled;
    std::string words;
  };

  virtual ~Wire() = default;
  virtual const ProviderFacts& facts() const = 0;

  // Each 0, or -FI_EAGAIN, or another of libfabric's errors; never waits.
  virtual long post(const PeerName& peer, Request& request) = 0;  // its next piece
  virtual long post(const PeerName& peer, MessageBatch& batch) = 0;
  virtual long post(Arrival& arrival) = 0;

  // The operations that have ended: how many, or -FI_EAGAIN for none, or -FI_EAVAIL:
  // take_failure(). Each posted object ends once, here or there.
  virtual long read(std::span<Completion> completions) = 0;
  virtual Failure take_failure() = 0;

  // How much of a request goes at once.
  virtual std::size_t piece_of(std::size_t bytes) const = 0;
  // As HostDriven's.
  virtual int idle_descriptor() const = 0;
};

}  // namespace chime::host::ofi
