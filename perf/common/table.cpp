#include "table.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

namespace chime::perf {
namespace {

// The load of the last minute: it shows figures from a busy machine.
std::string load_average() {
  std::string minute = "unknown";
  std::ifstream("/proc/loadavg") >> minute;
  return minute;
}

bool is_number(const std::string& key) {
  return key.find_first_not_of("0123456789") == std::string::npos;
}

}  // namespace

std::string Size::in_words() const {
  constexpr std::size_t kKibi = 1 << 10, kMebi = 1 << 20;
  if (bytes >= kMebi && bytes % kMebi == 0) return std::to_string(bytes / kMebi) + " MiB";
  if (bytes >= kKibi && bytes % kKibi == 0) return std::to_string(bytes / kKibi) + " KiB";
  return std::to_string(bytes) + " B";
}

Table::Table(std::string title, std::string key, std::vector<std::string> columns,
             std::vector<std::string> notes)
    : title_(std::move(title)),
      key_(std::move(key)),
      columns_(std::move(columns)),
      notes_(std::move(notes)) {
  notes_.push_back("load average at start: " + load_average());
}

int Table::key_width() const { return std::max(8, static_cast<int>(key_.size())); }

void Table::print_header() const {
  std::printf("# Chime %s\n", title_.c_str());
  for (const std::string& note : notes_) std::printf("# %s\n", note.c_str());
  std::printf("# %-*s", key_width(), key_.c_str());
  for (const std::string& column : columns_) std::printf("  %18s", column.c_str());  // apart
  std::printf("\n");
  std::fflush(stdout);
}

void Table::add(const std::string& shown, const std::string& key,
                const std::vector<double>& figures) {
  std::printf("%-*s", key_width() + 2, shown.c_str());
  for (const double figure : figures) {
    std::isnan(figure) ? std::printf("%20s", "-") : std::printf("%20.3f", figure);
  }
  std::printf("\n");
  std::fflush(stdout);
  rows_.push_back({key, figures});
}

bool Table::write_json(const std::string& path) const {
  if (path.empty()) return true;
  nlohmann::ordered_json out = {{"title", title_}, {"notes", notes_}, {"key", key_}};
  for (const auto& [key, figures] : rows_) {
    nlohmann::ordered_json row;
    row[key_] = is_number(key) ? nlohmann::ordered_json::parse(key) : nlohmann::ordered_json(key);
    for (std::size_t i = 0; i < figures.size(); ++i) {
      row[columns_[i]] =
          std::isnan(figures[i]) ? nlohmann::ordered_json() : nlohmann::ordered_json(figures[i]);
    }
    out["rows"].push_back(row);
  }
  std::ofstream file(path);
  file << out.dump(1) << '\n';
  if (!file.flush()) {
    std::fprintf(stderr, "cannot write %s\n", path.c_str());
    return false;
  }
  return true;
}

}  // namespace chime::perf
