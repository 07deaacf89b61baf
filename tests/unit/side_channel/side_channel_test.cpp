// The side channel over a bootstrap: which PEs find each other, and what senders see of a loss.
#include "host/peers/side_channel.hpp"

#include <gtest/gtest.h>

#include <condition_variable>
#include <future>
#include <mutex>
#include <string>

#include "bootstrap/hub/tcp.hpp"
#include "host/errors/error.hpp"
#include "support/meet.hpp"

namespace chime::host {
namespace {

using namespace std::chrono_literals;
using bootstrap::test::meet;

constexpr SideTag kTag = SideTag::kFirstForTests;

// A number that a thread waits for.
class Count {
 public:
  void add() {
    std::lock_guard lock(mutex_);
    ++value_;
    changed_.notify_all();
  }
  bool reaches(int n) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, 20s, [&] { return value_ >= n; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int value_ = 0;
};

template <class Body>
void for_each_pe(int n_pes, Body body) {
  const auto id = bootstrap::create_unique_id("lo");
  std::vector<std::future<void>> pes;
  for (int pe = 0; pe < n_pes; ++pe)
    pes.push_back(std::async(std::launch::async, [&, pe] {
      const auto job = bootstrap::join_unique_id(id, pe, n_pes, {.timeout = 20s});
      body(*job);
    }));
  for (auto& pe : pes) EXPECT_NO_THROW(pe.get());
}

TEST(SideChannel, EveryPeFindsEveryOther) {
  constexpr int kPes = 4;
  for_each_pe(kPes, [](bootstrap::Bootstrap& job) {
    Count came;
    SideChannel channel(job, "test", "", 10s, nullptr);
    channel.handle(kTag, [&](int from, std::span<const std::byte> payload) {
      EXPECT_EQ(payload.size(), static_cast<std::size_t>(from));
      came.add();
    });
    channel.start();
    const std::vector<std::byte> payload(static_cast<std::size_t>(job.rank()));
    for (int pe = 0; pe < kPes; ++pe) EXPECT_TRUE(channel.send(pe, kTag, payload));
    EXPECT_TRUE(came.reaches(kPes));
    meet(job);  // all have received all, so that all are open
    EXPECT_EQ(channel.opened(), kPes - 1u);
    meet(job);
  });
}

TEST(SideChannel, AMessageThatComesBeforeTheStartWaitsForIt) {
  for_each_pe(2, [](bootstrap::Bootstrap& job) {
    Count came;
    SideChannel channel(job, "test", "", 10s, nullptr);
    channel.handle(kTag, [&](int, std::span<const std::byte>) { came.add(); });
    if (job.rank() == 0) {
      channel.start();
      EXPECT_TRUE(channel.send(1, kTag, {}));
    }
    meet(job);
    if (job.rank() == 1) {
      channel.start();
      EXPECT_TRUE(came.reaches(1));
    }
    meet(job);
  });
}

TEST(SideChannel, SendingToOneThatHasLeftSaysSo) {
  for_each_pe(2, [](bootstrap::Bootstrap& job) {
    Count came;
    std::optional<SideChannel> channel(std::in_place, job, "test", "", 10s, nullptr);
    channel->handle(kTag, [&](int, std::span<const std::byte>) { came.add(); });
    channel->start();
    channel->send(1 - job.rank(), kTag, {});
    EXPECT_TRUE(came.reaches(1));
    meet(job);
    if (job.rank() == 1) channel.reset();
    meet(job);
    if (job.rank() == 1) return;
    try {
      const auto end = std::chrono::steady_clock::now() + 10s;
      while (std::chrono::steady_clock::now() < end) channel->send(1, kTag, {});
      FAIL() << "PE 1 has left, and messages to it were taken";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), CHIMEX_ERR_PEER_DEAD);
      EXPECT_TRUE(std::string(error.what()).starts_with("side channel: PE 1 has left"))
          << error.what();
    }
  });
}

}  // namespace
}  // namespace chime::host
