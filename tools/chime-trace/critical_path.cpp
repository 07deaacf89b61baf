// The critical path, from its end back to its beginning: a PE's work is followed back to the last
// wait whose cause began after the wait did; there the path goes over to the PE of the cause.

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "tables.hpp"

namespace {

struct Step {
  std::int64_t begin_ns, end_ns;
  int last_pe;  // the one that ended last
};

// Which spans begin the steps: of each PE in turn.
using Beginnings = std::map<int, std::vector<std::size_t>>;

// One that lies in another one begins no step: it is what a kernel does for a host's call, or a
// wait in a call.
Beginnings spans_named(const Timeline& timeline, const std::string& name) {
  Beginnings found;
  std::map<int, std::int64_t> ends;  // on each PE, of the last one
  for (std::size_t i = 0; i < timeline.spans.size(); ++i) {
    const Span& span = timeline.spans[i];
    if (timeline.name_of(span).find(name) == std::string::npos) continue;
    const auto [end, is_first] = ends.try_emplace(span.pe, span.end_ns);
    if (!is_first && span.end_ns <= end->second) continue;
    end->second = span.end_ns;
    found[span.pe].push_back(i);
  }
  return found;
}

// The kernel that the lowest PE has launched most often; empty: there is no kernel.
std::string most_frequent_kernel(const Timeline& timeline) {
  std::map<std::uint32_t, std::size_t> counts;
  int pe = -1;
  for (const Span& span : timeline.spans)
    if (span.category == Category::kKernel && (pe < 0 || span.pe < pe)) pe = span.pe;
  for (const Span& span : timeline.spans)
    if (span.category == Category::kKernel && span.pe == pe) ++counts[span.name];
  const auto most = std::max_element(counts.begin(), counts.end(),
                                     [](auto& a, auto& b) { return a.second < b.second; });
  return most != counts.end() ? timeline.names[most->first] : "";
}

// From the PE's beginning of step `number` to that of the next, or to its last event.
std::int64_t end_of_step(const Timeline& timeline, const std::vector<std::size_t>& of_pe,
                         std::size_t number) {
  const Span& begins = timeline.spans[of_pe[number]];
  return number + 1 < of_pe.size() ? timeline.spans[of_pe[number + 1]].begin_ns : begins.end_ns;
}

std::vector<Step> steps_of(const Timeline& timeline, const Beginnings& beginnings) {
  std::size_t count = ~std::size_t{0};  // that all PEs which have any have
  for (const auto& [pe, spans] : beginnings) count = std::min(count, spans.size());
  std::vector<Step> steps;
  for (std::size_t i = 0; !beginnings.empty() && i < count; ++i) {
    Step step{INT64_MAX, INT64_MIN, -1};
    for (const auto& [pe, spans] : beginnings) {
      step.begin_ns = std::min(step.begin_ns, timeline.spans[spans[i]].begin_ns);
      const std::int64_t end = end_of_step(timeline, spans, i);
      if (end <= step.end_ns) continue;
      step.end_ns = end;
      step.last_pe = pe;
    }
    steps.push_back(step);
  }
  return steps;
}

std::size_t median_of(const std::vector<Step>& steps) {
  std::vector<std::size_t> order(steps.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return steps[a].end_ns - steps[a].begin_ns < steps[b].end_ns - steps[b].begin_ns;
  });
  return order[order.size() / 2];
}

// A piece of the path. `from` >= 0: a message was under way from that PE.
struct Piece {
  int pe, from;
  std::string what;
  std::int64_t begin_ns, end_ns;
};

class Walk {
 public:
  Walk(const Timeline& timeline, const Causes& causes) : timeline_(timeline), causes_(causes) {
    for (std::size_t i = 0; i < timeline.spans.size(); ++i) {
      const Span& span = timeline.spans[i];
      if (span.category == Category::kKernel || span.category == Category::kCall)
        works_[span.pe].push_back(i);
      if (causes[i] && causes[i]->pe != span.pe && began_within(span, *causes[i]))
        waits_[span.pe].push_back(i);
    }
    for (auto& [pe, waits] : waits_)
      std::stable_sort(waits.begin(), waits.end(), [&](std::size_t a, std::size_t b) {
        return timeline.spans[a].end_ns < timeline.spans[b].end_ns;
      });
  }

  std::vector<Piece> back_from(const Step& step) const {
    std::vector<Piece> path;
    int pe = step.last_pe;
    std::int64_t at = step.end_ns;
    while (at > step.begin_ns) {
      const auto wait = last_wait(pe, at, step.begin_ns);
      if (!wait) {
        add_work(path, pe, step.begin_ns, at);
        break;
      }
      const Span& waited = timeline_.spans[*wait];
      const Cause& cause = *causes_[*wait];
      add_work(path, pe, waited.end_ns, at);
      const std::int64_t sent = std::max(cause.begin_ns, step.begin_ns);
      path.push_back({pe, cause.pe, timeline_.name_of(waited), sent, waited.end_ns});
      pe = cause.pe;
      at = sent;
    }
    std::reverse(path.begin(), path.end());
    return path;
  }

 private:
  // Clocks of two hosts that differ may say that the cause began later than the wait ended. So
  // each message leads back in time, and the walk ends.
  static bool began_within(const Span& wait, const Cause& cause) {
    return wait.begin_ns < cause.begin_ns && cause.begin_ns < wait.end_ns;
  }

  // The last that ended until `at` and after `begin`.
  std::optional<std::size_t> last_wait(int pe, std::int64_t at, std::int64_t begin) const {
    const auto waits = waits_.find(pe);
    if (waits == waits_.end()) return std::nullopt;
    const auto after = std::upper_bound(
        waits->second.begin(), waits->second.end(), at,
        [this](std::int64_t time, std::size_t i) { return time < timeline_.spans[i].end_ns; });
    if (after == waits->second.begin()) return std::nullopt;
    const std::size_t last = *std::prev(after);
    return timeline_.spans[last].end_ns > begin ? std::optional(last) : std::nullopt;
  }

  void add_work(std::vector<Piece>& path, int pe, std::int64_t begin, std::int64_t end) const {
    if (end > begin) path.push_back({pe, -1, work_in(pe, begin, end), begin, end});
  }

  // The kernel, else the call, that fills most of the time.
  std::string work_in(int pe, std::int64_t begin, std::int64_t end) const {
    const Span* best = nullptr;
    std::int64_t most = 0;
    const auto works = works_.find(pe);
    for (std::size_t i : works == works_.end() ? std::vector<std::size_t>{} : works->second) {
      const Span& span = timeline_.spans[i];
      if (span.begin_ns >= end) break;
      const std::int64_t common = std::min(span.end_ns, end) - std::max(span.begin_ns, begin);
      const bool is_better = best && best->category != span.category
                                 ? span.category == Category::kKernel
                                 : common > most;
      if (common <= 0 || !is_better) continue;
      best = &span;
      most = common;
    }
    return best ? timeline_.name_of(*best) : "outside of Chime";
  }

  const Timeline& timeline_;
  const Causes& causes_;
  std::map<int, std::vector<std::size_t>> works_, waits_;
};

// Pieces of the same kind as one row, in the order of their first.
std::string rows_of(const std::vector<Piece>& path, std::int64_t all_ns) {
  std::vector<std::pair<Piece, std::int64_t>> rows;
  for (const Piece& piece : path) {
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const auto& other) {
      return other.first.pe == piece.pe && other.first.from == piece.from &&
             other.first.what == piece.what;
    });
    const std::int64_t ns = piece.end_ns - piece.begin_ns;
    if (row == rows.end())
      rows.emplace_back(piece, ns);
    else
      row->second += ns;
  }
  std::string text = fmt::format("{:>5} {:<50} {:>11} {:>6}\n", "PE", "what", "ms", "share");
  for (const auto& [piece, ns] : rows) {
    const std::string what = piece.from < 0
                                 ? piece.what
                                 : fmt::format("message from PE {} ({})", piece.from, piece.what);
    text += fmt::format("{:>5} {:<50} {:>11.3f} {:>5.1f}%\n", piece.pe, what, ms(ns),
                        100.0 * static_cast<double>(ns) / static_cast<double>(all_ns));
  }
  return text;
}

}  // namespace

std::string table_of_critical_path(const Timeline& timeline, const Causes& causes,
                                   const StepChoice& choice) {
  const std::string name = choice.name.empty() ? most_frequent_kernel(timeline) : choice.name;
  if (name.empty())
    return "Critical path: the timeline has no kernel; --step names the call that begins a step\n";
  const std::vector<Step> steps = steps_of(timeline, spans_named(timeline, name));
  if (steps.empty()) throw BadTimeline("no event's name has '" + name + "' in it (--step)");
  const std::size_t number =
      choice.number ? static_cast<std::size_t>(*choice.number) : median_of(steps);
  if (number >= steps.size())
    throw BadTimeline(
        fmt::format("there are {} steps of '{}', from 0 (--number)", steps.size(), name));
  const Step& step = steps[number];
  const auto path = Walk(timeline, causes).back_from(step);
  const auto hops = std::count_if(path.begin(), path.end(), [](auto& p) { return p.from >= 0; });
  return fmt::format("Critical path of step {} of {} ('{}', {:.3f} ms, {} messages)\n{}", number,
                     steps.size(), name, ms(step.end_ns - step.begin_ns), hops,
                     rows_of(path, std::max<std::int64_t>(step.end_ns - step.begin_ns, 1)));
}
