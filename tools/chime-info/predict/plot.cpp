// The picture of a prediction, by gnuplot.
#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <system_error>

#include "report.hpp"
#include "sizes.hpp"

namespace chime::predict {
namespace {

namespace fs = std::filesystem;

struct Panel {
  const char *title, *scale;
  double (*figure)(const TransferPath&, std::size_t);
};

double percent_of_processor(const TransferPath& path, std::size_t bytes) {
  return 100 * processor_share(path, bytes);
}

constexpr Panel kPanels[] = {
    {"time, us", "set logscale xy", time_us},
    {"bandwidth, MB/s", "set logscale xy", megabytes_per_s},
    {"processor, %", "set logscale x; set yrange [0:*]", percent_of_processor}};

// gnuplot ends a string in double quotes at a quote, and reads what follows a backslash.
std::string quoted(const std::string& text) {
  std::string all = "\"";
  for (const char c : text)
    all += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return all + "\"";
}

std::string data_of(const Prediction& prediction, const TransferPath& path, const Panel& panel) {
  std::string text;
  for (const std::size_t bytes : prediction.sizes)
    text += fmt::format("{} {}\n", bytes, panel.figure(path, bytes));
  return text + "e\n";
}

// Where gnuplot draws: beside the picture's place, so that a failure leaves what was there. What is
// no file, such as /dev/stdout, is drawn to itself.
class Draft {
 public:
  explicit Draft(const std::string& png) : place_(png) {
    std::error_code error;
    const fs::file_status there = fs::status(png, error);
    if (fs::is_regular_file(there)) place_ = fs::canonical(png);  // a link stays one
    const bool is_file = fs::is_regular_file(there) || !fs::exists(there);
    name_ = is_file ? fmt::format("{}.{}", place_, ::getpid()) : place_;
    const bool is_writable = !fs::exists(there) || ::access(place_.c_str(), W_OK) == 0;
    std::FILE* const draft = is_writable ? std::fopen(name_.c_str(), "ab") : nullptr;
    if (!draft) throw std::runtime_error("no picture: " + png + " cannot be written");
    std::fclose(draft);
  }
  ~Draft() {
    std::error_code ignored;
    if (name_ != place_) fs::remove(name_, ignored);
  }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;

  const std::string& name() const { return name_; }
  void become_the_picture() {
    if (name_ != place_) fs::rename(name_, place_);
  }

 private:
  std::string place_, name_;
};

std::string panel_script(const Prediction& prediction, const Panel& panel) {
  std::string text = fmt::format("unset logscale; set yrange [*:*]; {}; set ylabel \"{}\"\nplot",
                                 panel.scale, panel.title);
  for (const TransferPath& path : prediction.paths)
    text += fmt::format("{} '-' with linespoints title {}",
                        &path == &prediction.paths.front() ? "" : ",", quoted(path.name));
  text += "\n";
  for (const TransferPath& path : prediction.paths) text += data_of(prediction, path, panel);
  return text;
}

}  // namespace

std::string gnuplot_script(const Prediction& prediction, const std::string& png) {
  std::string text = fmt::format(
      "set terminal pngcairo size 800,1000 font \",10\"\nset output {}\n"
      "set multiplot layout 3,1 title {} font \",8\" noenhanced\n"
      "set grid\nset key outside right\nset format x \"%.0b %B\"\nset xlabel \"bytes\"\n",
      quoted(png), quoted(prediction.notes.front()));
  text += "set xtics (";
  for (std::size_t i = 0; i < prediction.sizes.size(); i += 3)
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", quoted(in_words(prediction.sizes[i])),
                        prediction.sizes[i]);
  text += ")\n";
  for (const Panel& panel : kPanels) text += panel_script(prediction, panel);
  return text + "unset multiplot\n";
}

void plot(const Prediction& prediction, const std::string& png) {
  const char* const no_gnuplot =
      "no picture: gnuplot is not there or failed (Debian: gnuplot-nox); its words, if any, are "
      "above";
  Draft draft(png);
  std::signal(SIGPIPE, SIG_IGN);  // a gnuplot that is not there reads nothing
  std::FILE* const gnuplot = ::popen("exec gnuplot", "w");
  if (!gnuplot) throw std::runtime_error(no_gnuplot);
  const std::string script = gnuplot_script(prediction, draft.name());
  std::fwrite(script.data(), 1, script.size(), gnuplot);
  if (::pclose(gnuplot) != 0) throw std::runtime_error(no_gnuplot);
  draft.become_the_picture();
}

}  // namespace chime::predict
