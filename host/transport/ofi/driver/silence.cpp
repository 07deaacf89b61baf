#include "host/transport/ofi/driver/silence.hpp"

#include <utility>
#include <vector>

namespace chime::host::ofi {
namespace {

// Its peer was asked for nothing yet.
bool waits_for_slots(const PeerLink& link, const Request& request) {
  const bool is_in_flight = request.is_asked || request.internal_request || request.pieces != 0;
  return link.name.bounces && !is_in_flight;
}

}  // namespace

// A PE that has not looked for long, as a process that was stopped, cannot tell which peer is
// silent.
void Silence::look(const std::function<void(PeerLink&)>& lose) {
  const auto now = Clock::now();
  if (timeout_ == timeout_.zero() || now - last_look_ < timeout_ / 16) return;
  const bool was_away = now - last_look_ > timeout_ / 4;
  last_look_ = now;
  ++looks_;
  find_the_awaited();
  const auto look_at = [&](PeerLink& link) {
    if (is_over(link, now, was_away)) lose(link);
  };
  requests_.for_each([&](const Request& request) {
    PeerLink* const link = request.is_live ? links_.find(request.wanted.pe) : nullptr;
    if (link && !waits_for_slots(*link, request)) look_at(*link);
  });
  for (PeerLink* const link : std::vector(outbox_.waiting())) look_at(*link);
}

// A peer's silence begins with the first look that finds something in flight to it. It does not
// begin anew with requests that are posted, or find a slot, behind that.
void Silence::find_the_awaited() {
  links_.for_each([](PeerLink& link) { link.is_awaited = false; });
  requests_.for_each([&](Request& request) {
    PeerLink* const link = request.is_live ? links_.find(request.wanted.pe) : nullptr;
    if (link == nullptr) return;
    const bool is_in_flight = !waits_for_slots(*link, request);
    link->is_awaited |= std::exchange(request.was_in_flight, is_in_flight) && is_in_flight;
  });
  for (PeerLink* const link : outbox_.waiting())
    link->is_awaited |= std::exchange(link->in_line_at, looks_) + 1 == looks_;
}

// More than once in one look does no harm. How long a name may take is not for this clock.
bool Silence::is_over(PeerLink& link, Clock::time_point now, bool was_away) const {
  if (!link.has_name) return false;
  if (std::exchange(link.has_sign_of_life, false) || was_away || !link.is_awaited)
    link.silent_since = now;
  return now - link.silent_since >= timeout_;
}

}  // namespace chime::host::ofi
