// Jobs of two PEs on this machine, each of which measures one path.
#pragma once

#include <string>
#include <vector>

#include "measure.hpp"

namespace chime::predict {

// Starts this program as the PEs, by the chime-run that belongs to it, so that `path` ("p2p", "nic"
// or "proxy") is the one from PE 0 to PE 1, and returns what they print. The NIC is CHIME_NIC's, or
// the one that is found. A job that has not ended after two minutes is ended.
// Throws std::runtime_error: there is no such path here, or the job failed; the PEs have said why.
Samples measure_path(const std::string& path, const std::vector<std::size_t>& sizes, int repeats);

}  // namespace chime::predict
