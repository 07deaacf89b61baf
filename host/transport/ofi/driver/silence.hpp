// Finds peers that have work and show no sign of life. A provider need not notice that a peer is
// gone: tcp;ofi_rxm tries for ever to connect, and an atomic that was asked for may never be
// answered.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

#include "host/transport/ofi/driver/outbox.hpp"
#include "host/transport/ofi/requests/peer_links.hpp"
#include "host/transport/ofi/requests/request.hpp"

namespace chime::host::ofi {

class Silence {
 public:
  // All outlive it. `timeout`: of a peer that has work; 0: none is ever lost so.
  Silence(std::chrono::nanoseconds timeout, Requests& requests, PeerLinks& links,
          const Outbox& outbox)
      : timeout_(timeout), requests_(requests), links_(links), outbox_(outbox) {}

  // Calls `lose` for each peer whose time is over. Looks 16 times in a timeout, however often it is
  // called.
  void look(const std::function<void(PeerLink&)>& lose);

 private:
  using Clock = std::chrono::steady_clock;

  void find_the_awaited();
  bool is_over(PeerLink& link, Clock::time_point now, bool was_away) const;

  const std::chrono::nanoseconds timeout_;
  Requests& requests_;
  PeerLinks& links_;
  const Outbox& outbox_;
  Clock::time_point last_look_ = {};
  std::uint64_t looks_ = 0;
};

}  // namespace chime::host::ofi
