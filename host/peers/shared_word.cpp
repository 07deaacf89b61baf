#include "host/peers/shared_word.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <bit>
#include <cerrno>
#include <climits>
#include <thread>

namespace chime::host {
namespace {

static_assert(std::endian::native == std::endian::little, "the lower half stands first");

// A futex has 32 bits. Not a private one: other processes map the word, too.
std::uint32_t* lower_half(std::uint64_t& word) { return reinterpret_cast<std::uint32_t*>(&word); }

// Memory that a driver has mapped may be none that a process can sleep on: then it looks again
// soon.
constexpr std::chrono::microseconds kWithoutFutex{100};

void wake_all(std::uint64_t& word) {
  syscall(SYS_futex, lower_half(word), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void sleep_on(std::uint64_t& word, std::uint64_t value, std::chrono::nanoseconds at_most) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(at_most);
  const timespec limit = {seconds.count(), (at_most - seconds).count()};
  const long result = syscall(SYS_futex, lower_half(word), FUTEX_WAIT,
                              static_cast<std::uint32_t>(value), &limit, nullptr, 0);
  if (result == 0 || errno == EAGAIN || errno == EINTR || errno == ETIMEDOUT) return;
  std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(at_most, kWithoutFutex));
}

}  // namespace

std::uint64_t SharedWord::load() const {
  return std::atomic_ref(word_).load(std::memory_order_acquire);
}

// A sleeper stores that it sleeps, and then looks at the word. A thread that changes the word
// stores the change, and then looks for sleepers. All four are sequentially consistent, so one of
// the two sees the other. The kernel sees a change between a sleeper's look and its sleep: it
// compares again under the lock that a wake takes, too.
bool SharedWord::replace(std::uint64_t expected, std::uint64_t desired) {
  if (!std::atomic_ref(word_).compare_exchange_strong(expected, desired, std::memory_order_seq_cst))
    return false;
  if (std::atomic_ref(sleepers_).load(std::memory_order_seq_cst) != 0) wake_all(word_);
  return true;
}

// A process that ends in its sleep stays counted: then each change costs a system call.
void SharedWord::sleep_while(std::uint64_t value, std::chrono::nanoseconds at_most) const {
  const std::atomic_ref sleepers(sleepers_);
  sleepers.fetch_add(1, std::memory_order_seq_cst);
  if (std::atomic_ref(word_).load(std::memory_order_seq_cst) == value)
    sleep_on(word_, value, at_most);
  sleepers.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace chime::host
