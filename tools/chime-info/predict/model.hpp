// How long a transfer takes, as a function of its size and of figures that have units: nothing here
// measures or prints.
//
// A path is a fixed cost and stages that each byte passes: a memory copy, a link, a NIC. A stage
// has a start, rates, and packets with headers. A link's rate is that of the narrowest part of its
// route. Stages follow one another, unless the path is cut into chunks: then they overlap, and all
// but the slowest cost one chunk each.
//
// Rates differ by size, because a buffer that is used again lies in the smallest cache that holds
// it. A stage has its rates in one of two ways:
//   caches  Up to a size all bytes go at that cache's rate. Up to twice the size some of them still
//           hit.
//   points  The rates are those of some sizes. Between two of them the rate changes with the
//           logarithm of the size.
//
// Paths, all until the data is in the peer's memory and the caller knows it:
//   mapped  a kernel's stores by NVLink, PCIe or shared memory
//   direct  a kernel writes the work request and rings the NIC, which reads the GPU's memory
//   proxy   the same, posted by a host thread that a kernel asks
//   staged  the host copies to its memory, sends, and copies to the peer's GPU; not pipelined
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace chime::predict {

// Sizes grow.
//   caches  Up to a size, at a rate. The last has no limit, so its size counts for nothing.
//   points  Of this size, at a rate. Smaller transfers than the first, and larger ones than the
//           last, go at theirs.
struct Level {
  double bytes = 0;
  double bytes_per_us = 0;
};

enum class Levels { kCaches, kPoints };

struct Stage {
  std::string name;
  double start_us = 0;        // before the first byte
  std::vector<Level> levels;  // at least one
  Levels kind = Levels::kCaches;
  double packet_bytes = 0;  // payload of a packet; 0: not cut
  double header_bytes = 0;  // of each packet, at the same rate
};

// Microseconds of `bytes` in a stage by itself.
double stage_us(const Stage& stage, double bytes);

struct TransferPath {
  std::string name;
  double fixed_us = 0;     // post, doorbell, wire, notice
  double overlap_us = 0;   // of it: in which bytes move already, for a core works out of order
  double short_us = 0;     // beside it, of short transfers, which go as messages; may be negative
  double short_bytes = 0;  // up to this size
  std::vector<Stage> stages = {};
  double chunk_bytes = 0;  // of the pipeline; 0: stages follow one another
  double host_us = 0;      // of fixed_us, in which a host thread is busy; so much of short_us, too
  double host_share = 0;   // of the time beyond it in which a host thread is busy
};

double time_us(const TransferPath& path, std::size_t bytes);
double megabytes_per_s(const TransferPath& path, std::size_t bytes);  // 10^6 bytes
// Host threads' time for a transfer, by its time: 0 to 1, more if two threads work at once.
double processor_share(const TransferPath& path, std::size_t bytes);

// Where one path becomes faster than the other.
struct Crossing {
  std::string slower_before, faster_from;  // names of the paths
  std::size_t bytes = 0;                   // the smallest size from which `faster_from` is faster
  double gain = 0;                         // how many times faster at the largest size of the range
};

// All changes of order between two paths from `least` to `most` bytes, found to the byte. Two
// changes between sizes of which one is less than twice the other are not seen.
std::vector<Crossing> crossings(const TransferPath& a, const TransferPath& b, std::size_t least,
                                std::size_t most);

}  // namespace chime::predict
