// The limits of this process: /proc/self/limits (proc(5)), and its right to exceed one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "host/diagnosis/root.hpp"

namespace chime::doctor {

inline constexpr std::uint64_t kUnlimited = ~std::uint64_t{0};

// The soft limit of a row: "Max open files", "Max locked memory" (bytes).
std::optional<std::uint64_t> soft_limit(const std::string& row, const Root& root);

// Whether the kernel lets this process lock more than its limit: it has CAP_IPC_LOCK, and not in a
// user namespace of its own.
bool may_lock_more(const Root& root);

}  // namespace chime::doctor
