#include "plot.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace particles {
namespace {

constexpr const char* kMissing =
    "--plot needs gnuplot, which is not here: install the package gnuplot-nox (Debian, Ubuntu) or "
    "leave --plot out";

// gnuplot reads commands and data from its standard input.
class Gnuplot {
 public:
  // Without an output file it would draw to its standard output.
  Gnuplot() : pipe_(popen("gnuplot >/dev/null", "w")) {
    if (pipe_ == nullptr) throw std::runtime_error(kMissing);
  }
  ~Gnuplot() {
    if (pipe_ != nullptr) pclose(pipe_);
  }
  Gnuplot(const Gnuplot&) = delete;

  void run(const std::string& script) {
    std::fwrite(script.data(), 1, script.size(), pipe_);
    const int status = pclose(std::exchange(pipe_, nullptr));
    if (status != 0)
      throw std::runtime_error(
          fmt::format("gnuplot ended with status {}: no picture was drawn", status));
  }

 private:
  std::FILE* pipe_;
};

std::string thermo_block(const std::vector<Thermo>& lines) {
  fmt::memory_buffer text;
  for (const Thermo& t : lines) {
    fmt::format_to(std::back_inserter(text), "{} {:.17g} {:.17g} {:.17g}\n", t.step, t.temperature,
                   t.pair_energy, t.total_energy);
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

std::string quoted(const std::string& path) {
  std::string text = "'";
  for (char c : path) text += c == '\'' ? "''" : std::string(1, c);
  return text + "'";
}

}  // namespace

void require_gnuplot() {
  if (std::system("gnuplot --version >/dev/null 2>&1") != 0) throw std::runtime_error(kMissing);
}

void draw(const std::string& path, const std::vector<Thermo>& lines,
          const PairDistribution& pairs) {
  Gnuplot().run(fmt::format(R"(
$thermo << EOD
{}EOD
$pairs << EOD
{}EOD
set terminal pngcairo size 1200,420
set output {}
set multiplot layout 1,3
set grid
set xlabel 'step'
set ylabel 'energy per atom'
set key center right
plot $thermo using 1:3 with lines lw 2 title 'pair', $thermo using 1:4 with lines lw 2 title 'total'
set ylabel 'temperature'
plot $thermo using 1:2 with lines lw 2 notitle
set xlabel 'r'
set ylabel 'g(r)'
plot $pairs using 1:2 with lines lw 2 notitle
unset multiplot
)",
                            thermo_block(lines), pair_block(pairs), quoted(path)));
  std::error_code error;
  if (std::filesystem::file_size(path, error) == 0 || error)
    throw std::runtime_error(path + ": gnuplot has not drawn the picture");
}

}  // namespace particles
