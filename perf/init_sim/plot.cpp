#include "plot.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>
#include <sstream>

namespace chime::perf {
namespace {

constexpr double kWidth = 380, kHeight = 300, kLeft = 60, kRight = 20, kTop = 40, kBottom = 110;
constexpr std::array kColours = {"#1b6ca8", "#c8553d", "#4a8f4e", "#8a5fa8", "#b08a2e"};

// Maps powers of ten to positions.
struct Axis {
  double low = std::numeric_limits<double>::max(), high = std::numeric_limits<double>::lowest();
  double from = 0, to = 0;  // places

  void take(double value) {
    low = std::min(low, std::floor(std::log10(value)));
    high = std::max({high, std::ceil(std::log10(value)), low + 1});
  }
  double place(double value) const {
    return from + (std::log10(value) - low) / (high - low) * (to - from);
  }
};

std::string power_in_words(double power) {
  if (power >= -3 && power <= 3) {
    std::ostringstream out;
    out << std::pow(10, power);
    return out.str();
  }
  return "10<tspan dy=\"-5\" font-size=\"8\">" + std::to_string(static_cast<int>(power)) +
         "</tspan>";
}

void text(std::ostream& out, double x, double y, const char* anchor, const std::string& words) {
  out << "<text x=\"" << x << "\" y=\"" << y << "\" text-anchor=\"" << anchor << "\">" << words
      << "</text>\n";
}
void line(std::ostream& out, double x1, double y1, double x2, double y2, const char* style) {
  out << "<line x1=\"" << x1 << "\" y1=\"" << y1 << "\" x2=\"" << x2 << "\" y2=\"" << y2 << "\" "
      << style << "/>\n";
}

void draw_axes(std::ostream& out, const Axis& x, const Axis& y, const std::string& title) {
  for (double power = x.low; power <= x.high; ++power) {
    const double at = x.place(std::pow(10, power));
    line(out, at, y.from, at, y.to, "stroke=\"#ddd\"");
    text(out, at, y.from + 16, "middle", power_in_words(power));
  }
  for (double power = y.low; power <= y.high; ++power) {
    const double at = y.place(std::pow(10, power));
    line(out, x.from, at, x.to, at, "stroke=\"#ddd\"");
    text(out, x.from - 6, at + 4, "end", power_in_words(power));
  }
  text(out, (x.from + x.to) / 2, y.from + 32, "middle", "PEs");
  text(out, (x.from + x.to) / 2, y.to - 14, "middle",
       "<tspan font-weight=\"bold\">" + title + "</tspan>");
}

void draw_curve(std::ostream& out, const Axis& x, const Axis& y, const Curve& curve,
                const char* colour, double legend_y) {
  out << "<polyline fill=\"none\" stroke-width=\"2\" stroke=\"" << colour << "\" points=\"";
  for (const auto& [pes, figure] : curve.points)
    if (figure > 0) out << x.place(pes) << ',' << y.place(figure) << ' ';
  out << "\"/>\n";
  for (const auto& [pes, figure] : curve.points)
    if (figure > 0)
      out << "<circle r=\"3\" cx=\"" << x.place(pes) << "\" cy=\"" << y.place(figure)
          << "\" fill=\"" << colour << "\"/>\n";
  out << "<rect x=\"" << x.from << "\" y=\"" << legend_y - 8
      << "\" width=\"14\" height=\"4\" fill=\"" << colour << "\"/>\n";
  text(out, x.from + 20, legend_y, "start", curve.name);
}

void draw(std::ostream& out, const Panel& panel, double left) {
  Axis x, y;
  for (const Curve& curve : panel.curves)
    for (const auto& [pes, figure] : curve.points)
      if (figure > 0) x.take(pes), y.take(figure);
  if (panel.bound > 0) y.take(panel.bound);
  x.from = left + kLeft, x.to = left + kWidth - kRight;
  y.from = kHeight - kBottom + kTop, y.to = kTop;
  draw_axes(out, x, y, panel.title);
  if (panel.bound > 0)
    line(out, x.from, y.place(panel.bound), x.to, y.place(panel.bound),
         "stroke=\"black\" stroke-dasharray=\"6 4\"");
  double legend_y = y.from + 50;
  for (std::size_t i = 0; i < panel.curves.size(); ++i, legend_y += 14)
    draw_curve(out, x, y, panel.curves[i], kColours[i % kColours.size()], legend_y);
}

}  // namespace

bool write_plot(const std::string& path, const std::vector<Panel>& panels) {
  if (path.empty()) return true;
  std::ofstream out(path);
  out << "<svg xmlns=\"http://www.w3.org/2000/svg\" font-family=\"sans-serif\" font-size=\"11\" "
         "width=\""
      << kWidth * static_cast<double>(panels.size()) << "\" height=\"" << kHeight + 40
      << "\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
  for (std::size_t i = 0; i < panels.size(); ++i)
    draw(out, panels[i], kWidth * static_cast<double>(i));
  out << "</svg>\n";
  if (out.flush()) return true;
  std::fprintf(stderr, "cannot write %s\n", path.c_str());
  return false;
}

}  // namespace chime::perf
