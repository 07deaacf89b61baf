// The figures of this machine's paths, from samples of three sizes each and memory's rates.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "measure.hpp"
#include "model.hpp"

namespace chime::predict {

// Small: a call's own cost, of a put that is no message. Middle: within the caches and windows on
// the way. Large: beyond them.
struct ThreeSizes {
  std::size_t small, middle, large;
};

// The sizes by which a path ("p2p", "nic" or "proxy") is calibrated.
ThreeSizes calibration_sizes(const std::string& path);

// The caches of a core, smallest first, in bytes; what the system does not tell is taken as 32 KiB
// and 1 MiB.
struct Caches {
  double first = 32 << 10, second = 1 << 20;
};
Caches caches_of_this_machine();

// The sizes by which the rate of memory is calibrated: one within each cache, one beyond.
ThreeSizes memory_sizes(const Caches& caches);

// From `samples`, which must have the sizes above; throws std::runtime_error that names the one
// that is not there.
Stage copy_stage(const std::vector<Sample>& samples, const Caches& caches);
TransferPath direct_path(const Samples& samples, const Caches& caches);
TransferPath staged_path(const Samples& samples, const Caches& caches);

}  // namespace chime::predict
