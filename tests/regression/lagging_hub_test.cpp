// A late hub took PEs that had connected meanwhile, if they were more than 256, for strangers, and
// the job died of "wrong token". A PE whose message the late hub did not read in time stopped in
// the middle of it: its next message made no sense.
#include <gtest/gtest.h>

#include <future>
#include <list>
#include <semaphore>

#include "bootstrap/hub/hub.hpp"
#include "bootstrap/hub/hub_client.hpp"
#include "net/socket/socket.hpp"

namespace chime::bootstrap {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// A hub whose thread stops when a PE has requested the job's end, until it is released.
struct LateHub {
  explicit LateHub(int n_pes) : n(n_pes) {
    std::vector<net::Descriptor> listeners;
    listeners.push_back(net::listen_at(address));
    hub.emplace(std::move(listeners),
                Hub::Options{.token = token,
                             .n_pes = n_pes,
                             .aborted =
                                 [this](int, int, const std::string&) {
                                   stands.release();
                                   goes_on.acquire();
                                 },
                             .log = [this](const std::string& line) { log.push_back(line); }});
  }
  ~LateHub() { goes_on.release(); }
  std::unique_ptr<HubClient> join(int pe, std::chrono::milliseconds timeout) {
    HubClient::Options options;
    options.hub = {address};
    options.token = token;
    options.pe = pe;
    options.n_pes = n;
    options.timeout = timeout;
    options.hub_name = "the hub";
    return std::make_unique<HubClient>(std::move(options), Clock::now() + 60s);
  }
  void stop(HubClient& by) {
    by.abort(1, "so that the hub stands still");
    stands.acquire();
  }

  const int n;
  const Token token = net::random_token();
  const net::Address address =
      net::Address::abstract("chime-test-" + net::to_hex(net::random_token()));
  std::counting_semaphore<> stands{0}, goes_on{0};
  std::vector<std::string> log;
  std::optional<Hub> hub;
};

TEST(LaggingHub, TakesNoPeForAStranger) {
  constexpr int kPes = 600;
  LateHub late(kPes);
  const auto first = late.join(0, 60s);
  late.stop(*first);
  std::list<std::future<std::unique_ptr<HubClient>>> others;
  for (int pe = 1; pe < kPes; ++pe)
    others.push_back(std::async(std::launch::async, [&late, pe] { return late.join(pe, 60s); }));
  // No PE can be admitted now; those that wait must be admitted later.
  for (auto& other : others)
    ASSERT_EQ(other.wait_for(0s), std::future_status::timeout) << "the hub did not stand still";
  late.goes_on.release();
  int joined = 0;
  for (auto& other : others) {
    try {
      joined += other.get() != nullptr;
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
  }
  EXPECT_EQ(joined, kPes - 1);
  EXPECT_TRUE(late.log.empty());
}

TEST(LaggingHub, WhatItDidNotReadInTimeIsWholeWhenItDoes) {
  LateHub late(1);
  const auto pe = late.join(0, 50ms);
  late.stop(*pe);
  const Bytes large(kMaxValueBytes, std::byte{7});
  for (int i = 0; i < 5; ++i) {
    const auto begin = Clock::now();
    EXPECT_THROW(pe->publish("large " + std::to_string(i), large), BootstrapError);
    EXPECT_LT(Clock::now() - begin, 5s) << "a late hub holds the caller longer than it wants";
  }
  late.goes_on.release();
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(pe->lookup(0, "large " + std::to_string(i), Clock::now() + 20s), large);
}

}  // namespace
}  // namespace chime::bootstrap
