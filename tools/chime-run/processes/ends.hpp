// How PEs end, in the order in which it counts: whoever was killed comes first.
//
// A PE that was killed makes others end, and end the job, within a millisecond, and neither the
// system nor several hosts tell in which order. So when something ends badly, every host is asked
// to look which of its PEs have ended by now, and what is found is taken together: the killed, the
// aborts, the others. Aborts are taken before that look, so that whoever was killed before one was
// sent is seen with it. The system closes a killed process's connections before it tells the
// parent, so where none was killed and some still run, a moment is waited.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "crews/crew.hpp"
#include "hub_news.hpp"

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

  // What can be told of now; empty while hosts still look, a second at most, or a killed PE may be
  // on its way, 0.1 s at most.
  std::optional<Batch> take(const std::vector<std::unique_ptr<Crew>>& crews);
  bool has_waiting() const;
  std::optional<Clock::time_point> next() const;

 private:
  Batch batch_;
  std::optional<Clock::time_point> look_until_, dying_until_;
};

}  // namespace chime::run
