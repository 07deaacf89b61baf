// The owners of the parts of the box: a grid of equal boxes, one for each PE, and each PE's 26
// neighbours in it.
#pragma once

#include <array>
#include <optional>

#include "system/sample.hpp"

namespace particles {

using Grid = std::array<int, 3>;

inline constexpr int kDirections =
    27;  // (-1|0|1)^3; the middle one is the PE itself and is not used
inline constexpr int kHome = 13;

// Directions are numbered so that the opposite of d is 26 - d.
inline Vec3 direction(int d) {
  return {double(d % 3 - 1), double(d / 3 % 3 - 1), double(d / 9 - 1)};
}

// The grid with the least surface of its boxes, among those with boxes at least `width` wide in
// each direction. Throws InputError, with the numbers, if no grid of `pes` boxes is, or if `wanted`
// is not.
Grid choose_grid(const Box& box, int pes, double width, const std::optional<Grid>& wanted);

// One PE's part, and its surroundings.
struct Domain {
  Box box;  // the whole box
  Grid grid{};
  Grid coordinate{};
  Box mine;
  std::array<int, kDirections>
      neighbour{};  // the PE there; with few PEs the same PE in several directions
  std::array<Vec3, kDirections>
      shift{};  // what to add to my atom's position for that neighbour to see it
  int owner_of(const Vec3& x) const;  // the PE with the box that holds the wrapped position x
};

Domain make_domain(const Box& box, const Grid& grid, int pe);

// The most atoms that any PE owns, or sees within `width` of its box (its own included).
struct Crowd {
  std::size_t own = 0;
  std::size_t seen = 0;
};
Crowd count_crowd(const Sample& sample, const Grid& grid, double width);

}  // namespace particles
