#include "files/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
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
  // Without an output file gnuplot would draw to its standard output. In another locale it would
  // warn that it cannot write the degree sign.
  Gnuplot() : pipe_(popen("LC_ALL=C.UTF-8 gnuplot >/dev/null", "w")) {
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

std::string quoted(const std::string& path) {
  std::string text = "'";
  for (char c : path) text += c == '\'' ? "''" : std::string(1, c);
  return text + "'";
}

bool succeeds(const std::string& command) {
  return std::system((command + " >/dev/null 2>&1").c_str()) == 0;
}

constexpr PictureFormat kFormats[] = {
    {".png", "pngcairo size 1500,480 font ',11'"},
    {".pdf", "pdfcairo size 15,4.8 font ',11'"},
    {".svg", "svg size 1500,480 font ',11'"},
};

}  // namespace

const PictureFormat* picture_format(const std::string& path) {
  std::string extension = std::filesystem::path(path).extension();
  for (char& c : extension) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const auto* const found =
      std::find_if(std::begin(kFormats), std::end(kFormats),
                   [&](const PictureFormat& format) { return extension == format.extension; });
  return found == std::end(kFormats) ? nullptr : found;
}

std::string picture_formats() {
  std::string list;
  for (const PictureFormat& format : kFormats)
    list += std::string(list.empty() ? "" : ", ") + format.extension;
  return list;
}

void require_gnuplot(const std::string& path) {
  if (!succeeds("gnuplot --version")) throw std::runtime_error(kMissing);
  const PictureFormat& format = *picture_format(path);
  if (!succeeds(fmt::format("gnuplot -e \"set terminal {}\"", format.terminal)))
    throw std::runtime_error(fmt::format(
        "{}: the gnuplot of this machine cannot draw {}: install the package gnuplot-nox (Debian, "
        "Ubuntu), or choose another of {}",
        path, format.extension, picture_formats()));
}

void draw(const std::string& path, const Picture& picture) {
  Gnuplot().run(fmt::format(R"(
$thermo << EOD
{}EOD
$pairs << EOD
{}EOD
set encoding utf8
set terminal {}
set output {}
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
                            picture_format(path)->terminal, quoted(path), quoted(picture.title)));
  std::error_code error;
  if (std::filesystem::file_size(path, error) == 0 || error)
    throw std::runtime_error(path + ": gnuplot has not drawn the picture");
}

}  // namespace particles
