#include "criteria.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

namespace chime::perf {

const std::array<Rule, kCriteria> kRules = {{
    {"arrives", "messages that did not come", 0, false, false},
    {"once", "messages that came twice", 0, false, false},
    {"whole", "signals that came without their data", 0, false, false},
    {"ordered", "messages that came after the word behind their fence", 0, false, false},
    {"gets", "gets of other data than the peer's", 0, false, false},
    {"counts", "fetch_adds that returned another sum", 0, false, false},
    {"kernel beside host", "least rate of messages, gets and probes, of the rate alone", 0.2, true,
     true},
    {"host beside kernel", "rate of messages, of the rate alone", 0.05, true, true},
    {"fairness", "messages of the slowest block, of the fastest's", 0.25, true, true},
    {"kernel's gap", "longest time in which a block ended nothing, of --seconds", 0.25, false,
     true},
    {"host's gap", "longest time in which the host ended nothing, of --seconds", 0.25, false, true},
}};

namespace {

std::string bound_of(const Rule& rule) {
  return fmt::format("at {} {}", rule.is_least ? "least" : "most", rule.bound);
}

}  // namespace

void Figures::take(std::size_t which, double figure, bool takes_greater) {
  double& mine = all_[which];
  mine = takes_greater ? std::max(mine, figure) : std::min(mine, figure);
}

void Figures::take_worse(const Figures& other) {
  for (std::size_t i = 0; i < kCriteria; ++i) take(i, other.all_[i], !kRules[i].is_least);
}

void Figures::take_try(const Figures& other) {
  for (std::size_t i = 0; i < kCriteria; ++i)
    take(i, other.all_[i], kRules[i].is_least == kRules[i].needs_time);
}

bool Figures::holds(std::size_t which) const {
  const Rule& rule = kRules[which];
  return rule.is_least ? all_[which] >= rule.bound : all_[which] <= rule.bound;
}

bool Figures::hold(bool needs_time) const {
  for (std::size_t i = 0; i < kCriteria; ++i)
    if (kRules[i].needs_time == needs_time && !holds(i)) return false;
  return true;
}

void Figures::print(bool judges_time) const {
  for (std::size_t i = 0; i < kCriteria; ++i) {
    const Rule& rule = kRules[i];
    const char* const verdict = rule.needs_time && !judges_time ? "-" : holds(i) ? "ok" : "MISSED";
    std::puts(fmt::format("# {:6}  {:18}  {:8.3f}  {:13}  {}", verdict, rule.name, all_[i],
                          bound_of(rule), rule.figure)
                  .c_str());
  }
  std::fflush(stdout);
}

std::string criteria_in_words() {
  std::string words = "It passes if\n";
  for (const Rule& rule : kRules)
    words += fmt::format("  {:18}  {}: {}\n", rule.name, rule.figure, bound_of(rule));
  return words +
         "The last five need time: they must hold in one of the tries, and --quick does not judge "
         "them.";
}

}  // namespace chime::perf
