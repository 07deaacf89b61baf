// The results of all PEs: their figures for the criteria, and a table of rates.
#pragma once

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

#include "criteria.hpp"
#include "job.hpp"
#include "path.hpp"
#include "table.hpp"

namespace chime::perf {

inline const char* in_words(Path path) {
  switch (path) {
    case Path::kP2p:
      return "p2p";
    case Path::kNic:
      return "nic";
    case Path::kProxy:
      return "proxy";
    default:
      return "none";
  }
}

inline double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

inline double rate_of(const Progress& progress) {  // a second
  return 1e9 * ratio(static_cast<double>(progress.done), static_cast<double>(progress.ns));
}
inline std::vector<double> rates_of_blocks(const Sent& sent, unsigned blocks) {
  std::vector<double> rates;
  for (unsigned i = 0; i < blocks; ++i) rates.push_back(rate_of(sent.floods[i]));
  return rates;
}
inline double sum_of(const std::vector<double>& figures) {
  return std::accumulate(figures.begin(), figures.end(), 0.0);
}

// Jain's index of n figures: 1 if they are equal, 1/n if all but one are 0.
inline double jain(const std::vector<double>& figures) {
  double squares = 0;
  for (const double figure : figures) squares += figure * figure;
  const double sum = sum_of(figures);
  return ratio(sum * sum, static_cast<double>(figures.size()) * squares);
}

// The least of what the kernel's senders keep of their rates.
inline double kernel_share(const Result& result, unsigned blocks) {
  const Sent &both = result.both, &alone = result.kernel_alone;
  return std::min(
      {ratio(sum_of(rates_of_blocks(both, blocks)), sum_of(rates_of_blocks(alone, blocks))),
       ratio(rate_of(both.gets), rate_of(alone.gets)),
       ratio(rate_of(both.probe), rate_of(alone.probe))});
}

inline double kernel_gap_ns(const Sent& sent, unsigned blocks) {
  std::uint64_t longest = std::max(sent.gets.longest_ns, sent.probe.longest_ns);
  for (unsigned i = 0; i < blocks; ++i) longest = std::max(longest, sent.floods[i].longest_ns);
  return static_cast<double>(longest);
}

inline Figures figures_of(const Result& result, const Settings& settings) {
  const auto count = [](std::uint64_t n) { return static_cast<double>(n); };
  const double ns = settings.seconds * 1e9;
  const std::vector<double> blocks = rates_of_blocks(result.both, settings.blocks);
  Figures figures;
  figures[Criterion::kArrives] = count(result.missing + result.given_up);
  figures[Criterion::kOnce] = count(result.twice);
  figures[Criterion::kWhole] = count(result.unwhole);
  figures[Criterion::kOrdered] = count(result.late);
  figures[Criterion::kGets] = count(result.wrong_gets);
  figures[Criterion::kCounts] = count(result.miscounts);
  figures[Criterion::kKernelShare] = kernel_share(result, settings.blocks);
  figures[Criterion::kHostShare] =
      ratio(rate_of(result.both.host), rate_of(result.host_alone.host));
  figures[Criterion::kFairness] =
      ratio(*std::ranges::min_element(blocks), *std::ranges::max_element(blocks));
  figures[Criterion::kKernelGap] = kernel_gap_ns(result.both, settings.blocks) / ns;
  figures[Criterion::kHostGap] = count(result.both.host.longest_ns) / ns;
  return figures;
}

// REQUIRES: a result.
inline Figures worst_of(const std::vector<Result>& results, const Settings& settings) {
  Figures worst = figures_of(results.front(), settings);
  for (const Result& result : results) worst.take_worse(figures_of(result, settings));
  return worst;
}

inline Table make_table(const Settings& settings, Path path, int number) {
  char times[120];
  std::snprintf(times, sizeof times,
                "In turns, %d times: the kernel %.3g s, the host %.3g s, both %.3g s",
                settings.rounds, settings.seconds / settings.rounds / 2,
                settings.seconds / settings.rounds / 2, settings.seconds / settings.rounds);
  return Table(
      "mixed traffic by " + std::string(in_words(path)) + ", try " + std::to_string(number),
      "Path and sender", {"alone (/s)", "both (/s)", "ratio", "longest gap (ms)"},
      {std::to_string(chime_n_pes()) +
           " PEs, each sends to the next. Blocks and host: messages of 64 bytes with a "
           "signal and an atomic add, a fence behind 16; the host's by calls and on a "
           "stream in turns. gets: 512 bytes. probe: fetch_adds. sleeper: a thread that sleeps "
           "1 ms, whose gaps are the machine's",
       "rates of a PE, mean of all; gaps while both send, of the worst. " + std::string(times)});
}

// `of`: a sender's part of what a PE sent.
template <class Of>
void add_row(Table& table, const std::string& sender, const std::vector<Result>& results,
             Sent Result::*alone, Of of) {
  double alone_sum = 0, both_sum = 0;
  std::uint64_t longest_ns = 0;
  for (const Result& result : results) {
    alone_sum += rate_of(of(result.*alone));
    both_sum += rate_of(of(result.both));
    longest_ns = std::max(longest_ns, of(result.both).longest_ns);
  }
  const auto n = static_cast<double>(results.size());
  table.row(sender, {alone_sum / n, both_sum / n, ratio(both_sum, alone_sum),
                     static_cast<double>(longest_ns) / 1e6});
}

inline void add_rows(Table& table, Path path, const std::vector<Result>& results, unsigned blocks) {
  const std::string by = in_words(path) + std::string(", ");
  for (unsigned i = 0; i < blocks; ++i)
    add_row(table, by + "block " + std::to_string(i), results, &Result::kernel_alone,
            [i](const Sent& sent) { return sent.floods[i]; });
  add_row(table, by + "gets", results, &Result::kernel_alone, [](const Sent& s) { return s.gets; });
  add_row(table, by + "probe", results, &Result::kernel_alone,
          [](const Sent& s) { return s.probe; });
  add_row(table, by + "host", results, &Result::host_alone, [](const Sent& s) { return s.host; });
  std::uint64_t machine_ns = 0;
  for (const Result& result : results)
    machine_ns = std::max(machine_ns, result.both.onlooker.longest_ns);
  table.row(by + "sleeper",
            {kNotMeasured, kNotMeasured, kNotMeasured, static_cast<double>(machine_ns) / 1e6});
}

inline void print_counts(const std::vector<Result>& results, unsigned blocks) {
  double least = 1;
  std::uint64_t sent = 0;
  for (const Result& result : results) {
    least = std::min(least, jain(rates_of_blocks(result.both, blocks)));
    sent += result.sent;
  }
  std::printf("# %llu messages. Jain's index of the blocks: %.3f\n",
              static_cast<unsigned long long>(sent), least);
}

}  // namespace chime::perf
