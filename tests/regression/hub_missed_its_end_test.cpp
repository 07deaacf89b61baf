// chime-run stayed for ever after its PEs had ended, once in some hundred starts on a busy machine:
// the hub's thread took the wake-up of "end" for that of the notification before it, and slept.
#include <gtest/gtest.h>
#include <sched.h>

#include <chrono>

#include "bootstrap/hub/hub.hpp"
#include "net/socket/socket.hpp"

namespace chime::bootstrap {
namespace {

// A listener at an unused name.
std::vector<net::Descriptor> listener() {
  std::vector<net::Descriptor> listeners;
  listeners.push_back(
      net::listen_at(net::Address::abstract("chime-test-" + net::to_hex(net::random_token()))));
  return listeners;
}

TEST(Hub, EndsWhenTheOwnerSaysSoRightAfterNews) {
  constexpr int kRounds = 20'000, kLongestDelay = 100;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(15);
  for (int round = 0; round < kRounds && std::chrono::steady_clock::now() < end; ++round) {
    Hub hub(listener(), {.token = net::random_token(), .n_pes = 1, .aborted = {}, .log = {}});
    hub.tell_lost(0, "its process ended");
    for (int turn = round % kLongestDelay; turn > 0; --turn) sched_yield();  // the hub is awake
  }
}

}  // namespace
}  // namespace chime::bootstrap
