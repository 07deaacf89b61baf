#include "sizes.hpp"

#include <fmt/format.h>

#include <charconv>
#include <stdexcept>

namespace chime::predict {
namespace {

constexpr std::size_t kMost = std::size_t{1} << 40;

[[noreturn]] void refuse(const std::string& text) {
  throw std::invalid_argument(fmt::format(
      "'{}' is not a size from 1 byte to 1024G (8, 64K, 4M), or two of them, the smaller first, "
      "with a colon between",
      text));
}

std::size_t unit_of(const std::string& suffix, const std::string& text) {
  if (suffix.empty() || suffix == "B") return 1;
  if (suffix == "K" || suffix == "k") return 1 << 10;
  if (suffix == "M") return 1 << 20;
  if (suffix == "G") return 1 << 30;
  refuse(text);
}

}  // namespace

std::size_t size_of(const std::string& text) {
  std::size_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [after, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc()) refuse(text);
  const std::size_t unit = unit_of(std::string(after, end), text);
  if (number == 0 || number > kMost / unit) refuse(text);
  return number * unit;
}

std::vector<std::size_t> sizes_in(const std::string& range) {
  const std::size_t colon = range.find(':');
  if (colon == std::string::npos) refuse(range);
  const std::size_t least = size_of(range.substr(0, colon)),
                    most = size_of(range.substr(colon + 1));
  if (least > most) refuse(range);
  std::vector<std::size_t> sizes;
  for (std::size_t bytes = least; bytes < most; bytes *= 2) sizes.push_back(bytes);
  sizes.push_back(most);
  return sizes;
}

std::string in_words(std::size_t bytes) {
  constexpr std::size_t kKibi = 1 << 10, kMebi = 1 << 20, kGibi = 1 << 30;
  if (bytes >= kGibi && bytes % kGibi == 0) return fmt::format("{} GiB", bytes / kGibi);
  if (bytes >= kMebi && bytes % kMebi == 0) return fmt::format("{} MiB", bytes / kMebi);
  if (bytes >= kKibi && bytes % kKibi == 0) return fmt::format("{} KiB", bytes / kKibi);
  return fmt::format("{} B", bytes);
}

}  // namespace chime::predict
