#include "host/trace/merge/lanes.hpp"

#include <map>
#include <tuple>
#include <utility>

namespace chime::trace {
namespace {

// The thread that an event is of, as it tells it from others.
using Owner = std::tuple<const Part*, std::uint32_t, std::uint32_t, std::int32_t>;

// A host thread by the system's number; a kernel's by its place in the launch.
Owner owner_of(const Span& span) {
  const Event& event = *span.event;
  if (event.launch != 0 && event.kind == EventKind::kWork)
    return {span.part, event.launch, event.block, event.thread};
  return {span.part, 0, 0, span.thread};
}

class Lane {
 public:
  bool takes(const Span& span, const Owner& owner) {
    while (!open_.empty() && open_.back().end_ns <= span.begin_ns) open_.pop_back();
    const bool fits =
        open_.empty() || (open_.back().owner == owner && span.end_ns <= open_.back().end_ns);
    if (fits) open_.push_back({span.end_ns, owner});
    return fits;
  }

 private:
  struct Open {
    std::uint64_t end_ns;
    Owner owner;
  };
  std::vector<Open> open_;  // those that hold the next one, the innermost last
};

}  // namespace

Tracks make_tracks(const std::vector<Span>& spans) {
  struct Placed {
    std::vector<Lane> lanes;
    std::uint32_t first = 0;
  };
  std::map<std::pair<int, Group>, Placed> groups;
  std::vector<std::pair<Placed*, std::uint32_t>> places;
  places.reserve(spans.size());
  for (const Span& span : spans) {
    const Group group = group_of(*span.event);
    if (!has_track(group)) {
      places.emplace_back(nullptr, 0);
      continue;
    }
    Placed& placed = groups[{span.event->my_pe, group}];
    const Owner owner = owner_of(span);
    std::uint32_t lane = 0;
    while (lane < placed.lanes.size() && !placed.lanes[lane].takes(span, owner)) ++lane;
    if (lane == placed.lanes.size()) placed.lanes.emplace_back().takes(span, owner);
    places.emplace_back(&placed, lane);
  }
  Tracks tracks;
  for (auto& [key, placed] : groups) {
    placed.first = static_cast<std::uint32_t>(tracks.all.size());
    tracks.all.insert(tracks.all.end(), placed.lanes.size(), {key.first, key.second});
  }
  for (const auto& [placed, lane] : places)
    tracks.of_spans.push_back(placed ? placed->first + lane : kNoTrack);
  return tracks;
}

}  // namespace chime::trace
