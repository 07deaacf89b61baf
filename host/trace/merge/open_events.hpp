// When events end that have no end of their own: recording ended before, or their process did.
#pragma once

#include <cstdint>
#include <map>

#include "host/trace/merge/parts.hpp"

namespace chime::trace {

class OpenEvents {
 public:
  // Where the end of a process is not known, one that was killed has lived as long as anything is
  // known of the others.
  OpenEvents(const Parts& parts, const EndsOfPes& ends);

  // In PE 0's time.
  std::uint64_t end_ns(const Part& part, const Event& event) const;

 private:
  struct Ends {
    std::uint64_t recording_ns, process_ns;
  };
  std::map<const Part*, Ends> ends_;
};

}  // namespace chime::trace
