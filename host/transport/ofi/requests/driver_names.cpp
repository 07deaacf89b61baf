// Peers whose names are looked for: what is posted to one waits for its name, unstarted and in its
// order, and so do answers to one that was heard first. With its name it goes on, and without, it
// is lost.
#include <utility>

#include "host/transport/ofi/requests/driver.hpp"

namespace chime::host::ofi {

Lane* Driver::lane_to(int pe) {
  Lane* const known = lanes_.find(pe);
  if (known || names_ == nullptr || pe == place_.my_pe || !lanes_.exists(pe)) return known;
  Lane& lane = lanes_.add(pe);
  ++unnamed_;
  if (!why_all_lost_.empty())
    lose(lane, why_all_lost_);
  else
    names_->look_for(pe);
  return &lane;
}

void Driver::take_names() {
  for (const Names::Found& found : names_->take_found()) {
    Lane& lane = *lanes_.find(found.pe);
    if (lane.is_lost) continue;
    if (found.name)
      name(lane, *found.name);
    else
      lose(lane, found.why_none);
  }
}

// Answers go first: they are older than what may now be asked.
void Driver::name(Lane& lane, const PeerName& its_name) {
  --unnamed_;
  lane.name = its_name;
  lane.has_name = true;
  lane.has_news = true;
  drain(lane);
  if (lane.open) start_writing(lane);
  for (Request* const request : std::exchange(lane.unstarted, {})) {
    if (lane.is_lost) return;  // and they have ended
    start(lane, *request);
  }
}

}  // namespace chime::host::ofi
