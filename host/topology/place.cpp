#include "host/topology/place.hpp"

#include <algorithm>

namespace chime::topology {

std::size_t shared_parts(const Place& a, const Place& b) {
  const auto [end, ignored] =
      std::mismatch(a.parts.begin(), a.parts.end(), b.parts.begin(), b.parts.end());
  return static_cast<std::size_t>(end - a.parts.begin());
}

std::string smallest_shared_part(const Place& a, const Place& b) {
  const std::size_t shared = shared_parts(a, b);
  return shared == 0 ? std::string() : a.parts[shared - 1];
}

}  // namespace chime::topology
