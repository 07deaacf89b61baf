#include "causes.hpp"

#include <algorithm>
#include <tuple>

namespace {

// Its members wait for their data alone: the root for nobody, the others each for a PE that a wait
// in the call names.
constexpr std::string_view kBroadcast = "chime_broadcast";

// A call that meets, on all PEs: its name, its team, and how many such came before.
using Call = std::tuple<std::uint32_t, Team, std::size_t>;

class Meetings {
 public:
  explicit Meetings(const Timeline& timeline) : timeline_(timeline) {
    std::map<std::tuple<int, std::uint32_t, Team>, std::size_t> counts;
    for (std::size_t i = 0; i < timeline.spans.size(); ++i) {
      const Span& span = timeline.spans[i];
      if (span.category != Category::kCollective) continue;
      const Call call{span.name, span.team, counts[{span.pe, span.name, span.team}]++};
      calls_[call][span.pe] = i;
      of_span_[i] = call;
      of_pe_[span.pe].push_back(i);
    }
  }

  // The member that came last, if it is another one, and if the call is ended by it.
  std::optional<Cause> last_of(std::size_t span) const {
    if (timeline_.name_of(timeline_.spans[span]) == kBroadcast) return std::nullopt;
    const auto& members = calls_.at(of_span_.at(span));
    const auto last = std::max_element(members.begin(), members.end(), [this](auto& a, auto& b) {
      return timeline_.spans[a.second].begin_ns < timeline_.spans[b.second].begin_ns;
    });
    if (last->first == timeline_.spans[span].pe) return std::nullopt;
    return Cause{last->first, timeline_.spans[last->second].begin_ns};
  }

  // The same call of the PE that a wait in it names.
  std::optional<Cause> peer_of(const Span& wait) const {
    const auto call = around(wait);
    if (!call) return std::nullopt;
    const auto& members = calls_.at(of_span_.at(*call));
    const auto peer = members.find(wait.peer);
    if (peer == members.end()) return std::nullopt;
    return Cause{wait.peer, timeline_.spans[peer->second].begin_ns};
  }

 private:
  // The last one of the PE that began before the wait, and had not ended.
  std::optional<std::size_t> around(const Span& wait) const {
    const auto calls = of_pe_.find(wait.pe);
    if (calls == of_pe_.end()) return std::nullopt;
    auto after = std::upper_bound(
        calls->second.begin(), calls->second.end(), wait.begin_ns,
        [this](std::int64_t at, std::size_t i) { return at < timeline_.spans[i].begin_ns; });
    while (after != calls->second.begin()) {
      const Span& call = timeline_.spans[*--after];
      if (call.end_ns >= wait.end_ns && is_in(wait, call)) return *after;
    }
    return std::nullopt;
  }

  bool is_in(const Span& wait, const Span& call) const {
    return timeline_.name_of(wait) == "wait in " + timeline_.name_of(call);
  }

  const Timeline& timeline_;
  std::map<Call, std::map<int, std::size_t>> calls_;
  std::map<std::size_t, Call> of_span_;
  std::map<int, std::vector<std::size_t>> of_pe_;
};

}  // namespace

std::vector<std::optional<Cause>> find_causes(const Timeline& timeline) {
  const Meetings meetings(timeline);
  std::vector<std::optional<Cause>> causes(timeline.spans.size());
  for (std::size_t i = 0; i < timeline.spans.size(); ++i) {
    const Span& span = timeline.spans[i];
    if (span.category == Category::kCollective) causes[i] = meetings.last_of(i);
    if (span.category == Category::kWait && span.peer >= 0) causes[i] = meetings.peer_of(span);
  }
  for (const Arrow& arrow : timeline.arrows)
    causes[arrow.to] = Cause{timeline.spans[arrow.from].pe, timeline.spans[arrow.from].begin_ns};
  return causes;
}

std::int64_t late_ns(const Span& wait, const Cause& cause) {
  return std::clamp<std::int64_t>(cause.begin_ns - wait.begin_ns, 0, wait.length_ns());
}
