// Counts where other processes find them: in a file without a name (memfd) that the PE's process
// has open. So nothing is left behind, and only a user who may look at the process's descriptors in
// /proc may read it (its own user, and root).
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

// The content of such a file.
struct FoundCounts {
  pid_t process = 0;
  alignas(Counts) std::byte bytes[sizeof(Counts)];

  const Counts& counts() const { return *reinterpret_cast<const Counts*>(bytes); }
};

// The counts of process `process`: one for each of its PEs that has a proxy. Empty also where the
// process is not there, or may not be looked at.
std::vector<FoundCounts> counts_of(pid_t process);

// The counts of all processes that may be looked at.
std::vector<FoundCounts> all_counts();

}  // namespace chime::proxy
