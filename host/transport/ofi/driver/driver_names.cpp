// Peers whose names are looked for: what is posted to one waits for its name, unstarted and in its
// order, and so do answers to one that was heard first. With its name it goes on, and without, it
// is lost.
#include <utility>

#include "host/transport/ofi/driver/driver.hpp"

namespace chime::host::ofi {

PeerLink* Driver::peer_link_to(int pe) {
  PeerLink* const known = links_.find(pe);
  if (known || names_ == nullptr || pe == place_.my_pe || !links_.exists(pe)) return known;
  PeerLink& link = links_.add(pe);
  ++unnamed_;
  if (!why_all_lost_.empty())
    lose(link, why_all_lost_);
  else
    names_->look_for(pe);
  return &link;
}

void Driver::take_names() {
  for (const Names::Found& found : names_->take_found()) {
    PeerLink& link = *links_.find(found.pe);
    if (link.is_lost) continue;
    if (found.name)
      name(link, *found.name);
    else
      lose(link, found.why_none);
  }
}

// Answers go first: they are older than the requests that may now be posted.
void Driver::name(PeerLink& link, const PeerName& its_name) {
  --unnamed_;
  link.name = its_name;
  link.has_name = true;
  link.has_sign_of_life = true;
  outbox_.begin(link);
  for (Request* const request : std::exchange(link.unstarted, {})) {
    if (link.is_lost) return;  // and the rest have ended
    start(link, *request);
  }
}

}  // namespace chime::host::ofi
