// Functions that kernels call and that are no instructions (vocabulary/env.hpp).
#pragma once

#include <cstdint>
#include <string>

#include "softgpu/vocabulary/env.hpp"

namespace softgpu {

// vprintf writes to stdout.
const Services& services();

// The text that printf in a kernel writes. `arguments` are packed: each follows the one before, at
// a multiple of its own size. *count: the number of conversions.
std::string formatted(const char* format, const std::uint8_t* arguments, int* count);

}  // namespace softgpu
