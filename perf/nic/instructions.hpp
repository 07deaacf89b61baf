// Counts the instructions that the calling OS thread executes in the program itself, by the
// processor's single-step trap: exact, the same in every run, and without a tool. What is executed
// in libraries, as the executor's barriers in libchime.so, does not count.
#pragma once

#include <cstdint>

namespace chime::perf {

// Whether this machine can: x86-64 with Linux.
bool can_count_instructions();

// Counting goes on until stop_counting(), which returns how many there were. Each costs about a
// microsecond.
void start_counting();
std::uint64_t stop_counting();

}  // namespace chime::perf
