#include "pace.hpp"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

namespace softnic {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr microseconds kForAnswer{20};    // the answer wakes it
constexpr microseconds kLongestBusy{50};  // with a request unanswered
constexpr milliseconds kLongestIdle{1};
constexpr milliseconds kLongestAsleep{4}, kLongIdle{100};     // after so long without work
constexpr milliseconds kLongestDormant{10}, kDormant{2'000};  // a hundred wakings a second
constexpr microseconds kLongestTurn{500};  // of a neighbour's engine; a scheduler's tick is longer
constexpr milliseconds kLongestCrowding{1000};

// struct sched_attr of linux/sched/types.h, which cannot be included beside glibc's sched.h.
struct SchedulerAttributes {
  std::uint32_t size = sizeof(SchedulerAttributes);
  std::uint32_t policy = SCHED_OTHER;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime_ns = 0, deadline_ns = 0, period_ns = 0;
};

// Since Linux 6.12 a thread with a short slice may interrupt one with a longer slice. On older
// kernels it has no effect.
void ask_for_short_slices() {
  SchedulerAttributes now;
  if (::syscall(SYS_sched_getattr, 0, &now, sizeof now, 0) != 0 || now.policy != SCHED_OTHER)
    return;
  now.size = sizeof now;
  now.runtime_ns = 100'000;
  ::syscall(SYS_sched_setattr, 0, &now, 0);
}

unsigned cores_of_process() {
  cpu_set_t cores;
  return ::sched_getaffinity(0, sizeof cores, &cores) == 0 ? CPU_COUNT(&cores) : 1;
}

}  // namespace

Pace::Pace(microseconds spin) : spin_(spin), cores_(cores_of_process()) {
  ::prctl(PR_SET_TIMERSLACK, 1000);
  ask_for_short_slices();
}

std::chrono::nanoseconds Pace::idle(const Quiet& quiet) {
  const auto now = Clock::now();
  const auto since = now - last_work_;
  const bool scarce = cores_ < 2 * (quiet.neighbours + 1);  // a program and an engine each
  yields_ = scarce && now > crowded_until_;
  if (since < spin_) return scarce && !yields_ && quiet.has_woken ? kForAnswer : microseconds(0);
  const auto longest = quiet.in_flight     ? std::chrono::nanoseconds(kLongestBusy)
                       : since < kLongIdle ? std::chrono::nanoseconds(kLongestIdle)
                       : since < kDormant  ? std::chrono::nanoseconds(kLongestAsleep)
                                           : std::chrono::nanoseconds(kLongestDormant);
  const auto sleep = std::min(sleep_, longest);
  sleep_ = sleep * 2;
  return sleep;
}

void Pace::poll() {
  if (yields_)
    watch_yield();
  else
    __builtin_ia32_pause();
}

// Each crowding that follows another is assumed to last twice as long: finding out costs a tick.
void Pace::watch_yield() {
  const auto before = Clock::now();
  ::sched_yield();
  const auto after = Clock::now();
  if (after - before > kLongestTurn) {
    crowded_until_ = after + crowding_;
    crowding_ = std::min(crowding_ * 2, kLongestCrowding);
  } else if (after > crowded_until_ + kLongestCrowding) {
    crowding_ = kFirstCrowding;
  }
}

}  // namespace softnic
