// The ends of PEs, in the order that counts: killed PEs come first.
//
// A PE that was killed makes others end, and end the job, within a millisecond, and neither the
// system nor several hosts say in which order. So when something ends badly, every host is asked to
// look which of its PEs have ended by now, and the findings are taken together: the killed, the
// aborts, the others. Aborts are taken before that look, so that a PE that was killed before an
// abort was sent is seen with it. The system closes a killed process's connections before it
// informs the parent, so where none was killed and some still run, a moment is waited.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "crews/crew.hpp"
#include "hub_events.hpp"

namespace chime::run {

class Ends {
 public:
  struct Batch {
    std::vector<PeEnd> killed;
    std::vector<Abort> aborts;
    std::vector<PeEnd> others;
  };

  void add(std::vector<Abort> aborts);
  void add(std::vector<PeEnd> ends);

  // The ends that can be reported now. Empty while hosts still look, a second at most, or the end
  // of a killed PE may still arrive, 0.1 s at most.
  std::optional<Batch> take(const std::vector<std::unique_ptr<Crew>>& crews);
  bool has_waiting() const;
  std::optional<Clock::time_point> next() const;

 private:
  Batch batch_;
  std::optional<Clock::time_point> look_until_, dying_until_;
};

}  // namespace chime::run
