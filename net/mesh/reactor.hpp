// One thread that serves many sockets and clocks (epoll).
//
// A reactor belongs to the thread that runs it: all calls come from that thread, but for post() and
// rearm(), which any thread may make. Nothing in it may block. An exception of a callback ends
// run_once().
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "net/socket/deadline.hpp"
#include "net/socket/descriptor.hpp"

namespace chime::net {

class Reactor {
 public:
  using WatchId = std::uint64_t;
  using Task = std::function<void()>;
  // `events`: as epoll_wait gives them.
  using Ready = std::function<void(std::uint32_t events)>;
  using TimerId = std::pair<Deadline, std::uint64_t>;

  Reactor();

  // Calls `ready` whenever `fd` is ready for one of `events` (EPOLLIN, EPOLLOUT), or has failed.
  // `fd` must stay open until forget(). `ready` may forget anything, itself included: it is not
  // destroyed while it runs, and nobody is called after forget().
  WatchId watch(int fd, std::uint32_t events, Ready ready);
  void forget(WatchId id);

  // From now on `events`. From any thread, while `fd` is open; without effect after forget().
  void rearm(WatchId id, int fd, std::uint32_t events);

  // Calls `task` once, at `when` or later, unless cancelled.
  TimerId at(Deadline when, Task task);
  void cancel(const TimerId& timer) { timers_.erase(timer); }

  // Calls `task` from the thread that runs the reactor, after all that was posted before. From any
  // thread.
  void post(Task task);

  // The same, but a whole round comes before: it begins later, and serves all sockets that are
  // ready, each up to 256 KiB. If it looked at them more than kStale ago, because this process was
  // stopped, another round comes before. From any thread.
  void post_behind_arrivals(Task task);
  static constexpr std::chrono::seconds kStale{3};

  // Waits until something is ready, at most until `deadline`, and serves all that is: sockets
  // first, so that a thread that comes late does not take for late what has arrived, then clocks,
  // then what was posted, last what stands behind arrivals.
  void run_once(Deadline deadline = Deadline::max());

  // Until `is_done()` or `deadline`; whether it is done.
  template <class IsDone>
  bool run_until(IsDone is_done, Deadline deadline) {
    while (!is_done()) {
      if (Clock::now() >= deadline) return false;
      run_once(deadline);
    }
    return true;
  }

 private:
  struct Watch {
    int fd;
    Ready ready;
  };

  bool serve_sockets(Deadline deadline);
  void serve_clocks();
  void serve_posted();
  void serve_behind_arrivals(std::size_t n, Clock::time_point looked);

  Descriptor epoll_;
  Descriptor wake_;
  std::unordered_map<WatchId, std::shared_ptr<Watch>> watches_;
  std::map<TimerId, Task> timers_;
  std::uint64_t next_id_ = 1;
  std::mutex mutex_;  // guards posted_
  std::vector<Task> posted_;
  std::deque<Task> behind_arrivals_;  // since a round that has ended
};

}  // namespace chime::net
