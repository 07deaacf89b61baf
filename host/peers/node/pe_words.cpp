#include "host/peers/node/pe_words.hpp"

#include <fmt/format.h>

#include <cassert>
#include <cstddef>

namespace chime::host {
namespace {

// How many of the first are neighbours.
std::size_t length_of_range(std::span<const int> pes) {
  std::size_t length = 1;
  while (length < pes.size() && pes[length] == pes[length - 1] + 1) ++length;
  return length;
}

}  // namespace

std::string pe_words(std::span<const int> pes) {
  assert(!pes.empty());
  std::string words = pes.size() == 1 ? "PE" : "PEs";
  const char* before = " ";
  while (!pes.empty()) {
    const std::size_t length = length_of_range(pes);
    words += fmt::format("{}{}", before, pes.front());
    if (length > 1) words += fmt::format("-{}", pes[length - 1]);
    pes = pes.subspan(length);
    before = ", ";
  }
  return words;
}

}  // namespace chime::host
