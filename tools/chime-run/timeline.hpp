// The timeline of a job (CHIME_TRACE) as its launcher sees it: PE 0 writes the file where all PEs
// end well, and here it is written where they do not.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace chime::run {

// Where the PEs of a job with these variables write one, as an absolute path, which is also what
// the variables say afterwards; empty: nowhere.
std::string take_timeline(std::vector<std::string>& variables);

// Throws std::exception that says why it cannot be written.
void prepare_timeline(const std::string& path);

// When no PE runs any more. `ends`: when each ended, in nanoseconds of trace::now_ns(). Says on
// stderr what it has done or why it could not.
void finish_timeline(const std::string& path, const std::map<int, std::uint64_t>& ends) noexcept;

}  // namespace chime::run
