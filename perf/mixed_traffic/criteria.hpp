// When mixed traffic passes: one bound for each figure. What arrives must always be right. What
// needs time must hold in one of the tries, because other work on the machine can only worsen it.
#pragma once

#include <array>
#include <cstddef>
#include <string>

namespace chime::perf {

enum class Criterion : std::size_t {
  kArrives,
  kOnce,
  kWhole,
  kOrdered,
  kGets,
  kCounts,
  kKernelShare,
  kHostShare,
  kFairness,
  kKernelGap,
  kHostGap,
};
inline constexpr std::size_t kCriteria = 11;

struct Rule {
  const char* name;
  const char* figure;
  double bound;
  bool is_least;    // else the bound is the most
  bool needs_time;  // else it holds at any speed
};
extern const std::array<Rule, kCriteria> kRules;

// A figure for each criterion.
class Figures {
 public:
  double& operator[](Criterion which) { return all_[static_cast<std::size_t>(which)]; }

  // Takes in another PE, whose worse figures count.
  void take_worse(const Figures& other);
  // Takes in a further try: the better figure of criteria that need time, else the worse.
  void take_try(const Figures& other);

  bool are_right() const { return hold(false); }  // what holds at any speed
  bool are_fair() const { return hold(true); }    // what needs time
  // `judges_time`: false in runs that are too short for it.
  void print(bool judges_time) const;

 private:
  bool holds(std::size_t which) const;
  bool hold(bool needs_time) const;
  void take(std::size_t which, double figure, bool takes_greater);

  std::array<double, kCriteria> all_{};
};

// For --help.
std::string criteria_in_words();

}  // namespace chime::perf
