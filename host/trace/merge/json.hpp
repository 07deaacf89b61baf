// Writes a timeline as Chrome trace-event JSON, which Perfetto and chrome://tracing open.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "host/trace/merge/arrows.hpp"
#include "host/trace/merge/lanes.hpp"
#include "host/trace/merge/parts.hpp"

namespace chime::trace {

struct Timeline {
  const Parts& parts;
  const std::vector<Span>& spans;
  const Tracks& tracks;
  const std::vector<Arrow>& arrows;
};

// What the file says about itself: which PEs are missing, what was dropped. For people, too.
struct Summary {
  std::uint64_t events = 0, dropped = 0, open = 0;
  std::vector<int> missing;     // first PEs of no part; only of a job with one PE a process
  std::vector<int> not_closed;  // first PEs of processes that were killed
};
Summary summarize(const Timeline& timeline);

// Throws host::Error if it cannot be written.
void write_json(const Timeline& timeline, const std::string& file);

}  // namespace chime::trace
