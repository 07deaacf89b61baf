#include "host/peers/node/wait.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "host/peers/node/pe_words.hpp"

namespace chime::host {
namespace {

constexpr std::chrono::milliseconds kDeathCheck{250};
constexpr std::chrono::milliseconds kLookAgain{5};
constexpr std::chrono::seconds kCauseTime{1};

}  // namespace

void fail_to_meet(chimex_status code, std::string what) {
  throw Error("node exchange", code, std::move(what));
}

void NodeWait::check(std::span<const int> pes) {
  {
    const std::lock_guard lock(mutex_);
    if (heard_) fail_to_meet(heard_->code, heard_->why);
  }
  std::vector<std::string> gone;
  for (int pe : pes)
    if (std::string why = bootstrap_.why_lost(pe); !why.empty())
      gone.push_back(fmt::format("PE {} is gone: {}", pe, why));
  if (!gone.empty()) fail_to_meet(CHIMEX_ERR_PEER_DEAD, fmt::format("{}", fmt::join(gone, "; ")));
}

void NodeWait::check_for_the_cause(std::span<const int> pes, int by) {
  const net::Deadline end = std::min(deadline_, net::Clock::now() + kCauseTime);
  ask(by);
  for (check(pes); net::Clock::now() < end; check(pes)) std::this_thread::sleep_for(kLookAgain);
}

// One after the other, and then again the first: the PEs may be many, and mostly none has failed.
void NodeWait::ask_one_if_late(std::span<const int> pes) {
  if (pes.empty() || net::Clock::now() < asks_from_) return;
  const auto next = std::ranges::upper_bound(pes, asked_);
  ask(next == pes.end() ? pes.front() : *next);
}

// Unless it is just being asked.
void NodeWait::ask(int pe) {
  if (asked_ == pe) return;
  asked_ = pe;
  question_ = bootstrap_.ask_for_failure(pe, [this](const auto& failure) {
    const std::lock_guard lock(mutex_);
    heard_ = failure;
  });
}

net::Deadline NodeWait::next_check() const {
  return std::min(deadline_, net::Clock::now() + kDeathCheck);
}

void NodeWait::fail_as_late(std::span<const int> pes) {
  fail_to_meet(CHIMEX_ERR_TIMEOUT,
               fmt::format("{} did not come (CHIME_INIT_TIMEOUT bounds the wait)", pe_words(pes)));
}

}  // namespace chime::host
