// A timeline, read back from its file.
#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// The file is no timeline of Chime's, or cannot be read.
struct BadTimeline : std::runtime_error {
  using std::runtime_error::runtime_error;
};

enum class Category : std::uint8_t { kCall, kKernel, kCollective, kWait, kOther };

// PE of rank 0 (-1: not known) and handle: teams of other PEs may have the same handle.
using Team = std::pair<int, std::int64_t>;

struct Span {
  std::int64_t begin_ns, end_ns;
  int pe;
  int peer;  // -1: none, or not known
  std::uint32_t track;
  std::uint32_t name;  // Timeline::names
  Team team;           // of a collective
  Category category;

  std::int64_t length_ns() const { return end_ns - begin_ns; }
};

// Indices of spans: an operation, and the wait that it ended.
struct Arrow {
  std::size_t from, to;
};

struct Timeline {
  std::vector<Span> spans;  // by time
  std::vector<Arrow> arrows;
  std::vector<std::string> names;
  int pes = 0;
  std::uint64_t dropped = 0;

  const std::string& name_of(const Span& span) const { return names[span.name]; }
};

// Throws BadTimeline.
Timeline read_timeline(const std::string& file);

inline double ms(std::int64_t ns) { return static_cast<double>(ns) * 1e-6; }
