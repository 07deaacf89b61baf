// Counts the instructions that the calling OS thread executes in the program itself, by the
// processor's single-step trap: exact, the same in every run, and without a tool. Instructions in
// libraries, such as the executor's barriers in libchime.so, do not count.
#pragma once

#include <cstdint>

namespace chime::perf {

// Whether this machine can do it: x86-64 with Linux.
bool can_count_instructions();

// Counts until stop_counting(), which returns the number. Each instruction costs about a
// microsecond.
void start_counting();
std::uint64_t stop_counting();

}  // namespace chime::perf
