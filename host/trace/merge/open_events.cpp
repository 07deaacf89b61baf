#include "host/trace/merge/open_events.hpp"

#include <algorithm>

#include "host/trace/clock.hpp"

namespace chime::trace {
namespace {

// The latest time that a part knows of.
std::uint64_t last_ns(const Part& part) {
  std::uint64_t last = std::max(part.header().opened_ns, part.header().closed_ns);
  for (const Chunk& chunk : part.chunks())
    for (const Event& event : chunk.events) last = std::max({last, event.begin_ns, event.end_ns});
  return part.in_time_of_first(last);
}

// Parts with the same number have times that can be compared.
std::uint64_t time_of(const Parts& parts, const Part& part) {
  return part.doubt_ns() > 0 ? parts.all.front()->header().clock : part.header().clock;
}

}  // namespace

OpenEvents::OpenEvents(const Parts& parts, const EndsOfPes& ends) {
  std::map<std::uint64_t, std::uint64_t> latest;
  std::map<std::uint64_t, const Part*> by_my_clock;  // a part with the clock that `ends` are of
  const std::uint64_t my_clock = number_of_clock();
  for (const auto& part : parts.all) {
    const std::uint64_t last = last_ns(*part), time = time_of(parts, *part);
    ends_[part.get()] = {last, last};
    latest[time] = std::max(latest[time], last);
    if (part->header().clock == my_clock) by_my_clock.try_emplace(time, part.get());
  }
  for (const auto& part : parts.all) {
    std::uint64_t& process_ns = ends_[part.get()].process_ns;
    const std::uint64_t time = time_of(parts, *part);
    const auto end = ends.find(part->header().first_pe);
    const auto mine = by_my_clock.find(time);
    if (end != ends.end() && mine != by_my_clock.end())
      process_ns = std::max(process_ns, mine->second->in_time_of_first(end->second));
    else if (!part->is_closed())
      process_ns = latest[time];
  }
}

// Operations that nobody waits for may stay open when recording ends. Calls end later.
std::uint64_t OpenEvents::end_ns(const Part& part, const Event& event) const {
  const Ends& ends = ends_.at(&part);
  const bool is_in_process = !part.is_closed() || event.kind == EventKind::kCall;
  return is_in_process ? ends.process_ns : ends.recording_ns;
}

}  // namespace chime::trace
