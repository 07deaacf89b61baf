#include "common/options.hpp"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "common/gnuplot.hpp"

namespace examples {
namespace {

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == ',') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

}  // namespace

bool parse_number(const std::string& text, int least, int most, int* number) {
  int value = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stopped != end || value < least || value > most) return false;
  *number = value;
  return true;
}

bool parse_numbers(const std::string& text, int least, int most, std::vector<int>* numbers) {
  std::vector<int> values;
  for (const std::string& part : split(text))
    if (!parse_number(part, least, most, &values.emplace_back())) return false;
  *numbers = values;
  return true;
}

bool parse_names(const std::string& text, const std::vector<std::string>& known,
                 std::vector<std::string>* names) {
  std::vector<std::string> values;
  for (const std::string& part : split(text)) {
    const bool is_known = std::find(known.begin(), known.end(), part) != known.end();
    if (!is_known || std::find(values.begin(), values.end(), part) != values.end()) return false;
    values.push_back(part);
  }
  *names = values;
  return true;
}

bool parse_picture(const std::string& text, std::string* path) {
  if (!is_picture(text)) return false;
  *path = text;
  return true;
}

}  // namespace examples
