#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <tuple>

#include "tables.hpp"

namespace {

struct Sum {
  std::uint64_t count = 0;
  std::int64_t total_ns = 0, longest_ns = 0, late_ns = 0;

  void add(std::int64_t ns, std::int64_t late) {
    ++count;
    total_ns += ns;
    longest_ns = std::max(longest_ns, ns);
    late_ns += late;
  }
};

std::string pe_or_unknown(int pe) { return pe < 0 ? "?" : std::to_string(pe); }

template <class Key, class By>
std::vector<std::pair<Key, Sum>> sorted(const std::map<Key, Sum>& sums, By by) {
  std::vector<std::pair<Key, Sum>> rows(sums.begin(), sums.end());
  std::stable_sort(rows.begin(), rows.end(),
                   [by](const auto& a, const auto& b) { return by(a.second) > by(b.second); });
  return rows;
}

std::string left_out(std::size_t all, std::size_t shown) {
  return all > shown ? fmt::format("({} more rows: --rows)\n", all - shown) : "";
}

}  // namespace

std::string table_of_waits(const Timeline& timeline, const Causes& causes, std::size_t rows) {
  std::map<std::tuple<int, std::string, int>, Sum> sums;
  for (std::size_t i = 0; i < timeline.spans.size(); ++i) {
    const Span& span = timeline.spans[i];
    if (span.category != Category::kWait) continue;
    const int peer = causes[i] ? causes[i]->pe : span.peer;
    sums[{span.pe, timeline.name_of(span), peer}].add(span.length_ns(),
                                                      causes[i] ? late_ns(span, *causes[i]) : 0);
  }
  std::string text = fmt::format(
      "Time in waits, by PE, call and the PE that ended them (late: until that PE had begun)\n"
      "{:>5} {:<34} {:>5} {:>9} {:>11} {:>11} {:>11}\n",
      "PE", "call", "peer", "waits", "total ms", "longest ms", "late ms");
  const auto all = sorted(sums, [](const Sum& sum) { return sum.total_ns; });
  for (const auto& [key, sum] : std::span(all).first(std::min(rows, all.size())))
    text += fmt::format("{:>5} {:<34} {:>5} {:>9} {:>11.3f} {:>11.3f} {:>11.3f}\n",
                        std::get<0>(key), std::get<1>(key), pe_or_unknown(std::get<2>(key)),
                        sum.count, ms(sum.total_ns), ms(sum.longest_ns), ms(sum.late_ns));
  return text + left_out(all.size(), rows);
}

std::string table_of_late_senders(const Timeline& timeline, const Causes& causes,
                                  std::size_t rows) {
  std::map<std::pair<int, int>, Sum> sums;  // sender, waiting PE
  for (std::size_t i = 0; i < timeline.spans.size(); ++i) {
    const Span& span = timeline.spans[i];
    if (span.category != Category::kWait || !causes[i] || causes[i]->pe == span.pe) continue;
    const std::int64_t late = late_ns(span, *causes[i]);
    if (late > 0) sums[{causes[i]->pe, span.pe}].add(late, late);
  }
  std::string text = fmt::format(
      "Late senders: they began when the other PE already waited\n"
      "{:>6} {:>8} {:>9} {:>11} {:>11}\n",
      "sender", "waiting", "times", "late ms", "worst ms");
  const auto all = sorted(sums, [](const Sum& sum) { return sum.total_ns; });
  for (const auto& [key, sum] : std::span(all).first(std::min(rows, all.size())))
    text += fmt::format("{:>6} {:>8} {:>9} {:>11.3f} {:>11.3f}\n", key.first, key.second, sum.count,
                        ms(sum.total_ns), ms(sum.longest_ns));
  return text + left_out(all.size(), rows);
}
