// Peers whose names are looked for: what is posted to one waits for its name, unstarted and in its
// order, and so do answers to one that was heard first. With its name it goes on, and without, it
// is lost.
#include <utility>

#include "host/transport/ofi/requests/driver.hpp"

namespace chime::host::ofi {

PeerLink* Driver::peer_link_to(int pe) {
  PeerLink* const known = peer_links_.find(pe);
  if (known || names_ == nullptr || pe == place_.my_pe || !peer_links_.exists(pe)) return known;
  PeerLink& peer_link = peer_links_.add(pe);
  ++unnamed_;
  if (!why_all_lost_.empty())
    lose(peer_link, why_all_lost_);
  else
    names_->look_for(pe);
  return &peer_link;
}

void Driver::take_names() {
  for (const Names::Found& found : names_->take_found()) {
    PeerLink& peer_link = *peer_links_.find(found.pe);
    if (peer_link.is_lost) continue;
    if (found.name)
      name(peer_link, *found.name);
    else
      lose(peer_link, found.why_none);
  }
}

// Answers go first: they are older than what may now be asked.
void Driver::name(PeerLink& peer_link, const PeerName& its_name) {
  --unnamed_;
  peer_link.name = its_name;
  peer_link.has_name = true;
  peer_link.has_news = true;
  drain(peer_link);
  if (peer_link.open) start_writing(peer_link);
  for (Request* const request : std::exchange(peer_link.unstarted, {})) {
    if (peer_link.is_lost) return;  // and they have ended
    start(peer_link, *request);
  }
}

}  // namespace chime::host::ofi
