// The seam to a way of reaching peers: mapped memory (p2p/), later a NIC (mlx5/) and libfabric
// (ofi/).
#pragma once

#include <string>

#include "chime/abi/context.h"

namespace chime::host {

class Transport {
 public:
  virtual ~Transport() = default;

  // Which path of the device code this transport serves.
  virtual Path path() const = 0;

  // Whether `pe` can be reached this way; if not, why_not says why and what to change, in one
  // sentence.
  virtual bool reaches(int pe) const = 0;
  virtual std::string why_not(int pe) const = 0;
};

}  // namespace chime::host
