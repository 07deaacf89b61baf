// A request, from post() until poll() has reported its end, and the memory for all of them.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "host/transport/ofi/requests/order.hpp"
#include "host/transport/ofi/requests/posted.hpp"
#include "host/transport/transport.hpp"

namespace chime::host::ofi {

struct Request : Posted {
  explicit Request(std::uint32_t its_index) : Posted(Kind::kTransfer), index(its_index) {}

  // One bit less than there is room for: it tells pieces (../bounce/initiator) from requests.
  static constexpr std::uint32_t kGenerations = 1u << 31;

  const std::uint32_t index;
  std::uint32_t generation = 0;  // how many were here before it
  HostRequest wanted = {};
  std::uint64_t completion = 0;
  std::size_t moved = 0;  // bytes of a put or get that are through
  std::size_t piece = 0;  // that come next, or are with the provider
  // For a request that goes through bounce buffers: bytes whose pieces were begun, pieces in
  // flight, and how many of these the device copies.
  std::size_t begun = 0;
  unsigned pieces = 0, copies = 0;
  void* internal_request = nullptr;  // not null: it moves a slot's data for this (../bounce/target)
  Order<Request*>::Turn turn = nullptr;  // of a put that something may still overtake
  bool was_in_flight = false;            // when silent peers were last looked for
  bool is_with_provider = false;
  bool is_asked = false;   // its owner, which may answer from here on
  bool is_live = false;    // it has not ended
  bool is_in_use = false;  // nor been reported
  chimex_status status = CHIMEX_OK;

  // Something still uses its memory.
  bool is_held() const { return is_with_provider || copies != 0; }
  // Its name in messages: an answer that comes when it is gone finds nobody.
  std::uint64_t id() const { return std::uint64_t{generation} << 32 | index; }
  bool is_put() const { return wanted.kind == HostRequest::Kind::kPut; }
  bool is_atomic() const { return wanted.kind == HostRequest::Kind::kAtomic; }
};

// Stays where it is: libfabric and links point into it. It grows only by those of lost peers that
// the provider does not give back.
class Requests {
 public:
  Request& take(const HostRequest& wanted, std::uint64_t completion);
  // REQUIRES: reported, and not held.
  void free(Request& request);

  // Null: there is none of this name.
  Request* find(std::uint64_t id);
  // In use, or with the provider.
  template <class Do>
  void for_each(Do act) {
    for (Request& request : all_) act(request);
  }

 private:
  std::deque<Request> all_;
  std::vector<Request*> free_;
};

}  // namespace chime::host::ofi
