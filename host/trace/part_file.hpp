// The part of a timeline that this process writes: a file that is mapped, so that all that was
// recorded is in it also when the process is killed.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

#include "host/trace/clock.hpp"
#include "host/trace/part_format.hpp"

namespace chime::trace {

// What the process says of itself.
struct Process {
  int n_pes;
  int first_pe;
  std::string job;
};

class PartFile {
 public:
  // Throws host::Error that says what to do. `most_events`: room for at least so many.
  PartFile(const std::string& file, const Process& process, std::uint64_t most_events);
  // Never destroyed: a thread may be about to write the end of an event.
  PartFile(const PartFile&) = delete;

  // The events that the calling thread writes next, all zeros. Null, and the event of the caller is
  // counted as dropped: there is no room in the limit or on the disk.
  Chunk* take_chunk();
  void drop() { count(mine().dropped, 1); }

  // Another PE of this process records here, too.
  void add_pe();

  // The number of a name that lives for ever.
  std::uint32_t number_of(const char* name);

  // How far PE 0's clock is ahead of this process's now, and how far off that may be.
  void set_offset(std::int64_t offset_ns, std::uint64_t doubt_ns);
  // Recording has ended. `others_read_it`: on other hosts, to which a shared disk carries it.
  void close(bool others_read_it);

  bool is_closed() const;

  const PartHeader& header() const { return *reinterpret_cast<const PartHeader*>(memory_); }
  const std::string& file() const { return file_; }

 private:
  static constexpr std::size_t kMostNames = 4096;  // power of two
  struct Known {
    std::atomic<const char*> name{nullptr};
    std::uint32_t number = 0;
  };

  PartHeader& mine() { return *reinterpret_cast<PartHeader*>(memory_); }
  std::uint64_t count(std::uint64_t& word, std::uint64_t more);
  void map(std::uint64_t chunks);
  void fill_header(const Process& process, std::uint64_t chunks);
  std::uint32_t add_text(const char* text);

  std::string file_;
  int fd_ = -1;
  std::byte* memory_ = nullptr;
  std::mutex one_adds_;
  std::size_t names_used_ = 0;
  std::array<Known, kMostNames> known_;
};

}  // namespace chime::trace
