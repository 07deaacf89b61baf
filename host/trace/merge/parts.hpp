// Reads the parts of a timeline: of the latest job, also where processes of it were killed.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "host/trace/part_format.hpp"

namespace chime::trace {

class Part {
 public:
  // Throws host::Error that says what is wrong with the file.
  explicit Part(const std::string& file);
  ~Part();
  Part(const Part&) = delete;

  const PartHeader& header() const { return header_; }
  bool is_closed() const { return header_.closed_ns != 0; }
  std::span<const Chunk> chunks() const;
  std::string name(std::uint32_t number) const;
  // What to add to a time of the part to get PE 0's, and how far off that may be.
  std::int64_t offset_at(std::uint64_t ns) const;
  std::uint64_t doubt_ns() const;
  // A time of the part as PE 0's.
  std::uint64_t in_time_of_first(std::uint64_t ns) const;

 private:
  std::string file_;
  std::size_t bytes_ = 0;
  const std::byte* memory_ = nullptr;
  PartHeader header_{};
};

// An event, in PE 0's time.
struct Span {
  std::uint64_t begin_ns, end_ns;
  const Event* event;
  const Part* part;
  std::int32_t thread;  // the system's
  bool is_open;         // it had not ended when recording did
};

// When processes ended, by the first PE of each: nanoseconds of this process's clock.
using EndsOfPes = std::map<int, std::uint64_t>;

struct Parts {
  std::vector<std::unique_ptr<Part>> all;  // by their first PE
  std::vector<std::string> files;          // also those of earlier jobs

  // The events of all parts by time. An event that holds others comes before them.
  // One that has not ended lasts until its process did.
  std::vector<Span> spans(const EndsOfPes& ends = {}) const;
  bool are_complete() const;  // each process has recorded until its end
};

// The parts in `folder`. Throws host::Error: there are none, or one is no part.
Parts read_parts(const std::string& folder);

}  // namespace chime::trace
