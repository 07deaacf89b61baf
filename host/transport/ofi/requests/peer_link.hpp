// The path to one peer: its name, and the posted objects that the provider has not taken yet.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "host/transport/ofi/requests/order.hpp"
#include "host/transport/ofi/requests/request.hpp"

namespace chime::host::ofi {

struct MessageBatch;

struct PeerName {
  fi_addr_t address = FI_ADDR_NOTAVAIL;
  std::uint64_t heap = 0, key = 0;  // of its first byte
  std::uint64_t pass = 0;           // of batches of messages to it
  bool takes_puts = false;          // as messages: its processor writes its heap
  // All goes through bounce buffers, here and there: the provider does not know one of the heaps.
  bool bounces = false;
  std::uint64_t pool = 0, pool_key = 0;  // of the first byte of its slots
};

// Slots that a peer has of each kind, asked by this PE and for what it asks of this PE.
struct BounceUse {
  unsigned large_asked = 0, small_asked = 0, large_served = 0, small_served = 0;
};

struct PeerLink {
  explicit PeerLink(int its_pe) : pe(its_pe) {}

  const int pe;
  PeerName name = {};
  bool has_name = false;            // else it is looked for, and nothing goes
  std::vector<Request*> unstarted;  // what was posted meanwhile
  Order<Request*> order;
  MessageBatch* open =
      nullptr;              // the batch of messages that messages are added to, not handed over yet
  bool is_writing = false;  // of those that have, or had, an open batch of messages
  bool is_lost = false;     // what is posted fails
  bool is_gone = false;     // it is lost because its PE has ended
  bool is_in_line = true;   // of those that wait: for the provider, or for their name
  std::size_t outstanding = 0;   // requests
  bool has_sign_of_life = true;  // since it was last looked at: a sign of life
  // Something has waited for it since it was looked at before; what is in its line, since this
  // look.
  bool is_awaited = false;
  std::uint64_t in_line_at = 0;
  std::chrono::steady_clock::time_point silent_since = {};
  BounceUse bounce;

  bool has_waiting() const { return first_ != nullptr; }
  Posted& first() { return *first_; }
  void append(Posted& posted) {
    posted.next = nullptr;
    (first_ ? last_->next : first_) = &posted;
    last_ = &posted;
  }
  void drop_first() { first_ = first_->next; }

 private:
  Posted *first_ = nullptr, *last_ = nullptr;
};

}  // namespace chime::host::ofi
