#include "files/plot.hpp"

#include <fmt/format.h>

#include <iterator>

#include "common/gnuplot.hpp"

namespace particles {
namespace {

std::string thermo_block(const Picture& picture) {
  fmt::memory_buffer text;
  for (const Thermo& t : picture.lines) {
    fmt::format_to(std::back_inserter(text), "{:.17g} {:.17g} {:.17g} {:.17g}\n",
                   static_cast<double>(t.step) * picture.dt, t.temperature, t.pair_energy,
                   t.total_energy);
  }
  return fmt::to_string(text);
}

std::string pair_block(const PairDistribution& pairs) {
  fmt::memory_buffer text;
  for (std::size_t k = 0; k < pairs.g.size(); ++k) {
    fmt::format_to(std::back_inserter(text), "{} {}\n",
                   (static_cast<double>(k) + 0.5) * pairs.width, pairs.g[k]);
  }
  return fmt::to_string(text);
}

}  // namespace

void draw(const std::string& path, const Picture& picture) {
  const std::string commands = fmt::format(R"($thermo << EOD
{}EOD
$pairs << EOD
{}EOD
set multiplot layout 1,3 title {} noenhanced
set grid
set key outside below center horizontal
set xlabel 'time (τ)' offset 0,0.5
set title 'Energy'
set ylabel 'energy per atom (ε)'
plot $thermo using 1:3 with lines lw 2 title 'pair energy', $thermo using 1:4 with lines lw 2 title 'total energy'
set title 'Temperature'
set ylabel 'temperature (ε/k_B)'
plot $thermo using 1:2 with lines lw 2 title 'temperature'
set title 'Pair distribution at the end'
set xlabel 'distance r (σ)' offset 0,0.5
set ylabel 'g(r), relative to an ideal gas'
plot $pairs using 1:2 with lines lw 2 title 'g(r)'
unset multiplot
)",
                                           thermo_block(picture), pair_block(picture.pairs),
                                           examples::quoted(picture.title));
  examples::draw_by_gnuplot(path, {1500, 480}, commands);
}

}  // namespace particles
