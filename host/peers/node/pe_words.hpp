// Any number of PEs, in words.
#pragma once

#include <span>
#include <string>

namespace chime::host {

// "PE 3", or "PEs 0-3, 7". REQUIRES: `pes` ascend, and there is one.
std::string pe_words(std::span<const int> pes);

}  // namespace chime::host
