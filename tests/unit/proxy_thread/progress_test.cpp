// The proxy's thread: it carries requests whenever they come, and reports when it cannot go on.
#include "proxy/progress.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <stdexcept>
#include <thread>

#include "fed_fifo.hpp"

namespace chime::proxy::tests {
namespace {

using namespace std::chrono_literals;
using host::HostDriven;
using host::HostRequest;

// Ends each request at the next poll.
class Prompt final : public HostDriven {
 public:
  std::atomic<bool> is_broken{false};
  std::atomic<std::uint64_t> polls{0}, asked{0};  // calls for its descriptor
  std::function<void()> at_rest = [] {};          // nothing was found, and it does not sleep yet

  int idle_descriptor() override {
    ++asked;
    at_rest();
    return kNoDescriptor;
  }

  void serve(host::WordOwner&) override {}
  bool post(const HostRequest&, std::uint64_t completion) override {
    if (ended_) return false;
    ended_ = completion;
    return true;
  }
  std::size_t poll(std::span<Ended> out) override {
    ++polls;
    if (is_broken) throw std::runtime_error("the cable is out");
    if (!ended_) return 0;
    out[0] = {*std::exchange(ended_, std::nullopt), CHIMEX_OK};
    return 1;
  }

 private:
  std::optional<std::uint64_t> ended_;
};

const Progress::Settings kSettings = {
    .carrier = {.heap_bytes = 4096, .batch = 4}, .pause = {}, .cpu = {}};

void fail_test(const std::string& why) { FAIL() << why; }

// True when all posted requests have ended, within a generous time limit.
bool all_end(const FedFifo& fed, std::uint64_t end) {
  const auto limit = std::chrono::steady_clock::now() + 30s;
  while (fed.through() != end) {
    if (std::chrono::steady_clock::now() > limit) return false;
    std::this_thread::sleep_for(10us);
  }
  return true;
}

TEST(Progress, CarriesWhatComesBeforeAndAfterItSleeps) {
  FedFifo fed;
  std::vector<Fifo> fifos = {fed.fifo};
  Prompt fabric;
  Counts counts;
  Progress progress(fabric, fifos, kSettings, counts, fail_test);
  std::byte here{};
  std::uint64_t posted = 0;
  for (const auto pause : {0us, 30us, 200us, 5000us, 30000us, 0us}) {
    std::this_thread::sleep_for(pause);
    for (int i = 0; i < 5; ++i) {
      fed.post(abi::proxy_put(1, 8, reinterpret_cast<std::uint64_t>(&here), 1));
      ++posted;
    }
    ASSERT_TRUE(all_end(fed, posted)) << "after " << pause.count() << " us";
  }
}

TEST(Progress, WakesAtOnceWhenItIsNotified) {
  FedFifo fed;
  std::vector<Fifo> fifos = {fed.fifo};
  Prompt fabric;
  Counts counts;
  Progress::Settings settings = kSettings;
  settings.pause = {.spin = 0ns, .shortest = 1h, .longest = 1h};
  Progress progress(fabric, fifos, settings, counts, fail_test);
  std::this_thread::sleep_for(20ms);
  std::byte here{};
  fed.post(abi::proxy_put(1, 8, reinterpret_cast<std::uint64_t>(&here), 1));
  progress.wake();
  EXPECT_TRUE(all_end(fed, 1));
}  // its end does not wait for an hour

// A proxy that sleeps for hours, and a host thread that posts as device/path/proxy/wake.cuh does.
struct Sleepy : testing::Test {
  FedFifo fed;
  std::vector<Fifo> fifos = {fed.fifo};
  Prompt fabric;
  Counts counts;
  abi::ProxySleep sleep{};
  std::byte here{};

  Progress::Settings settings() {
    Progress::Settings settings = kSettings;
    settings.pause = {.spin = 0ns, .shortest = 1h, .longest = 1h};
    settings.sleep = &sleep;
    return settings;
  }
  // Whether it slept.
  bool post() {
    fed.post(abi::proxy_put(1, 8, reinterpret_cast<std::uint64_t>(&here), 1));
    if (std::atomic_ref(sleep.is_asleep).exchange(0, std::memory_order_acq_rel) == 0) return false;
    eventfd_write(sleep.event, 1);
    return true;
  }
};

// Whenever requests come, and however often: after a while, and while it falls asleep.
TEST_F(Sleepy, IsWokenByPosts) {
  Progress progress(fabric, fifos, settings(), counts, fail_test);
  unsigned woken = 0;
  for (std::uint64_t i = 0; i < 2000; ++i) {
    const std::atomic_ref is_asleep(sleep.is_asleep);
    while (i % 100 == 0 && is_asleep.load() == 0) std::this_thread::yield();
    woken += post();
    ASSERT_TRUE(all_end(fed, i + 1)) << "it sleeps";
  }
  EXPECT_GE(woken, 20u);
}

// Its poster found it awake, but the proxy had polled already.
TEST_F(Sleepy, LooksOnceMoreBeforeItSleeps) {
  bool has_posted = false, found_it_asleep = false;
  fabric.at_rest = [&] {
    if (!std::exchange(has_posted, true)) found_it_asleep = post();
  };
  Progress progress(fabric, fifos, settings(), counts, fail_test);
  EXPECT_TRUE(all_end(fed, 1));
  EXPECT_FALSE(found_it_asleep);
}

// A query polls several times.
TEST(Progress, QueriesTheFabricsDescriptorOnlyToSleepThere) {
  FedFifo fed;
  std::vector<Fifo> fifos = {fed.fifo};
  Prompt fabric;
  Counts counts;
  Progress::Settings settings = kSettings;
  settings.pause.spin = 1h;
  {
    Progress progress(fabric, fifos, settings, counts, fail_test);
    while (fabric.polls < 1000) std::this_thread::sleep_for(1ms);
  }
  std::uint64_t sleeps = 0;
  for (const Count& some : counts.sleeps) sleeps += some.get();
  EXPECT_LE(fabric.asked, sleeps);  // none of both, except where others take the processor
}

TEST(Progress, SaysOnceWhyItCannotGoOn) {
  FedFifo fed;
  std::vector<Fifo> fifos = {fed.fifo};
  Prompt fabric;
  Counts counts;
  fabric.is_broken = true;
  std::promise<std::string> why;
  {
    Progress progress(fabric, fifos, kSettings, counts,
                      [&](const std::string& text) { why.set_value(text); });
    EXPECT_EQ(why.get_future().get(), "the cable is out");
  }
}

}  // namespace
}  // namespace chime::proxy::tests
