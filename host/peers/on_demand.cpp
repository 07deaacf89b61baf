#include "host/peers/on_demand.hpp"

#include <pthread.h>
#include <sys/prctl.h>

#include <algorithm>

#include "chime/abi/start_thread.h"
#include "host/errors/error.hpp"

namespace chime::host {

OnDemand::OnDemand(bootstrap::Bootstrap& bootstrap, Transport& transport, PeerTable& peers,
                   const Setup& setup)
    : transport_(transport),
      opener_(transport, peers,
              [this](int pe, const EndpointInfoBytes& message) {
                if (channel_.send(pe, SideTag::kOpenings, message)) return;
                throw Error(
                    "side channel", CHIMEX_ERR_PEER_DEAD,
                    "PE " + std::to_string(pe) + " does not take its messages; they pile up");
              }),
      channel_(bootstrap, "ways", setup.interface, setup.timeout,
               [this](int pe, const std::string& why) { opener_.on_lost(pe, why); }) {
  channel_.handle(SideTag::kOpenings, [this](int from, std::span<const std::byte> message) {
    opener_.on_message(from, message);
  });
  channel_.on_left(
      [this](int pe) { opener_.on_lost(pe, "PE " + std::to_string(pe) + " has left the job"); });
  channel_.start();
  thread_ = abi::start_thread([this] { look_until_the_end(); });
}

OnDemand::~OnDemand() {
  is_over_ = true;
  thread_.join();
}

std::chrono::nanoseconds OnDemand::longest_sleep(
    std::chrono::steady_clock::time_point asked) const {
  const bool is_idle = std::chrono::steady_clock::now() - asked > net::Upkeep::kIdle;
  return is_idle ? upkeep_.length() : kLongestSleep;
}

void OnDemand::look_until_the_end() {
  pthread_setname_np(pthread_self(), "chime-opener");
  prctl(PR_SET_TIMERSLACK, 1000);  // a sleep of 20 us would else be 50 longer
  auto asked = std::chrono::steady_clock::now();
  std::chrono::nanoseconds sleep = kShortestSleep;
  while (!is_over_) {
    const std::vector<int> wanted = transport_.take_wanted();
    for (const int pe : wanted) opener_.want(pe);
    if (wanted.empty()) {
      upkeep_.slept();
      sleep = std::min(2 * sleep, longest_sleep(asked));
    } else {
      upkeep_.interrupt();
      asked = std::chrono::steady_clock::now();
      sleep = kShortestSleep;
    }
    std::this_thread::sleep_for(sleep);
  }
}

}  // namespace chime::host
