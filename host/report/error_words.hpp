// A recorded failure (abi::ErrorRecord) in words: what failed, where, and why.
#pragma once

#include <cstdint>
#include <string>

#include "chime/abi/pe.h"
#include "host/pe/runtime.hpp"

namespace chime::host {

// The failure, without the thread that met it: "there is no PE 9; this job has PEs 0 to 3".
std::string sentence(const Runtime& runtime, const abi::ErrorRecord& record);

// Says that `pe` is no PE of the job, and which PEs are. A job of one PE is often a program that
// was meant to be started by a launcher.
std::string no_such_pe(const Runtime& runtime, int pe);

// The fault of `op`, a number that is no signal operation, and the numbers that are.
std::string signal_op_sentence(std::int64_t op);

// A failure behind its operation and, of a kernel, its thread.
AsyncError describe(const Runtime& runtime, const abi::ErrorRecord& record);

}  // namespace chime::host
