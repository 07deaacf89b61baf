// The system's clock of all times here, and which one it is.
#pragma once

#include <cstdint>
#include <string>

namespace chime::trace {

std::uint64_t now_ns();

// Processes of one machine that see the same clock have the same number.
std::uint64_t number_of_clock();

std::uint64_t hash_of(const std::string& text);

}  // namespace chime::trace
