// A table in the form of the OSU benchmarks, which parsers know: '#' lines, then one row per size.
// The same as JSON when asked.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace chime::perf {

// A figure that this machine cannot give: printed as '-', null in JSON.
inline constexpr double kNotMeasured = std::numeric_limits<double>::quiet_NaN();

// The size of a message: shown with its unit, a number of bytes in JSON.
struct Size {
  std::size_t bytes;

  // "8 B", "64 KiB", "1 MiB": the largest unit in which it is a whole number.
  std::string in_words() const;
};

class Table {
 public:
  // `title` and `notes` say what a figure means: one way or a round trip, best or mean.
  Table(std::string title, std::string key, std::vector<std::string> columns,
        std::vector<std::string> notes);

  void print_header() const;
  void row(const std::string& key, const std::vector<double>& figures) { add(key, key, figures); }
  void row(std::size_t key, const std::vector<double>& figures) {
    row(std::to_string(key), figures);
  }
  void row(Size key, const std::vector<double>& figures) {
    add(key.in_words(), std::to_string(key.bytes), figures);
  }

  // For the JSON alone: prints nothing.
  void keep(Size key, const std::vector<double>& figures) {
    rows_.push_back({std::to_string(key.bytes), figures});
  }

  // Nothing if `path` is empty. False, with a message, if it cannot be written.
  bool write_json(const std::string& path) const;

 private:
  int key_width() const;
  void add(const std::string& shown, const std::string& key, const std::vector<double>& figures);

  std::string title_, key_;
  std::vector<std::string> columns_, notes_;
  std::vector<std::pair<std::string, std::vector<double>>> rows_;
};

}  // namespace chime::perf
