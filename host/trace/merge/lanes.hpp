// Tracks: on each, events follow each other or lie within each other, as Perfetto wants them. Where
// more threads of a PE do the same at a time, a group has several.
#pragma once

#include <cstdint>
#include <vector>

#include "host/trace/merge/groups.hpp"
#include "host/trace/merge/parts.hpp"

namespace chime::trace {

struct Track {
  int pe;
  Group group;
};

inline constexpr std::uint32_t kNoTrack = ~std::uint32_t{0};

struct Tracks {
  std::vector<Track> all;               // by PE and group
  std::vector<std::uint32_t> of_spans;  // for each span the index of its track, or kNoTrack
};

// `spans` by time, as Parts::spans() gives them.
Tracks make_tracks(const std::vector<Span>& spans);

}  // namespace chime::trace
