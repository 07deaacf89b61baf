// The driver as both sides of the bounce see it: it has the links to peers.
#pragma once

#include <span>
#include <string>

#include "host/transport/ofi/requests/message.hpp"
#include "host/transport/ofi/requests/peer_link.hpp"

namespace chime::host::ofi {

class RequestSink {
 public:
  virtual ~RequestSink() = default;

  // Nothing, where the peer is lost; it may be lost by this.
  virtual void send(PeerLink& link, const Message& message, std::span<const std::byte> body) = 0;
  // Moves data between memory here and the peer's pool, at an offset. Calls
  // Target::on_internal_request() when the provider has finished. REQUIRES: not lost.
  virtual void run(PeerLink& link, const HostRequest& internal_request, void* task) = 0;

  // A put's data lies at `wanted.here` now, and the host reads it: it goes in a message.
  virtual void on_carried(PeerLink& link, Request& put) = 0;
  // All pieces of a request have ended: with its status.
  virtual void on_ended(PeerLink& link, Request& request) = 0;
  // The device has let go of a request to a lost peer.
  virtual void on_let_go(Request& request) = 0;

  virtual void lose(PeerLink& link, const std::string& why) = 0;
  virtual void lose_all(const std::string& why) = 0;
};

}  // namespace chime::host::ofi
