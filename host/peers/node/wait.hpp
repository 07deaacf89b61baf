// A wait for the node's other PEs, in slices, so that one that dies before it comes is noticed at
// once.
#pragma once

#include <span>

#include "bootstrap/bootstrap.hpp"
#include "host/errors/error.hpp"
#include "net/reactor.hpp"

namespace chime::host {

[[noreturn]] void fail_to_meet(chimex_status code, std::string what);

class NodeWait {
 public:
  NodeWait(const bootstrap::Bootstrap& bootstrap, net::Deadline deadline)
      : bootstrap_(bootstrap), deadline_(deadline) {}

  net::Deadline deadline() const { return deadline_; }

  // Serves `reactor` until `is_done()`. Throws Error as soon as the launcher knows that some of
  // `awaited()`, a list of PEs, are gone, naming them all; and at the deadline, naming who did not
  // come.
  template <class IsDone, class Awaited>
  void until(net::Reactor& reactor, IsDone is_done, Awaited awaited) const {
    while (!reactor.run_until(is_done, next_check())) {
      check(awaited());
      if (net::Clock::now() >= deadline_) fail_as_late(awaited());
    }
  }

  // Throws if some of `pes` are known to be gone.
  void check(std::span<const int> pes) const;

  // The same by a PE that another has left, for a quarter of a second: who leaves has mostly heard
  // of a loss, of which this PE hears in a moment.
  void check_for_the_cause(std::span<const int> pes) const;

 private:
  net::Deadline next_check() const;
  [[noreturn]] static void fail_as_late(std::span<const int> pes);

  const bootstrap::Bootstrap& bootstrap_;
  const net::Deadline deadline_;
};

}  // namespace chime::host
