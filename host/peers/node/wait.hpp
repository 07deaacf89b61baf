// A wait for the node's other PEs, in slices, so that one that dies before it comes is noticed at
// once, and one whose set-up has failed soon.
#pragma once

#include <mutex>
#include <optional>
#include <span>

#include "bootstrap/bootstrap.hpp"
#include "host/errors/error.hpp"
#include "net/mesh/reactor.hpp"

namespace chime::host {

[[noreturn]] void fail_to_meet(chimex_status code, std::string what);

class NodeWait {
 public:
  NodeWait(const bootstrap::Bootstrap& bootstrap, net::Deadline deadline)
      : bootstrap_(bootstrap), deadline_(deadline) {}

  net::Deadline deadline() const { return deadline_; }

  // Serves `reactor` until `is_done()`. Throws Error as soon as the launcher knows that some of
  // `awaited()`, a list of PEs, are gone, naming them all; when one of `expected()` reports that
  // its set-up has failed; and at the deadline, naming the PEs that did not come.
  template <class IsDone, class Awaited, class Expected>
  void until(net::Reactor& reactor, IsDone is_done, Awaited awaited, Expected expected) {
    while (!reactor.run_until(is_done, next_check())) {
      check(awaited());
      ask_one_if_late(expected());
      if (net::Clock::now() >= deadline_) fail_as_late(awaited());
    }
  }
  template <class IsDone, class Awaited>
  void until(net::Reactor& reactor, IsDone is_done, Awaited awaited) {
    until(reactor, is_done, awaited, awaited);
  }

  // Throws if some of `pes` are known to be gone, or a failure has been heard.
  void check(std::span<const int> pes);

  // Likewise, after `by`, one of the PEs, has left: checks for a second. A PE that leaves has
  // mostly heard of a loss or a failure, and this PE hears of it in a moment.
  void check_for_the_cause(std::span<const int> pes, int by);

 private:
  net::Deadline next_check() const;
  void ask_one_if_late(std::span<const int> pes);
  void ask(int pe);
  [[noreturn]] static void fail_as_late(std::span<const int> pes);

  const bootstrap::Bootstrap& bootstrap_;
  const net::Deadline deadline_;
  const net::Deadline asks_from_ = net::Clock::now() + bootstrap::kFailurePatience;
  std::mutex mutex_;
  std::optional<bootstrap::SetupFailure> heard_;  // under mutex_
  int asked_ = -1;                                // of its failure
  bootstrap::Question question_;                  // last: its answer uses the above
};

}  // namespace chime::host
