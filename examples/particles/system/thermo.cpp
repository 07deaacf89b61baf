#include "system/thermo.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace particles {

bool is_finite(const Totals& t) {
  const double all[] = {t.kinetic2,    t.potential,   t.virial,
                        t.momentum[0], t.momentum[1], t.momentum[2]};
  return std::all_of(std::begin(all), std::end(all), [](double x) { return std::isfinite(x); });
}

Thermo thermo_of(const Totals& totals, const Box& box) {
  const double n = totals.atoms;
  Thermo thermo{.step = totals.step};
  thermo.temperature = totals.kinetic2 / (3 * n - 3);
  thermo.pair_energy = totals.potential / n;
  thermo.total_energy = (totals.potential + totals.kinetic2 / 2) / n;
  thermo.pressure = (totals.kinetic2 + totals.virial) / (3 * box.volume());
  return thermo;
}

std::string thermo_header(int digits) {
  const int width = digits + 8;
  return fmt::format("{:>8} {:>{w}} {:>{w}} {:>{w}} {:>{w}}", "Step", "Temp", "E_pair", "TotEng",
                     "Press", fmt::arg("w", width));
}

std::string thermo_line(const Thermo& t, int digits) {
  const int width = digits + 8;
  return fmt::format("{:>8} {:>{w}.{p}g} {:>{w}.{p}g} {:>{w}.{p}g} {:>{w}.{p}g}", t.step,
                     t.temperature, t.pair_energy, t.total_energy, t.pressure, fmt::arg("w", width),
                     fmt::arg("p", digits));
}

}  // namespace particles
