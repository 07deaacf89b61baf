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

}  // namespace

void fail_to_meet(chimex_status code, std::string what) {
  throw Error("node exchange", code, std::move(what));
}

void NodeWait::check(std::span<const int> pes) const {
  std::vector<std::string> gone;
  for (int pe : pes)
    if (std::string why = bootstrap_.why_lost(pe); !why.empty())
      gone.push_back(fmt::format("PE {} is gone: {}", pe, why));
  if (!gone.empty()) fail_to_meet(CHIMEX_ERR_PEER_DEAD, fmt::format("{}", fmt::join(gone, "; ")));
}

void NodeWait::check_for_the_cause(std::span<const int> pes) const {
  const net::Deadline end = next_check();
  for (check(pes); net::Clock::now() < end; check(pes)) std::this_thread::sleep_for(kLookAgain);
}

net::Deadline NodeWait::next_check() const {
  return std::min(deadline_, net::Clock::now() + kDeathCheck);
}

void NodeWait::fail_as_late(std::span<const int> pes) {
  fail_to_meet(CHIMEX_ERR_TIMEOUT,
               fmt::format("{} did not come (CHIME_INIT_TIMEOUT bounds the wait)", pe_words(pes)));
}

}  // namespace chime::host
