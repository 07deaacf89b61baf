#include "proxy/pause.hpp"

#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "net/socket/fork.hpp"
#include "proxy/processor.hpp"

namespace chime::proxy {
namespace {

timespec timespec_of(std::chrono::nanoseconds time) {
  constexpr long kSecond = 1'000'000'000;
  return {static_cast<time_t>(time.count() / kSecond), static_cast<long>(time.count() % kSecond)};
}

}  // namespace

Pause::Limits Pause::limits_beside(int pes) {
  Limits limits;
  if (processors_of_thread() < pes) limits.spin = {};
  return limits;
}

Pause::Pause(const Limits& limits, Counts& counts)
    : limits_(limits),
      event_(net::opened_for_this_process([] { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); })),
      upkeep_(limits.longest),
      counts_(counts) {
  if (!event_) throw std::system_error(errno, std::generic_category(), "eventfd");
}

// Sleeps of 20 us would else be 50 longer.
void Pause::begin() { prctl(PR_SET_TIMERSLACK, 1000); }

void Pause::wake() { eventfd_write(event_.get(), 1); }

bool Pause::sleep_until_woken(int descriptor, std::chrono::nanoseconds length) {
  pollfd watched[] = {{event_.get(), POLLIN, 0}, {descriptor, POLLIN, 0}};
  const timespec time = timespec_of(length);
  const auto begin = Clock::now();
  const int ready = ppoll(watched, descriptor < 0 ? 1 : 2, &time, nullptr);
  counts_.note_sleep(Clock::now() - begin);
  if (ready <= 0) return ready < 0;
  if (watched[1].revents != 0) reset();
  if (watched[0].revents != 0) {
    eventfd_t count;
    eventfd_read(event_.get(), &count);
  }
  return true;
}

bool Pause::yields() {
  const auto now = Clock::now();
  if (!is_empty_) {
    is_empty_ = true;
    empty_since_ = now;
    next_sleep_ = limits_.shortest;
  }
  if (now - empty_since_ >= limits_.spin || crowding_.is_believed(now)) return false;
  sched_yield();  // a thread that posts or answers may wait for this very processor
  const auto end = Clock::now();
  crowding_.yielded(now, end);
  if (crowding_.may_leave(end) && leave_processor()) {
    crowding_.left(Clock::now());
    counts_.moves.add();
  }
  return true;
}

std::chrono::nanoseconds Pause::longest() const {
  if (2 * next_sleep_ < limits_.longest || Clock::now() - empty_since_ < limits_.idle)
    return limits_.longest;
  return upkeep_.length();
}

bool Pause::sleep(int descriptor, bool is_waiting) {
  const bool was_ended = sleep_until_woken(descriptor, is_waiting ? limits_.shortest : next_sleep_);
  if (!was_ended) upkeep_.slept();
  next_sleep_ = std::min(2 * next_sleep_, longest());
  return was_ended;
}

}  // namespace chime::proxy
