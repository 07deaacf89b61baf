// A recorded failure (abi::ErrorRecord) in words: what failed, where, and why.
#pragma once

#include <cstdint>
#include <string>

#include "chime/abi/pe.h"
#include "host/pe/runtime.hpp"

namespace chime::host {

// What went wrong, without who met it: "there is no PE 9; this job has PEs 0 to 3".
std::string sentence(const Runtime& runtime, const abi::ErrorRecord& record);

// What is wrong with `op`, a number that is no signal operation, and which numbers are.
std::string signal_op_sentence(std::int64_t op);

// A failure behind its operation and, of a kernel, its thread.
AsyncError describe(const Runtime& runtime, const abi::ErrorRecord& record);

}  // namespace chime::host
