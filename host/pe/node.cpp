#include "host/pe/node.hpp"

#include <algorithm>

namespace chime::host {

NodePlace place_among(std::span<const int> peers, int pe) {
  const auto lower = std::lower_bound(peers.begin(), peers.end(), pe) - peers.begin();
  return {static_cast<int>(lower), static_cast<int>(peers.size())};
}

NodePlace Node::place(const bootstrap::Bootstrap& bootstrap) {
  std::lock_guard lock(mutex_);
  if (!place_) place_ = place_among(bootstrap.node_peers(), bootstrap.rank());
  return *place_;
}

}  // namespace chime::host
