// The status that kernels get of an unmapped peer: chimex_pe_status, from records of the host, the
// proxy and failed queues in memory.
#include "chime/device/peer_status.cuh"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <vector>

#include "chime/device/coll/barrier.cuh"
#include "chime/device/rma.cuh"
#include "nic_job.hpp"

namespace chime::tests {
namespace {

constexpr int kPes = 6;
constexpr unsigned kRemoteAccess = 0x13;

// PE 0, as kernels see it, with queues to all others. The host's QP sets have two slots.
class PeerStatus : public testing::Test {
 protected:
  PeerStatus() : job(kPes) {
    job.context().channels.other_faults = of_host.data();
    job.context().channels.other_slots = 2;
  }

  int of(int pe) {
    int status = -1;
    run_threads(1, [&] { status = pe_status(job.context(), pe); });
    return status;
  }
  std::vector<int> all() {
    std::vector<int> statuses;
    for (int pe = 0; pe < kPes; ++pe) statuses.push_back(of(pe));
    return statuses;
  }

  NicJob job;
  std::array<abi::ChannelFault, 2 * kPes> of_host = {};
};

TEST_F(PeerStatus, OfPeersWithHealthyQueuesIsOk) {
  EXPECT_EQ(all(), std::vector<int>(kPes, CHIMEX_OK));
  EXPECT_EQ(of(-1), CHIMEX_ERR_INVALID);
  EXPECT_EQ(of(kPes), CHIMEX_ERR_INVALID);
  EXPECT_EQ(job.job.error().claimed, 0u) << "a query makes no error";
  job.context().abi_version = 0;
  EXPECT_EQ(of(1), CHIMEX_ERR_NOT_INITIALIZED);
}

// Whatever else is known of it: for example, that it is mapped.
TEST_F(PeerStatus, OfADeadPeIsThatAlone) {
  job.job.map(3);
  job.job.bury(3);
  EXPECT_EQ(all(), (std::vector<int>{0, 0, 0, CHIMEX_ERR_PEER_DEAD, 0, 0}));
}

TEST_F(PeerStatus, ShowsAFailedQueueOfKernels) {
  job.nic.fail_at(2, 0, kRemoteAccess);
  run_threads(1, [&] {
    p(job.context(), job.data<int>(0), 1, 2);
    job.quiet();
  });
  EXPECT_EQ(all(), (std::vector<int>{0, 0, CHIMEX_ERR_NETWORK, 0, 0, 0}));
}

TEST_F(PeerStatus, ShowsAFailedQueueOfTheHost) {
  of_host[2 * 4 + 1].published = abi::kFaultWhole;
  of_host[2 * 5].published = abi::kFaultClaimed;  // not complete yet
  EXPECT_EQ(all(), (std::vector<int>{0, 0, 0, 0, CHIMEX_ERR_NETWORK, 0}));
}

TEST_F(PeerStatus, OfAMappedPeerNeedsNoQueue) {
  of_host[2 * 4].published = abi::kFaultReported;
  job.job.map(4);
  EXPECT_EQ(of(4), CHIMEX_OK);
}

TEST_F(PeerStatus, OfAPeerWithoutAPathIsUnreachable) {
  const std::vector<std::uint32_t> nowhere(kPes);
  job.context().channels.route = nowhere.data();
  EXPECT_EQ(of(1), CHIMEX_ERR_UNREACHABLE);
  job.context().channels.pool.channels = nullptr;
  EXPECT_EQ(of(1), CHIMEX_ERR_UNREACHABLE);
}

// A status query is no request: it opens no path.
TEST_F(PeerStatus, OfAPathOnDemandIsAsItWasAnswered) {
  const std::vector<std::uint32_t> nowhere(kPes);
  std::array<std::uint32_t, kPes> opened = {}, answers = {}, claims = {};
  std::uint64_t asked = 0, wanted = 0;
  const abi::Openings openings = {&asked, &wanted, answers.data(), nullptr, claims.data()};
  abi::Channels& all_channels = job.context().channels;
  all_channels.route = nowhere.data();
  all_channels.opened = opened.data();
  all_channels.openings = &openings;
  // Proxied: by the FIFO at index 5.
  const std::uint64_t lost = 1 << 4;
  job.nic.queue(5).fifo.lost = &lost;
  answers = {0,
             abi::kRefused,
             abi::answer_word(Path::kNic, 2),
             abi::answer_word(Path::kProxy, 5),
             abi::answer_word(Path::kProxy, 5),
             0};
  of_host[2 * 2].published = abi::kFaultReported;
  EXPECT_EQ(all(), (std::vector<int>{CHIMEX_OK, CHIMEX_ERR_UNREACHABLE, CHIMEX_ERR_NETWORK,
                                     CHIMEX_OK, CHIMEX_ERR_NETWORK, CHIMEX_OK}));
  EXPECT_EQ(asked, 0u);
  EXPECT_EQ(wanted, 0u);
}

// ---- Waits for known PEs ------------------------------------------------------------------------

class AtOnce : public PeerStatus {
 protected:
  template <class Body>
  void ends_at_once(Body body) {
    const auto begin = std::chrono::steady_clock::now();
    run_threads(1, body);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10))
        << "CHIME_TIMEOUT is " << job.context().pe.wait_timeout_ns << " ns";
  }
};

// No PE is left that could answer.
TEST_F(AtOnce, TheWaitForThePathToADeadPeEnds) {
  const std::vector<std::uint32_t> nowhere(kPes);
  std::array<std::uint32_t, kPes> opened = {}, answers = {}, claims = {};
  std::uint64_t asked = 0, wanted = 0;
  const abi::Openings openings = {&asked, &wanted, answers.data(), nullptr, claims.data()};
  abi::Channels& all_channels = job.context().channels;
  all_channels.route = nowhere.data();
  all_channels.opened = opened.data();
  all_channels.openings = &openings;
  job.job.bury(3);
  ends_at_once([&] { p(job.context(), job.data<int>(0), 1, 3); });
  EXPECT_EQ(job.job.error().status, CHIMEX_ERR_PEER_DEAD);
  EXPECT_EQ(job.job.error().pe, 3);
}

// PE 1 never learns that PE 0 has come, so it cannot finish, and PE 0 knows that. PE 5, for which
// PE 0 waits, never comes.
TEST_F(AtOnce, ASyncWithALostArrivalEnds) {
  job.nic.fail_at(1, 0, kRemoteAccess);
  ends_at_once([&] { sync_all(job.context(), Thread{}); });
  EXPECT_EQ(job.job.error().status, CHIMEX_ERR_NETWORK);
  EXPECT_EQ(job.job.error().pe, 1);
}

// Another loss need not keep it from finishing: other PEs notify PE 3.
TEST_F(AtOnce, ASyncGoesOnWithoutAPeerThatItDoesNotNotify) {
  job.nic.fail_at(3, 0, kRemoteAccess);
  run_threads(1, [&] {
    p(job.context(), job.data<int>(0), 1, 3);
    job.quiet();
  });
  job.job.error().claimed = 0;
  job.context().pe.wait_timeout_ns = 300'000'000;
  run_threads(1, [&] { sync_all(job.context(), Thread{}); });
  EXPECT_EQ(job.job.error().status, CHIMEX_ERR_TIMEOUT);
  EXPECT_EQ(job.job.error().pe, 5) << "the one that did not come";
}

TEST_F(AtOnce, ASyncEndsByAnyDeadPe) {
  job.job.bury(3);
  job.job.abort_word().first_dead = 3 + 1;
  ends_at_once([&] { sync_all(job.context(), Thread{}); });
  EXPECT_EQ(job.job.error().status, CHIMEX_ERR_PEER_DEAD);
  EXPECT_EQ(job.job.error().pe, 3);
}

}  // namespace
}  // namespace chime::tests
