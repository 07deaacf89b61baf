// Everything that goes to peers: the open batch of messages of each, and the messages and transfers
// that the provider has no room for. These wait in the order of their peer, so that a peer that is
// being connected, or is gone, keeps no other one waiting.
#pragma once

#include <cstdint>
#include <vector>

#include "host/transport/ofi/requests/batch_pool.hpp"
#include "host/transport/ofi/requests/peer_link.hpp"
#include "host/transport/ofi/requests/wire.hpp"

namespace chime::host::ofi {

class Outbox {
 public:
  // Hears how it went.
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void on_taken(PeerLink& link, Request& request) = 0;
    // The provider does not take it, for `error` of the system. The owner discards the link.
    virtual void on_refused(PeerLink& link, const Posted& posted, int error) = 0;
  };

  // All outlive it.
  Outbox(int my_pe, Wire& wire, BatchPool& batches, Owner& owner)
      : my_pe_(my_pe), wire_(wire), batches_(batches), owner_(owner) {}

  // The link's open batch, with room for the message. It leaves when it is full, or with
  // close_batches().
  MessageBatch& open_batch(PeerLink& link, const Message& message);
  void close_batches();
  bool has_open_batches() const { return !writing_.empty(); }

  // To the provider, now or when it has room. REQUIRES: not lost.
  void hand_over(PeerLink& link, Posted& posted);
  // Tries again what the provider had no room for.
  void drain_all();
  // The links that wait for room.
  const std::vector<PeerLink*>& waiting() const { return in_line_; }

  // The link has its name from here on: what waited for that goes.
  void begin(PeerLink& link);
  // A message of its own, past all that waits: lost, if there is no room for it now.
  void send_past(const PeerLink& link, const Message& message);
  // The link is lost: nothing of it goes any more.
  void discard(PeerLink& link);

 private:
  MessageBatch& batch_to(const PeerLink& link);
  void start_writing(PeerLink& link);
  void close(PeerLink& link);
  void drain(PeerLink& link);
  bool offer(PeerLink& link);

  const int my_pe_;
  Wire& wire_;
  BatchPool& batches_;
  Owner& owner_;
  std::vector<PeerLink*> writing_, closing_;  // with an open batch
  std::vector<PeerLink*> in_line_;
};

}  // namespace chime::host::ofi
