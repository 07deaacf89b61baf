// The planted fault in force: variable PLANTED_FAULT, its number in the copy; 0 or unset: none.
// Included before anything else in files that run_mutants.py compiles, and nowhere else.
#pragma once

#include <cstdlib>

namespace chime_planted {

inline const int kChosen = [] {
  const char* const number = std::getenv("PLANTED_FAULT");
  return number == nullptr ? 0 : std::atoi(number);
}();

// Code that a compiler evaluates has no fault.
constexpr bool is(int fault) { return !__builtin_is_constant_evaluated() && kChosen == fault; }

}  // namespace chime_planted
