#include "system/lattice.hpp"

#include <fmt/format.h>

#include <cmath>
#include <new>

#include "files/progress.hpp"

namespace particles {
namespace {

constexpr double kDensity = 0.8442;
constexpr double kTemperature = 1.44;

// splitmix64: a bijection of 64-bit words that mixes well; velocities are hashes of (seed, id,
// direction).
std::uint64_t mix(std::uint64_t z) {
  z += 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

double uniform_minus_half_to_half(std::uint64_t seed, std::int64_t id, int d) {
  const std::uint64_t bits = mix(mix(seed) ^ mix(static_cast<std::uint64_t>(id) * 3 + d));
  return static_cast<double>(bits >> 11) * 0x1p-53 - 0.5;
}

void remove_net_momentum(std::vector<Atom>& atoms) {
  for (int d = 0; d < 3; ++d) {
    double sum = 0;
    for (const Atom& atom : atoms) sum += atom.v[d];
    for (Atom& atom : atoms) atom.v[d] -= sum / static_cast<double>(atoms.size());
  }
}

void scale_to_temperature(std::vector<Atom>& atoms) {
  double squares = 0;
  for (const Atom& atom : atoms) {
    for (double v : atom.v) squares += v * v;
  }
  const double degrees_of_freedom = 3.0 * static_cast<double>(atoms.size()) - 3.0;
  const double factor = std::sqrt(kTemperature * degrees_of_freedom / squares);
  for (Atom& atom : atoms) {
    for (double& v : atom.v) v *= factor;
  }
}

void reserve(std::vector<Atom>& atoms, std::size_t count) {
  try {
    atoms.reserve(count);
  } catch (const std::bad_alloc&) {
    throw InputError(
        fmt::format("no memory for {} atoms: {} GiB on every PE; use a smaller --lattice", count,
                    (count * sizeof(Atom)) >> 30));
  }
}

}  // namespace

Sample make_lattice(int cells, std::uint64_t seed) {
  constexpr double kBasis[4][3] = {{0, 0, 0}, {.5, .5, 0}, {.5, 0, .5}, {0, .5, .5}};
  const double side = std::cbrt(4.0 / kDensity);
  Sample sample;
  sample.box.hi = {cells * side, cells * side, cells * side};
  reserve(sample.atoms, 4ull * cells * cells * cells);
  Phase phase("making the crystal", 4ll * cells * cells * cells, "atoms");
  for (int z = 0; z < cells; ++z) {
    phase.at(static_cast<std::int64_t>(sample.atoms.size()));
    for (int y = 0; y < cells; ++y) {
      for (int x = 0; x < cells; ++x) {
        for (const auto& basis : kBasis) {
          Atom atom;
          atom.id = static_cast<std::int64_t>(sample.atoms.size()) + 1;
          atom.x = {(x + basis[0]) * side, (y + basis[1]) * side, (z + basis[2]) * side};
          for (int d = 0; d < 3; ++d) atom.v[d] = uniform_minus_half_to_half(seed, atom.id, d);
          sample.atoms.push_back(atom);
        }
      }
    }
  }
  remove_net_momentum(sample.atoms);
  scale_to_temperature(sample.atoms);
  return sample;
}

}  // namespace particles
