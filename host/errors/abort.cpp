#include "host/errors/abort.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

namespace chime::host {
namespace {

constexpr std::uint32_t kClear = 0;
constexpr std::uint32_t kClaimed = 1;
constexpr std::uint32_t kPublished = 2;

// The thread that has claimed the word writes a few hundred bytes. If that takes longer, its
// process has died meanwhile.
constexpr std::chrono::seconds kClaimLimit{2};

bool is_published_in_time(const std::atomic_ref<std::uint32_t>& raised) {
  const auto end = std::chrono::steady_clock::now() + kClaimLimit;
  while (raised.load(std::memory_order_relaxed) != kPublished) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

}  // namespace

bool raise_abort(abi::AbortWord& word, const AbortCause& cause) {
  std::atomic_ref<std::uint32_t> raised(word.raised);
  std::uint32_t expected = kClear;
  if (!raised.compare_exchange_strong(expected, kClaimed, std::memory_order_relaxed) &&
      is_published_in_time(raised))
    return false;
  word.status = cause.status;
  word.pe = cause.pe;
  word.path = static_cast<std::uint32_t>(cause.path);
  word.exit_code = cause.exit_code;
  std::size_t length = std::min(cause.why.size(), sizeof(word.why) - 1);
  std::memcpy(word.why, cause.why.data(), length);
  word.why[length] = '\0';
  // Publishes the cause: pairs with the acquire loads in abort_cause and in device/wait.cuh.
  raised.store(kPublished, std::memory_order_release);
  return true;
}

// Release, here and below: a thread that sees the bit finds in the peer table how that PE died, or
// the abort word raised. Pairs with the acquires of device/wait.cuh.
void mark_dead(std::span<std::uint64_t> dead, int pe) {
  std::atomic_ref(dead[static_cast<std::size_t>(pe) / 64])
      .fetch_or(std::uint64_t{1} << pe % 64, std::memory_order_release);
}

void tell_of_death(abi::AbortWord& word, int pe) {
  std::uint32_t nobody = 0;
  std::atomic_ref(word.first_dead)
      .compare_exchange_strong(nobody, static_cast<std::uint32_t>(pe) + 1,
                               std::memory_order_release, std::memory_order_relaxed);
}

int first_dead(const abi::AbortWord& word) {
  const std::atomic_ref first(const_cast<std::uint32_t&>(word.first_dead));
  return static_cast<int>(first.load(std::memory_order_acquire)) - 1;
}

std::optional<int> asked_exit(const abi::AbortWord& word) {
  const std::uint64_t asked =
      std::atomic_ref(const_cast<std::uint64_t&>(word.exit_asked)).load(std::memory_order_relaxed);
  if ((asked & abi::kExitAsked) == 0) return std::nullopt;
  return static_cast<int>(static_cast<std::uint32_t>(asked));
}

std::optional<AbortCause> abort_cause(const abi::AbortWord& word) {
  std::atomic_ref<std::uint32_t> raised(const_cast<std::uint32_t&>(word.raised));
  if (raised.load(std::memory_order_acquire) != kPublished) return std::nullopt;
  return AbortCause{static_cast<chimex_status>(word.status), word.pe, static_cast<Path>(word.path),
                    word.why, word.exit_code};
}

}  // namespace chime::host
