// What kernels call that is no instruction (vocabulary/env.hpp).
#pragma once

#include <cstdint>
#include <string>

#include "softgpu/vocabulary/env.hpp"

namespace softgpu {

// vprintf writes to stdout.
const Services& services();

// What printf in a kernel writes. `arguments` are packed: each behind the one before, at a multiple
// of its own size. *count: how many conversions there were.
std::string formatted(const char* format, const std::uint8_t* arguments, int* count);

}  // namespace softgpu
