// Connections while kernels run: a side channel of their own, and a thread that looks which peers
// this PE's kernels and host operations ask for. A kernel cannot wake it.
#pragma once

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "bootstrap/bootstrap.hpp"
#include "host/peers/opener.hpp"
#include "host/peers/side_channel.hpp"
#include "net/mesh/upkeep.hpp"

namespace chime::host {

class OnDemand {
 public:
  // How long nobody looks: longer and longer while nobody asks. The longest is what the first put
  // to a peer may take beside the opening; when nobody has asked for a second, it is longer where
  // waking costs much (net/mesh/upkeep.hpp).
  static constexpr std::chrono::microseconds kShortestSleep{20}, kLongestSleep{400};

  struct Setup {
    const std::string& interface;       // CHIME_BOOTSTRAP_IF
    std::chrono::milliseconds timeout;  // of opening a connection between two hosts
  };
  // Its arguments outlive it. REQUIRES: the transport's view is made, and it opens on demand.
  // Throws Error.
  OnDemand(bootstrap::Bootstrap& bootstrap, Transport& transport, PeerTable& peers,
           const Setup& setup);
  // Nobody is asked for any more.
  ~OnDemand();

 private:
  void look_until_the_end();
  std::chrono::nanoseconds longest_sleep(std::chrono::steady_clock::time_point asked) const;

  Transport& transport_;
  Opener opener_;
  SideChannel channel_;
  net::Upkeep upkeep_{kLongestSleep};
  std::atomic<bool> is_over_ = false;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace chime::host
