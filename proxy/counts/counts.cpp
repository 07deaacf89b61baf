#include "proxy/counts/counts.hpp"

#include <algorithm>
#include <cstdio>
#include <numeric>

namespace chime::proxy {
namespace {

std::string in_words(double ns) {
  const char* unit = ns < 1e6 ? "us" : ns < 1e9 ? "ms" : "s";
  const double value = ns < 1e6 ? ns / 1e3 : ns < 1e9 ? ns / 1e6 : ns / 1e9;
  char text[32];
  std::snprintf(text, sizeof text, "%.3g %s", value, unit);
  return text;
}

double bound_of(std::size_t bucket) {
  return static_cast<double>((Counts::kShortestBucket * (1 << bucket)).count());
}

std::string number(const Count& count) { return std::to_string(count.get()); }

// "12 below 32 us, 3 below 64 us, 1 longer".
std::string words_of_sleeps(const Counts& counts) {
  std::string words;
  for (std::size_t i = 0; i < Counts::kBuckets; ++i) {
    if (counts.sleeps[i].get() == 0) continue;
    const bool is_last = i + 1 == Counts::kBuckets;
    words += (words.empty() ? "" : ", ") + number(counts.sleeps[i]) +
             (is_last ? " longer" : " below " + in_words(bound_of(i)));
  }
  return words.empty() ? "it never slept" : "its sleeps: " + words;
}

}  // namespace

void Counts::note_sleep(std::chrono::nanoseconds length) {
  std::size_t bucket = 0;
  while (bucket + 1 < kBuckets && length >= kShortestBucket * (1 << bucket)) ++bucket;
  sleeps[bucket].add();
}

std::string words_of(const Counts& counts) {
  const double visits = static_cast<double>(std::max<std::uint64_t>(1, counts.visits.get()));
  char batch[32];
  std::snprintf(batch, sizeof batch, "%.3g", static_cast<double>(counts.requests.get()) / visits);
  return number(counts.under_way) + " requests under way (at most " +
         number(counts.most_under_way) + "), " + number(counts.requests) + " taken in " +
         number(counts.turns) + " turns, " + batch + " at a time (at most " +
         number(counts.most_taken) + "), " + number(counts.refused) +
         " times no room at the fabric; longest gap between visits of a FIFO " +
         in_words(static_cast<double>(counts.longest_gap_ns.get())) + "; " + number(counts.moves) +
         " times to another processor; " + words_of_sleeps(counts);
}

}  // namespace chime::proxy
