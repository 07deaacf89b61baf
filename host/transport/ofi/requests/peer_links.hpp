// The links of a PE, by peer. Sparse: a peer without one costs a bit.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "host/transport/ofi/requests/peer_link.hpp"

namespace chime::host::ofi {

class PeerLinks {
 public:
  explicit PeerLinks(int n_pes)
      : n_pes_(n_pes), pages_((static_cast<std::size_t>(n_pes) + kPage - 1) / kPage) {}

  bool exists(int pe) const { return pe >= 0 && pe < n_pes_; }

  // Null: there is none, or no such PE.
  PeerLink* find(int pe) const {
    if (!exists(pe)) return nullptr;
    const std::unique_ptr<Page>& page = pages_[static_cast<std::size_t>(pe) / kPage];
    return page ? (*page)[static_cast<std::size_t>(pe) % kPage].get() : nullptr;
  }
  // It stays where it is. REQUIRES: exists(pe), and there is none.
  PeerLink& add(int pe) {
    std::unique_ptr<Page>& page = pages_[static_cast<std::size_t>(pe) / kPage];
    if (!page) page = std::make_unique<Page>();
    auto& link = (*page)[static_cast<std::size_t>(pe) % kPage];
    link = std::make_unique<PeerLink>(pe);
    return *link;
  }

  template <class Do>
  void for_each(Do act) const {
    for (const std::unique_ptr<Page>& page : pages_) {
      if (!page) continue;
      for (const std::unique_ptr<PeerLink>& link : *page)
        if (link) act(*link);
    }
  }

 private:
  static constexpr std::size_t kPage = 64;
  using Page = std::array<std::unique_ptr<PeerLink>, kPage>;

  const int n_pes_;
  std::vector<std::unique_ptr<Page>> pages_;  // null: none of its peers has one
};

}  // namespace chime::host::ofi
