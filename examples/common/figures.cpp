#include "common/figures.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "common/gnuplot.hpp"

namespace examples {
namespace {

bool is_number(const std::string& key) {
  return key.find_first_not_of("0123456789") == std::string::npos;
}

std::string in_digits(double figure, const char* none) {
  if (std::isnan(figure)) return none;
  char text[64];
  std::snprintf(text, sizeof(text), std::abs(figure) < 1 ? "%.3g" : "%.3f", figure);
  return text;
}

// "us" of "device (us)"; nothing of a column without a unit.
std::string unit_of(const std::string& column) {
  const std::size_t begin = column.find('('), end = column.find(')');
  return begin == std::string::npos ? "" : column.substr(begin + 1, end - begin - 1);
}
std::string name_of(const std::string& column) { return column.substr(0, column.find(" (")); }

std::vector<std::size_t> drawn_columns(const Figures& figures) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < figures.columns.size(); ++i)
    if (unit_of(figures.columns[i]) == unit_of(figures.columns[0])) found.push_back(i);
  return found;
}

// gnuplot draws nothing where a figure is NaN.
std::string data_of(const Figures& figures) {
  std::string text = "$data << EOD\n";
  for (const Figures::Row& row : figures.rows) {
    text += is_number(row.key) ? row.key : "\"" + row.key + "\"";
    for (const double figure : row.figures) text += " " + in_digits(figure, "NaN");
    text += "\n";
  }
  return text + "EOD\n";
}

bool gives_curves(const Figures& figures) {
  return figures.rows.size() > 1 &&
         std::all_of(figures.rows.begin(), figures.rows.end(),
                     [](const Figures::Row& row) { return is_number(row.key); });
}

std::string style_of(const Figures& figures) {
  if (gives_curves(figures)) return "set logscale xy\nset offsets graph 0.05, graph 0.05, 0, 0\n";
  return "set style data histograms\nset style fill solid 0.7 noborder\nset yrange [0:*]\n";
}

std::string curves_of(const Figures& figures) {
  const bool is_curve = gives_curves(figures);
  std::string text;
  for (const std::size_t i : drawn_columns(figures)) {
    const std::string column = std::to_string(i + 2);
    text +=
        std::string(text.empty() ? "plot " : ", ") + "$data using " +
        (is_curve ? "1:" + column + ":xtic(1) with linespoints lw 2 pt 7" : column + ":xtic(1)") +
        " title " + quoted(name_of(figures.columns[i])) + " noenhanced";
  }
  return text + "\n";
}

// Cells stand at least two spaces apart.
constexpr std::size_t kApart = 2, kLeastWidth = 10;

std::string padded(const std::string& text, std::size_t width) {
  return text + std::string(width - text.size(), ' ');
}
std::string right_in(const std::string& text, std::size_t width) {
  return std::string(std::max(kApart, width - std::min(width, text.size())), ' ') + text;
}

void print_table(const Figures& figures) {
  std::size_t key_width = figures.key.size() + 2;  // "# "
  for (const Figures::Row& row : figures.rows) key_width = std::max(key_width, row.key.size());
  std::string header = padded("# " + figures.key, key_width);
  std::vector<std::string> lines;
  for (const Figures::Row& row : figures.rows) lines.push_back(padded(row.key, key_width));
  for (std::size_t i = 0; i < figures.columns.size(); ++i) {
    const std::size_t width = kApart + std::max(kLeastWidth, figures.columns[i].size());
    header += right_in(figures.columns[i], width);
    for (std::size_t r = 0; r < lines.size(); ++r)
      lines[r] += right_in(in_digits(figures.rows[r].figures[i], "-"), width);
  }
  std::printf("# %s: %s\n%s\n", figures.program.c_str(), figures.what.c_str(), header.c_str());
  for (const std::string& line : lines) std::printf("%s\n", line.c_str());
}

void print_json(const Figures& figures) {
  std::printf("{\"program\": \"%s\"", figures.program.c_str());
  for (const auto& [name, value] : figures.facts)
    std::printf(", \"%s\": %s", name.c_str(), value.c_str());
  std::printf(", \"key\": \"%s\", \"rows\": [", figures.key.c_str());
  for (const Figures::Row& row : figures.rows) {
    const char* const quote = is_number(row.key) ? "" : "\"";
    std::printf("%s{\"%s\": %s%s%s", &row == figures.rows.data() ? "" : ", ", figures.key.c_str(),
                quote, row.key.c_str(), quote);
    for (std::size_t i = 0; i < row.figures.size(); ++i)
      std::printf(", \"%s\": %s", figures.columns[i].c_str(),
                  in_digits(row.figures[i], "null").c_str());
    std::printf("}");
  }
  std::printf("]}\n");
}

// In pixels.
constexpr PictureSize kSize = {800, 480};

void draw(const std::string& path, const Figures& figures) {
  draw_by_gnuplot(path, kSize,
                  data_of(figures) + "set title " + quoted(figures.program + ": " + figures.what) +
                      " noenhanced\nset grid\nset key outside below center horizontal\n" +
                      "set xlabel " + quoted(figures.key) + " noenhanced\nset ylabel " +
                      quoted(unit_of(figures.columns[0])) + " noenhanced\n" + style_of(figures) +
                      curves_of(figures));
}

}  // namespace

void require_output(const Output& output) {
  if (output.plot.empty()) return;
  require_gnuplot(output.plot);
  require_writable(output.plot);
}

void report(const Figures& figures, const Output& output) {
  output.json ? print_json(figures) : print_table(figures);
  if (!output.plot.empty()) draw(output.plot, figures);
}

}  // namespace examples
