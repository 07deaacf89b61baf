// A path that is opened at its first touch: requested once, waited for, carried over by one thread,
// and used by all; or refused, or waited for in vain, with the reason.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <random>
#include <thread>
#include <vector>

#include "chime/device/rma.cuh"
#include "chime/device/sync.cuh"
#include "nic_job.hpp"

namespace chime::tests {
namespace {

constexpr int kPes = 6;

// PE 0, with no connected peer. Their channels have no peer; the host's future answers are kept
// aside. Peers get QP sets in any order.
class Opening : public EachMode {
 protected:
  Opening() : job(kPes, two_slots()) {
    Context& ctx = job.context();
    routes = std::vector<std::uint32_t>(kPes);
    ctx.channels.route = routes.data();
    ctx.channels.opened = opened.data();
    ctx.channels.openings = &openings;
    for (int pe = 0; pe < kPes; ++pe)
      for (unsigned slot = 0; slot < 2; ++slot) {
        abi::Channel& channel = job.nic.queue(pe, slot);
        flags = channel.head.flags;
        peers_to_be[static_cast<std::size_t>(pe)] = channel.nic.peer;
        channel.nic.peer = {};
        channel.pe = -1;
        channel.head.flags = 0;
      }
  }
  static NicPlan two_slots() {
    NicPlan two = plan();
    two.slots = 2;
    return two;
  }

  // The NullNic's queues for a PE are QP set `pe`.
  void answer(int pe) {
    const auto i = static_cast<std::size_t>(pe);
    peers[i] = {peers_to_be[i], pe, flags, 0};
    std::atomic_ref(answers[i])
        .store(abi::answer_word(Path::kNic, static_cast<std::uint32_t>(pe)),
               std::memory_order_release);
  }
  void refuse(int pe) {
    std::atomic_ref(answers[static_cast<std::size_t>(pe)])
        .store(abi::kRefused, std::memory_order_release);
  }
  // Answers each request a little later, until `count` are answered.
  void serve(int count) {
    std::uint64_t done = 0;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (std::popcount(done) < count && std::chrono::steady_clock::now() < end) {
      if (std::atomic_ref(asked).load(std::memory_order_acquire) == 0) continue;
      const std::uint64_t news = std::atomic_ref(wanted).load(std::memory_order_relaxed) & ~done;
      for (std::uint64_t bits = news; bits != 0; bits &= bits - 1) answer(std::countr_zero(bits));
      done |= news;
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }

  NicJob job;
  std::uint8_t flags = 0;
  std::vector<std::uint32_t> routes;
  std::array<std::uint32_t, kPes> opened = {}, answers = {}, claims = {};
  std::array<abi::OpenedPeer, kPes> peers = {};
  std::array<abi::NicPeer, kPes> peers_to_be = {};
  std::uint64_t asked = 0, wanted = 0;
  abi::Openings openings = {&asked, &wanted, answers.data(), peers.data(), claims.data()};
};

// Two blocks, by both slots of each QP set, every thread to every peer; the first thread opens.
TEST_P(Opening, EveryThreadUsesThePathThatOneHasOpened) {
  std::thread host([&] { serve(kPes - 1); });
  run_grid(2, 32, [&] {
    const unsigned rank = exec::grid_rank();
    for (int i = 0; i < kPes - 1; ++i) {
      const int pe = 1 + (i + static_cast<int>(rank)) % (kPes - 1);
      p(job.context(), job.data<std::uint64_t>(0) + rank, std::uint64_t{1000} + rank, pe);
    }
    job.quiet();
  });
  host.join();
  for (int pe = 1; pe < kPes; ++pe) {
    for (unsigned rank = 0; rank < 64; ++rank)
      EXPECT_EQ(job.data<std::uint64_t>(pe)[rank], 1000u + rank) << "PE " << pe;
    for (unsigned slot = 0; slot < 2; ++slot) {
      EXPECT_EQ(job.nic.queue(pe, slot).pe, pe);
      EXPECT_EQ(job.nic.queue(pe, slot).head.flags, flags);
    }
    EXPECT_EQ(abi::first_of_route(opened[static_cast<std::size_t>(pe)]),
              2u * static_cast<unsigned>(pe));
    EXPECT_EQ(claims[static_cast<std::size_t>(pe)], 1u);
  }
  EXPECT_EQ(asked, kPes - 1u) << "each peer is asked for once";
  EXPECT_EQ(opened[0], 0u) << "no thread has touched PE 0";
}

// In weak memory, schedules by seed: a thread that sees the path also sees its peer.
TEST_P(Opening, NobodyPostsByAChannelThatLeadsNowhere) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    std::fill(opened.begin(), opened.end(), 0u);
    std::fill(claims.begin(), claims.end(), 0u);
    std::fill(answers.begin(), answers.end(), 0u);
    asked = wanted = 0;
    answer(1);
    for (unsigned slot = 0; slot < 2; ++slot) job.nic.queue(1, slot).nic.peer = {};
    const WeakMemory weak(seed);
    run_grid(2, 4, [&] {
      p(job.context(), job.data<std::uint64_t>(0) + exec::grid_rank(), seed, 1);
      job.quiet();
    });
    for (unsigned rank = 0; rank < 8; ++rank) ASSERT_EQ(job.data<std::uint64_t>(1)[rank], seed);
    ASSERT_EQ(job.nic.complaints(), "") << "seed " << seed;
  }
}

TEST_P(Opening, ARefusedPathIsUnreachable) {
  refuse(2);
  run_threads(1, [&] { p(job.context(), job.data<std::uint64_t>(0), std::uint64_t{1}, 2); });
  EXPECT_EQ(job.job.error().claimed, 2u);
  EXPECT_EQ(job.job.error().status, CHIMEX_ERR_UNREACHABLE);
  EXPECT_EQ(job.job.error().pe, 2);
  EXPECT_EQ(*job.data<std::uint64_t>(2), 0u);
}

// For example the proxy's: they exist from the beginning, so no thread fills or claims them.
TEST_P(Opening, AnAnswerMayNameChannelsThatLeadToMany) {
  std::atomic_ref(answers[4]).store(abi::answer_word(Path::kProxy, 5), std::memory_order_release);
  job.nic.queue(5, 0).pe = job.nic.queue(5, 1).pe = -1;
  std::array<Route, 64> routes_found;
  run_grid(2, 32, [&] {
    routes_found[exec::grid_rank()] = route_by_channel(job.context(), Traffic::kData, 4);
  });
  for (unsigned rank = 0; rank < 64; ++rank) {
    EXPECT_EQ(routes_found[rank].path, Path::kProxy);
    EXPECT_EQ(routes_found[rank].pe, 4);
    EXPECT_EQ(routes_found[rank].channel, &job.nic.queue(5, rank / 32));
  }
  EXPECT_EQ(opened[4], abi::route_word(Path::kProxy, 5 * 2));
  EXPECT_EQ(claims[5], 0u);
  EXPECT_EQ(job.nic.queue(5, 0).pe, -1);
}

TEST_P(Opening, AWaitInVainEndsAndSaysWhere) {
  job.context().pe.wait_timeout_ns = 20'000'000;
  run_threads(1, [&] { p(job.context(), job.data<std::uint64_t>(0), std::uint64_t{1}, 3); });
  const abi::ErrorRecord& error = job.job.error();
  EXPECT_EQ(error.status, CHIMEX_ERR_TIMEOUT);
  EXPECT_EQ(error.pe, 3);
  EXPECT_EQ(error.address, reinterpret_cast<std::uint64_t>(&answers[3]));
  EXPECT_EQ(wanted, std::uint64_t{1} << 3);
}

IN_EACH_MODE(Opening);

}  // namespace
}  // namespace chime::tests
