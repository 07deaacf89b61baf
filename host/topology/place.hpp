// Where a device or a processor is: the parts of the machine that it is in, from the machine down.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace chime::topology {

struct Place {
  // {"the machine", "package 1", "host bridge 0000:80", "PCI bridge 0000:80:01.0"}; empty: not
  // known.
  std::vector<std::string> parts;

  bool is_known() const { return !parts.empty(); }
};

// The number of parts that two places have in common. If one of two places shares more with a
// third, it is nearer to the third.
std::size_t shared_parts(const Place& a, const Place& b);

// The smallest of them, for people; empty if there is none.
std::string smallest_shared_part(const Place& a, const Place& b);

}  // namespace chime::topology
