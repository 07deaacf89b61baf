// Counts where other processes find them: in a file without a name (memfd) that the PE's process
// has open, so that nothing is left behind, and who may look at the process's descriptors in /proc
// may read it (the user himself, and root).
#pragma once

#include <sys/types.h>

#include <vector>

#include "net/socket/descriptor.hpp"
#include "proxy/counts/counts.hpp"

namespace chime::proxy {

class CountsFile {
 public:
  // Throws std::system_error.
  explicit CountsFile(int pe);
  ~CountsFile();
  CountsFile(const CountsFile&) = delete;

  Counts& counts() const { return *counts_; }

 private:
  const net::Descriptor file_;
  Counts* counts_;
};

// What stands in such a file.
struct FoundCounts {
  pid_t process = 0;
  alignas(Counts) std::byte bytes[sizeof(Counts)];

  const Counts& counts() const { return *reinterpret_cast<const Counts*>(bytes); }
};

// Those of process `process`: of each of its PEs that has a proxy. Empty also where the process is
// not there, or not to be looked at.
std::vector<FoundCounts> counts_of(pid_t process);

// Those of all processes that may be looked at.
std::vector<FoundCounts> all_counts();

}  // namespace chime::proxy
