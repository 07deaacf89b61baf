// chime-run stayed for ever after its PEs had ended, once in some hundred starts on a busy machine:
// the hub's thread took the wake that came with "end" for that of the news before it, and slept.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <chrono>

#include "bootstrap/hub.hpp"

namespace chime::bootstrap {
namespace {

// A unix socket that listens at a name of the kernel's choice.
FileDescriptor listener() {
  FileDescriptor fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address.sun_family);
  listen(fd.get(), 1);
  return fd;
}

TEST(Hub, EndsWhenTheOwnerSaysSoRightAfterNews) {
  constexpr int kRounds = 20'000, kLongestDelay = 100;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(15);
  for (int round = 0; round < kRounds && std::chrono::steady_clock::now() < end; ++round) {
    Hub hub(listener(), {.token = random_token(), .n_pes = 1, .aborted = {}, .log = {}});
    hub.tell_lost(0, "its process ended");
    for (int turn = round % kLongestDelay; turn > 0; --turn) sched_yield();  // meets the hub awake
  }
}

}  // namespace
}  // namespace chime::bootstrap
