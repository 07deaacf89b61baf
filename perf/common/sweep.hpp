// A benchmark's rows, one after the other, with its time estimated before.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <vector>

#include "options.hpp"
#include "pace.hpp"
#include "table.hpp"

namespace chime::perf {

// The sizes from --min to --max, each `factor` times the one before.
inline std::vector<Size> sizes_of(const Options& options, std::size_t factor = 2) {
  std::vector<Size> sizes;
  for (std::size_t bytes = options.min_bytes; bytes <= options.max_bytes; bytes *= factor)
    sizes.push_back({bytes});
  return sizes;
}

inline std::string in_words(Size size) { return size.in_words(); }
inline std::string in_words(std::size_t count) { return std::to_string(count); }

// Seconds that all keys take; `seconds_of(key)` gives those of some. Assumes a linear change
// between them.
template <class Key, class SecondsOf>
double sum_of_seconds(const std::vector<Key>& keys, SecondsOf seconds_of) {
  constexpr std::size_t kStep = 4;
  double before = seconds_of(keys.front()), sum = before;
  for (std::size_t i = 0; i + 1 < keys.size();) {
    const std::size_t next = std::min(i + kStep, keys.size() - 1);
    const double there = seconds_of(keys[next]);
    for (std::size_t k = i + 1; k <= next; ++k)
      sum += before + (there - before) * static_cast<double>(k - i) / static_cast<double>(next - i);
    before = there;
    i = next;
  }
  return sum;
}

// Seconds that all rows take: from one repeat of some of them, which costs a fortieth of the whole.
// A hundredth of the iterations would not be enough, because loops that are short already do not
// become shorter.
template <class Key, class Measure>
double estimate_s(const Options& options, const std::vector<Key>& keys, Measure measure) {
  Options once = options;
  once.repeats = 1;
  return options.repeats * sum_of_seconds(keys, [&](const Key& key) {
           const auto start = std::chrono::steady_clock::now();
           measure(once, key);
           return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
         });
}

// Prints the table, a Table or what else has a header and rows: a row of measure(options, key) for
// each key, a Size or a number. Called by every PE that measures; `prints` is true in one.
template <class AnyTable, class Key, class Measure>
void sweep(AnyTable& table, const Options& options, bool prints, const std::vector<Key>& keys,
           Measure measure) {
  Pace pace(options.program, prints);
  if (!options.quick && !keys.empty()) pace.expect(estimate_s(options, keys, measure));
  if (prints) table.print_header();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    pace.begin_row(in_words(keys[i]), i + 1, keys.size());
    const auto figures = measure(options, keys[i]);
    if (prints) table.row(keys[i], figures);
  }
}

}  // namespace chime::perf
