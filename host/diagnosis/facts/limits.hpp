// The limits of this process: /proc/self/limits (proc(5)).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "host/diagnosis/root.hpp"

namespace chime::doctor {

inline constexpr std::uint64_t kUnlimited = ~std::uint64_t{0};

// The soft limit of a row: "Max open files", "Max locked memory" (bytes).
std::optional<std::uint64_t> soft_limit(const std::string& row, const Root& root);

}  // namespace chime::doctor
