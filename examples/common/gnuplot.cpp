#include "common/gnuplot.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace examples {
namespace {

constexpr const char* kMissing =
    "--plot needs gnuplot, which is not here: install the package gnuplot-nox (Debian, Ubuntu) or "
    "leave --plot out";

struct Format {
  const char* extension;
  const char* terminal;    // of gnuplot
  int pixels_in_its_unit;  // in which the terminal counts
};
constexpr Format kFormats[] = {
    {".png", "pngcairo", 1}, {".pdf", "pdfcairo", 100}, {".svg", "svg", 1}};

const Format* format_of(const std::string& path) {
  std::string extension = std::filesystem::path(path).extension();
  for (char& c : extension) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const auto* const found =
      std::find_if(std::begin(kFormats), std::end(kFormats),
                   [&](const Format& format) { return extension == format.extension; });
  return found == std::end(kFormats) ? nullptr : found;
}

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
  Gnuplot& operator=(const Gnuplot&) = delete;

  void run(const std::string& script) {
    std::fwrite(script.data(), 1, script.size(), pipe_);
    const int status = pclose(std::exchange(pipe_, nullptr));
    if (status != 0)
      throw std::runtime_error("gnuplot ended with status " + std::to_string(status) +
                               ": no picture was drawn");
  }

 private:
  std::FILE* pipe_;
};

bool succeeds(const std::string& command) {
  return std::system((command + " >/dev/null 2>&1").c_str()) == 0;
}

std::string terminal_of(const Format& format, const PictureSize& size) {
  const auto length = [&](int pixels) {
    return std::to_string(static_cast<double>(pixels) / format.pixels_in_its_unit);
  };
  return std::string(format.terminal) + " size " + length(size.width) + "," + length(size.height) +
         " font ',11'";
}

}  // namespace

bool is_picture(const std::string& path) { return format_of(path) != nullptr; }

std::string picture_formats() {
  std::string list;
  for (const Format& format : kFormats)
    list += std::string(list.empty() ? "" : ", ") + format.extension;
  return list;
}

void require_gnuplot(const std::string& path) {
  if (!succeeds("gnuplot --version")) throw std::runtime_error(kMissing);
  const Format& format = *format_of(path);
  if (!succeeds(std::string("gnuplot -e \"set terminal ") + format.terminal + "\""))
    throw std::runtime_error(path + ": the gnuplot of this machine cannot draw " +
                             format.extension +
                             ": install the package gnuplot-nox (Debian, Ubuntu), or choose "
                             "another of " +
                             picture_formats());
}

void require_writable(const std::string& path) {
  errno = 0;
  if (!std::ofstream(path, std::ios::app))
    throw std::runtime_error(path + ": cannot be written: " + std::strerror(errno));
}

void draw_by_gnuplot(const std::string& path, const PictureSize& size,
                     const std::string& commands) {
  Gnuplot().run("set encoding utf8\nset terminal " + terminal_of(*format_of(path), size) +
                "\nset output " + quoted(path) + "\n" + commands);
  std::error_code error;
  if (std::filesystem::file_size(path, error) == 0 || error)
    throw std::runtime_error(path + ": gnuplot has not drawn the picture");
}

std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? "''" : std::string(1, c);
  return result + "'";
}

}  // namespace examples
