// The modelled network takes the time of its costs, and a job over it costs what the protocol says:
// the same for each PE, for any number of PEs, if peers are connected on demand.
#include <gtest/gtest.h>

#include <cmath>

#include "heap_use.hpp"
#include "host/options/nic.hpp"
#include "job.hpp"
#include "memory.hpp"
#include "patterns.hpp"

namespace chime::perf {
namespace {

constexpr NetworkCosts kCosts{.latency_us = 10, .bytes_per_us = 100, .message_us = 1};

TEST(ModelledNetwork, AMessageTakesBothEndsAndTheLink) {
  Network<int> network(2, kCosts);
  network.send(0, 1, 200, 7);
  double at = 0;
  network.run([&](int to, int message) {
    EXPECT_EQ(to, 1);
    EXPECT_EQ(message, 7);
    at = network.now_us();
  });
  EXPECT_DOUBLE_EQ(at, (1 + 2) + 10 + (1 + 2));
  EXPECT_EQ(network.traffic(0).bytes, 200u);
  EXPECT_EQ(network.traffic(1).messages, 1u);
  EXPECT_EQ(network.steps(1), 1u);
}

TEST(ModelledNetwork, AReceiverTakesOneMessageAfterTheOther) {
  Network<int> network(4, kCosts);
  for (int from = 1; from < 4; ++from) network.send(from, 0, 100, 0);
  network.run([](int, int) {});
  EXPECT_DOUBLE_EQ(network.end_us(), 2 + 10 + 3 * 2);
}

TEST(ModelledNetwork, MessagesOfOneToAnotherKeepTheirOrder) {
  Network<int> network(2, kCosts);
  for (int i = 0; i < 5; ++i) network.send(0, 1, static_cast<std::size_t>(500 - 100 * i), i);
  int next = 0;
  network.run([&](int, int message) { EXPECT_EQ(message, next++); });
  EXPECT_EQ(next, 5);
}

Phase start_of(int n_pes, bool is_lazy) {
  return Job({.n_pes = n_pes, .is_lazy = is_lazy}, kCosts).start();
}

TEST(SimulatedJob, LazyStartSendsNothingThatGrowsWithTheJob) {
  const Phase small = start_of(64, true), large = start_of(4096, true);
  EXPECT_EQ(large.most_messages, small.most_messages);
  EXPECT_EQ(large.most_bytes, small.most_bytes);
  EXPECT_LE(large.steps, small.steps);
}

TEST(SimulatedJob, EagerStartLooksUpEachPeerTwice) {
  const Phase lazy = start_of(64, true), eager = start_of(256, false);
  // A request and an answer each for endpoint info and receipt, less the messages of connections on
  // demand.
  EXPECT_GE(eager.messages, lazy.messages + 4 * 255 - 8);
  EXPECT_LE(eager.messages, lazy.messages + 4 * 255 + 8);
}

TEST(SimulatedJob, ACollectiveCallIsOneMessageEachWayForAPe) {
  Job job({.n_pes = 1023}, kCosts);
  job.start();
  job.collective_call();  // opens connections
  const Phase second = job.collective_call();
  EXPECT_NEAR(second.messages * 1023, 4 * 1022, 0.5);  // sent and received
}

TEST(SimulatedJob, AFirstTouchOpensThePathOnceAndInBoundedSteps) {
  Job job({.n_pes = 64, .queue_pair_us = 0},
          {.latency_us = 10, .bytes_per_us = 1e9, .message_us = 0});
  job.start();
  // The location of the peer: 2; connection and handshake: 6; the offer: 1; the same back, without
  // the request: 6, and the answer: 1.
  EXPECT_NEAR(job.touch_alone(3, 40), 16 * 10, 0.1);
  EXPECT_EQ(job.touch_alone(3, 40), 0);
}

TEST(SimulatedJob, PesThatTouchEachOtherAtOnceOpenOnePath) {
  Job job({.n_pes = 2, .node_pes = 1}, kCosts);
  job.start();
  const Touches touches = job.touch({{1}, {0}});
  EXPECT_EQ(touches.count, 2u);
  // Each: a request with its answer, a handshake as client and one as server, offer and receipt
  // both sent and received.
  EXPECT_DOUBLE_EQ(touches.phase.messages, 2 + 3 + 3 + 4);
}

TEST(Patterns, HaloHasSixNeighboursOfWhichEachHasMe) {
  const auto peers = peers_by(Pattern::kHalo, 1000, 0);
  for (int pe = 0; pe < 1000; ++pe) {
    EXPECT_EQ(peers[static_cast<std::size_t>(pe)].size(), 6u);
    for (const int peer : peers[static_cast<std::size_t>(pe)]) {
      const auto& theirs = peers[static_cast<std::size_t>(peer)];
      EXPECT_NE(std::find(theirs.begin(), theirs.end(), pe), theirs.end());
    }
  }
}

TEST(Memory, IsCounted) {
  const std::size_t before = heap_use();
  const std::vector<std::byte> kept(1 << 20);
  EXPECT_GE(heap_use() - before, std::size_t{1} << 20);
}

TEST(Memory, AnIdlePeOfAMillionStaysBelowWhatIsPromised) {
  const MemoryShape shape{
      .n_pes = 1'000'000, .nic_peers = static_cast<int>(host::NicOptions{}.peers), .peers = 3};
  EXPECT_LE(sum(memory_of_pe(shape)) + nic_queue_bytes(shape), 64.0 * (1 << 20));
}

}  // namespace
}  // namespace chime::perf
