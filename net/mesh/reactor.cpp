#include "net/mesh/reactor.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <array>
#include <cerrno>

#include "net/socket/error.hpp"
#include "net/socket/fork.hpp"

namespace chime::net {
namespace {

constexpr int kEventsARound = 64;
constexpr Reactor::WatchId kWake = 0;

epoll_event event_of(Reactor::WatchId id, std::uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = id;
  return event;
}

}  // namespace

Reactor::Reactor()
    : epoll_(opened_for_this_process([] { return epoll_create1(EPOLL_CLOEXEC); })),
      wake_(opened_for_this_process([] { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); })) {
  epoll_event event = event_of(kWake, EPOLLIN);
  if (!epoll_ || !wake_ || epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, wake_.get(), &event))
    throw system_error("cannot wait for sockets");
}

Reactor::WatchId Reactor::watch(int fd, std::uint32_t events, Ready ready) {
  const WatchId id = next_id_++;
  epoll_event event = event_of(id, events);
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event))
    throw system_error("cannot wait for a socket");
  watches_.emplace(id, std::make_shared<Watch>(Watch{fd, std::move(ready)}));
  return id;
}

void Reactor::forget(WatchId id) {
  const auto found = watches_.find(id);
  if (found == watches_.end()) return;
  epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, found->second->fd, nullptr);
  watches_.erase(found);
}

void Reactor::rearm(WatchId id, int fd, std::uint32_t events) {
  epoll_event event = event_of(id, events);
  epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event);
}

Reactor::TimerId Reactor::at(Deadline when, Task task) {
  const TimerId timer{when, next_id_++};
  timers_.emplace(timer, std::move(task));
  return timer;
}

void Reactor::post(Task task) {
  {
    std::lock_guard lock(mutex_);
    posted_.push_back(std::move(task));
  }
  eventfd_write(wake_.get(), 1);
}

// A whole round lies between: one that has begun may have looked at the sockets already.
void Reactor::post_behind_arrivals(Task task) {
  post([this, task = std::move(task)] { behind_arrivals_.push_back(task); });
}

void Reactor::run_once(Deadline deadline) {
  const Clock::time_point looked = Clock::now();
  const std::size_t waiting = behind_arrivals_.size();
  if (waiting) deadline = looked;
  const bool saw_all =
      serve_sockets(timers_.empty() ? deadline : std::min(deadline, timers_.begin()->first.first));
  serve_clocks();
  serve_posted();
  if (saw_all) serve_behind_arrivals(waiting, looked);
}

// Whether all sockets that were ready have been served: sockets that are left come first in the
// next round. An id that is not known was forgotten in this round.
bool Reactor::serve_sockets(Deadline deadline) {
  std::array<epoll_event, kEventsARound> events;
  const int timeout = deadline == Deadline::max() ? -1 : milliseconds_until(deadline);
  const int ready = epoll_wait(epoll_.get(), events.data(), kEventsARound, timeout);
  if (ready < 0 && errno != EINTR) throw system_error("cannot wait for sockets");
  for (int i = 0; i < ready; ++i) {
    const std::uint64_t id = events[i].data.u64;  // a copy: in a packed event it may lie askew
    const auto found = watches_.find(id);
    if (found == watches_.end()) continue;
    const std::shared_ptr<Watch> watch = found->second;
    watch->ready(events[i].events);
  }
  return ready >= 0 && ready < kEventsARound;
}

// Runs the tasks that are due now: one that a task sets for now waits for the next round.
void Reactor::serve_clocks() {
  const auto now = Clock::now();
  while (!timers_.empty() && timers_.begin()->first.first <= now) {
    const Task task = std::move(timers_.begin()->second);
    timers_.erase(timers_.begin());
    task();
  }
}

// The wake is cleared before the tasks are taken, and nowhere else: what is posted later wakes the
// next round.
void Reactor::serve_posted() {
  eventfd_t count;
  eventfd_read(wake_.get(), &count);
  std::vector<Task> posted;
  {
    std::lock_guard lock(mutex_);
    posted.swap(posted_);
  }
  for (const Task& task : posted) task();
}

// The first `n`, which were there when the sockets were `looked` at: unless this process was
// stopped since, and has to look again.
void Reactor::serve_behind_arrivals(std::size_t n, Clock::time_point looked) {
  for (; n > 0 && Clock::now() - looked < kStale; --n) {
    const Task task = std::move(behind_arrivals_.front());
    behind_arrivals_.pop_front();
    task();
  }
}

}  // namespace chime::net
