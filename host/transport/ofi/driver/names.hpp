// Where the driver learns the names of peers that are touched, or heard of, for the first time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "host/transport/ofi/requests/peer_link.hpp"

namespace chime::host::ofi {

// By the thread that polls.
class Names {
 public:
  struct Found {
    int pe;
    std::optional<PeerName> name = {};
    std::string why_none = {};  // a sentence, where there is no name
  };

  virtual ~Names() = default;
  // Returns at once. Once for each peer.
  virtual void look_for(int pe) = 0;
  // Names that have come since the last call: one answer for each peer that was looked for, in
  // bounded time.
  virtual std::vector<Found> take_found() = 0;
};

}  // namespace chime::host::ofi
