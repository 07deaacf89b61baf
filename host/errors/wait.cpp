#include "host/errors/wait.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <thread>

#include "host/errors/abort.hpp"
#include "host/errors/error.hpp"

namespace chime::host {
namespace {

constexpr unsigned kSpins =
    200;  // about a microsecond: a local peer on another core answers within it
// Then let others run, then sleep, soon and longer each time: these waits are for PEs that come to
// a collective call, and where PEs outnumber cores, each turn here is taken from one that is
// awaited. (16 PEs on 2 cores, 2000 yields: a fifth of a start-up's processor time.)
constexpr unsigned kYields = kSpins + 50;
constexpr unsigned kSleepsPerDoubling = 8;

// The bound of a wait that begins now.
class Bound {
 public:
  explicit Bound(TimeLimit limit) : limit_(limit) {}

  void throw_if_over(const std::function<std::string()>& waited_for) const {
    if (limit_.ns == 0 || left().count() >= 0) return;
    throw Error("wait", CHIMEX_ERR_TIMEOUT,
                fmt::format("waited {:.3g} s for {} ({} bounds it)",
                            static_cast<double>(limit_.ns) * 1e-9, waited_for(), limit_.variable));
  }

  // REQUIRES: there is a bound.
  std::chrono::nanoseconds left() const {
    return std::chrono::nanoseconds(limit_.ns) - (std::chrono::steady_clock::now() - start_);
  }

  // How long to sleep at a time.
  std::chrono::nanoseconds slice() const {
    using std::chrono::nanoseconds;
    if (limit_.ns == 0) return kLookAtAbortEvery;
    return std::clamp<nanoseconds>(left(), nanoseconds(1000), kLookAtAbortEvery);
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  TimeLimit limit_;
};

}  // namespace

void Backoff::pause() {
  ++turns_;
  if (turns_ < kSpins) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  } else if (turns_ < kYields) {
    ::sched_yield();
  } else {
    unsigned doublings = std::min((turns_ - kYields) / kSleepsPerDoubling, 5u);
    std::this_thread::sleep_for(std::chrono::microseconds(20u << doublings));
  }
}

void throw_if_aborted(const abi::AbortWord& word) {
  if (auto cause = abort_cause(word)) throw Error(kJobOrigin, cause->status, cause->why);
}

void throw_if_some_dead(const abi::AbortWord& word) {
  if (const int pe = first_dead(word); pe >= 0)
    throw Error("collective call", CHIMEX_ERR_PEER_DEAD,
                fmt::format("PE {} is gone, and this call needs all PEs", pe));
}

void wait_until(const std::function<bool()>& done, const abi::AbortWord& abort, TimeLimit limit,
                const std::function<std::string()>& waited_for) {
  Backoff backoff;
  const Bound bound(limit);
  while (!done()) {
    throw_if_aborted(abort);
    backoff.pause();
    bound.throw_if_over(waited_for);
  }
}

void wait_until(const std::function<bool()>& done, const Sleep& sleep, const abi::AbortWord& abort,
                TimeLimit limit, const std::function<std::string()>& waited_for) {
  Backoff backoff;
  const Bound bound(limit);
  for (unsigned turn = 1; !done(); ++turn) {
    throw_if_aborted(abort);
    // No yield: on a busy core a yield gives a whole slice away, and the kernel runs a sleeper when
    // it is woken. (8 PEs on 2 busy cores: 5 ms a call.)
    if (turn < kSpins)
      backoff.pause();
    else
      sleep(bound.slice());
    bound.throw_if_over(waited_for);
  }
}

void wait_until(std::unique_lock<std::mutex>& lock, std::condition_variable& changed,
                const std::function<bool()>& done, const abi::AbortWord& abort, TimeLimit limit,
                const std::function<std::string()>& waited_for) {
  const Bound bound(limit);
  while (!done()) {
    throw_if_aborted(abort);
    changed.wait_for(lock, kLookAtAbortEvery);
    if (!done()) bound.throw_if_over(waited_for);
  }
}

}  // namespace chime::host
