// One thread that serves many sockets and clocks (epoll).
//
// A reactor belongs to the thread that runs it: all calls come from that thread, but for post() and
// rearm(), which any thread may make. Nothing in it may block. An exception of a callback ends
// run_once().
#pragma once

#include <cstdint>
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

  // Waits until something is ready, at most until `deadline`, and serves all that is: sockets
  // first, so that a thread that comes late does not take for late what has arrived, then clocks,
  // then what was posted.
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

  void serve_sockets(Deadline deadline);
  void serve_clocks();
  void serve_posted();

  Descriptor epoll_;
  Descriptor wake_;
  std::unordered_map<WatchId, std::shared_ptr<Watch>> watches_;
  std::map<TimerId, Task> timers_;
  std::uint64_t next_id_ = 1;
  std::mutex mutex_;  // guards posted_
  std::vector<Task> posted_;
};

}  // namespace chime::net
