// The start of a run, and the contents of a dump: a periodic box and atoms, in reduced
// Lennard-Jones units.
#pragma once

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace particles {

using Vec3 = std::array<double, 3>;
using Image = std::array<int, 3>;

// Periodic in all three directions; a position x belongs to it when lo <= x < hi.
struct Box {
  Vec3 lo{};
  Vec3 hi{};
  double length(int d) const { return hi[d] - lo[d]; }
  double volume() const { return length(0) * length(1) * length(2); }
};

// `image` counts how often the atom has crossed the box: its unwrapped position is x + image *
// length.
struct Atom {
  std::int64_t id = 0;
  Vec3 x{};
  Vec3 v{};
  Vec3 f{};
  Image image{};
};

// All atoms of the job, ascending by id.
struct Sample {
  Box box;
  std::vector<Atom> atoms;
};

// Input of the user that cannot be right; every PE sees it. `what()` names the file and line, or
// the numbers, and what to do. (An error that only one PE can meet is a std::runtime_error and ends
// the job.)
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace particles
