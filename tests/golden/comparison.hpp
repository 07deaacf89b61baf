// Two work requests side by side, byte by byte, but for a list of differences that are allowed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace chime::tests {

using Bytes = std::vector<std::uint8_t>;

// What other posters may have written differently, and why that is right.
enum class Allow { kQpn, kIndex, kCe, kAddress, kKey };
struct Allowance {
  Allow allow;
  const char* name;
  const char* why;
};
inline constexpr Allowance kAllowances[] = {
    {Allow::kQpn, "qpn", "each posts to a queue pair of its own; compared with its number"},
    {Allow::kIndex, "index", "each queue counts its own WQEBBs; compared with that count"},
    {Allow::kCe, "ce",
     "0 of libmlx5, a CQE for every failure, may be 1 of Chime: a CQE for the first failure alone, "
     "so that flushed requests do not hide it"},
    {Allow::kAddress, "address", "recorded elsewhere"},
    {Allow::kKey, "key", "recorded elsewhere"},
};

struct Differences {
  std::set<std::string> allowed;   // names
  std::vector<std::size_t> wrong;  // bytes that differ and must not
};

Differences compare(const Bytes& reference, const Bytes& ours, const std::set<Allow>& allowed);

// Both, a line for each segment where they are equal and two where they are not.
std::string side_by_side(const char* source, const Bytes& reference, const Bytes& ours,
                         const std::set<Allow>& allowed);

}  // namespace chime::tests
