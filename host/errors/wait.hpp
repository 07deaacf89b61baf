// How host code waits for a word that another PE writes: spin, then yield, then sleep, for a while
// or until it is woken; bounded by a deadline and ended by the abort word. Or that another thread
// changes: then it sleeps at once.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>

#include "chime/abi/context.h"

namespace chime::host {

// One turn after another of a waiting loop: cheap at first, kind to other processes later.
class Backoff {
 public:
  void pause();

 private:
  unsigned turns_ = 0;
};

// Throws the Error that a raised abort word stands for; returns if it is not raised.
void throw_if_aborted(const abi::AbortWord& word);

// Throws where survivors go on without a PE that is dead: a call that needs all PEs cannot meet.
void throw_if_some_dead(const abi::AbortWord& word);

// How long a wait may be, and the variable that says so.
struct TimeLimit {
  TimeLimit(std::uint64_t ns, const char* variable = "CHIME_TIMEOUT")
      : ns(ns), variable(variable) {}
  std::uint64_t ns;  // 0: there is none
  const char* variable;
};

// Waits until `done()` is true. Throws when `abort` is raised, and when the time of `limit` is
// over: then `waited_for()` completes the sentence "waited 120 s for ...".
void wait_until(const std::function<bool()>& done, const abi::AbortWord& abort, TimeLimit limit,
                const std::function<std::string()>& waited_for);

// How often a wait that sleeps looks at the abort word, which wakes nobody.
inline constexpr std::chrono::milliseconds kLookAtAbortEvery{10};

// The same where the thread that makes `done()` true ends `sleep(at_most)`, too.
using Sleep = std::function<void(std::chrono::nanoseconds at_most)>;
void wait_until(const std::function<bool()>& done, const Sleep& sleep, const abi::AbortWord& abort,
                TimeLimit limit, const std::function<std::string()>& waited_for);

// The same for what another thread of this process does: sleeps until `changed` tells of it. `done`
// and `waited_for` are called with `lock` held.
void wait_until(std::unique_lock<std::mutex>& lock, std::condition_variable& changed,
                const std::function<bool()>& done, const abi::AbortWord& abort, TimeLimit limit,
                const std::function<std::string()>& waited_for);

}  // namespace chime::host
