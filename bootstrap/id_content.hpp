// The content of a unique id: the token of a job, and where its hub listens.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bootstrap/hub/tcp.hpp"
#include "bootstrap/hub/token.hpp"
#include "net/socket/address.hpp"

namespace chime::bootstrap {

struct IdContent {
  Token token{};
  std::uint16_t port = 0;
  std::vector<net::Address> addresses{};  // in the order to try, all of that port
};

// Addresses that have no room are left out: five of IPv6 fit, or seventeen of IPv4.
chimex_uniqueid_t id_of(const IdContent& content);
// Throws BootstrapError if `id` is none; the call `makes_ids` makes such.
IdContent content_of(const chimex_uniqueid_t& id, const std::string& makes_ids);

}  // namespace chime::bootstrap
