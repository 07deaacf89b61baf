// The figures of this machine's paths, from samples of three sizes each and memory's rates.
#pragma once

#include <string>
#include <vector>

#include "measure.hpp"
#include "model.hpp"

namespace chime::predict {

// The sizes by which a path ("p2p", "nic" or "proxy") is calibrated: a put so small that it shows
// the call's own cost, one within the caches on the way, one beyond them. By the proxy, one of the
// short puts that go as messages, too.
std::vector<std::size_t> calibration_sizes(const std::string& path);

// From `copies`, of sizes that grow. REQUIRES: there is one.
Stage copy_stage(const std::vector<Copy>& copies);

// From samples of the path's sizes; throws std::runtime_error that names the one that is not there.
TransferPath direct_path(const Samples& samples);
TransferPath staged_path(const Samples& samples);

}  // namespace chime::predict
