// When a request completes, and which earlier ones are then done: completion modes and fences.

#include "routes.hpp"
#include "wait.hpp"

namespace direct {
namespace {

class Completions : public Connected {};
CHIME_OVER_ALL_ROUTES(Completions);

TEST_P(Completions, OnlyModesTwoAndThreeTellOfSuccess) {
  for (const Ce silent : {Ce::kOnError, Ce::kOnFirstError}) {
    left.sends.post_and_ring(Wqe(kNop).signalled(silent));
    const std::uint16_t signalled = left.sends.post_and_ring(Wqe(kNop).signalled(Ce::kAlways));
    EXPECT_EQ(left.sent.next().counter(), signalled);
  }
  const std::uint16_t signalled = left.sends.post_and_ring(Wqe(kNop).signalled(Ce::kWithEvent));
  EXPECT_EQ(left.sent.next().counter(), signalled);
  EXPECT_FALSE(left.sent.poll().has_value());
}

// A write sends bytes that an earlier read or atomic of the same queue pair stores.
TEST_P(Completions, FencedRequestSeesWhatEarlierReadsBrought) {
  for (const Fence mode : {Fence::kFence, Fence::kStrong, Fence::kFenceAndSmall}) {
    for (std::uint64_t round = 1; round <= 40; ++round) {
      remote.set_word(0, round);
      local.set_word(64, 0);
      left.sends.post(round % 2 ? read(0, 64, 8).signalled(Ce::kOnError)
                                : Wqe(kFetchAdd)
                                      .remote(remote.at(0), remote.rkey())
                                      .u64(1)
                                      .u64(0)
                                      .data(local.at(64), 8, local.lkey())
                                      .signalled(Ce::kOnError));
      left.sends.post(write(128, 64, 8).fenced(mode).signalled(Ce::kOnError));
      // A second write, after a long read: the fence also waits for an answer of many packets.
      left.sends.post(read(65536, 65536, 200000).signalled(Ce::kOnError));
      const std::uint16_t last =
          left.sends.post_and_ring(write(300000, 65536 + 199992, 8).fenced(mode));
      remote.set_word(65536 + 199992, 0);  // the read may see this or the old value
      left.sent.retired(last);
      ASSERT_EQ(remote.word(128), round);
      ASSERT_EQ(remote.word(300000), local.word(65536 + 199992));
    }
  }
}

TEST_P(Completions, WritesOfOneQueuePairLandInTheirOrder) {
  for (std::uint64_t round = 1; round <= 100; ++round) {
    local.set_word(0, round);
    local.fill(4096, 4096, static_cast<unsigned>(round));
    left.sends.post(write(8192, 4096, 4096).signalled(Ce::kOnError));
    left.sends.post_and_ring(
        Wqe(kWrite).remote(remote.at(0), remote.rkey()).inlined(local.at(0), 8));
    wait_until("the second write", [&] { return remote.word(0) == round; });
    ASSERT_EQ(0, std::memcmp(remote.at(8192), local.at(4096), 4096));
    left.sent.next();
  }
}

// Reads beyond the limit of outstanding ones wait, and complete in order.
TEST_P(Completions, ReadsBeyondTheLimitWait) {
  Options options;
  options.max_reads = 2;
  Pair narrow(route(), options);
  remote.fill(0, 32 * 1024, 5);
  std::uint16_t last = 0;
  for (unsigned i = 0; i < 32; ++i)
    last = narrow.left->sends.post(
        read(i * 1024, i * 1024, 1024).signalled(i == 31 ? Ce::kAlways : Ce::kOnError));
  narrow.left->sends.ring_doorbell();
  narrow.left->sent.retired(last);
  EXPECT_EQ(0, std::memcmp(local.at(0), remote.at(0), 32 * 1024));
}

// A sender waits for a receiver that is not ready, and continues when the receive is posted.
TEST_P(Completions, MessageWaitsForItsReceive) {
  local.set_word(0, 77);
  const std::uint16_t waiting = left.sends.post_and_ring(Wqe(kSend).inlined(local.at(0), 8));
  const std::uint16_t behind = left.sends.post_and_ring(write(512, 0, 8));
  EXPECT_FALSE(left.sent.poll().has_value());
  right.receives.post({{remote.at(0), 8, remote.lkey()}});
  EXPECT_EQ(left.sent.retired(behind).counter(), behind);
  EXPECT_EQ(right.received.next().byte_count(), 8u);
  EXPECT_EQ(remote.word(0), 77u);
  EXPECT_EQ(remote.word(512), 77u);
  EXPECT_LT(waiting, behind);
}

// A program may end as soon as it has its last message: hardware has acknowledged it by then.
TEST_P(Completions, ReceiverMayEndAtItsLastMessage) {
  for (int run = 0; run < 200; ++run) {
    right.receives.post({{remote.at(0), 8, remote.lkey()}});
    const std::uint16_t sent = left.sends.post_and_ring(Wqe(kSend).inlined(local.at(0), 8));
    right.received.next();
    ASSERT_EQ(right.to_reset(), 0);
    const Cqe cqe = left.sent.retired(sent);
    ASSERT_FALSE(cqe.failed()) << "run " << run << ", syndrome " << unsigned{cqe.syndrome()};
    ASSERT_EQ(left.to_reset(), 0);
    left.connect(right.qpn());
    right.connect(left.qpn());
  }
}

// After a reset, a queue pair starts from the beginning: index, records, completions.
TEST_P(Completions, ResetQueuePairStartsAgain) {
  for (int life = 0; life < 3; ++life) {
    for (int i = 0; i < 5; ++i) complete(left, write(0, 0, 64));
    for (Endpoint* e : {&left, &right}) {
      ASSERT_EQ(e->to_reset(), 0);
      ASSERT_EQ(e->state(), IBV_QPS_RESET);
    }
    left.connect(right.qpn());
    right.connect(left.qpn());
    ASSERT_EQ(left.state(), IBV_QPS_RTS);
    EXPECT_EQ(complete(left, Wqe(kNop)).counter(), 0);
  }
}

}  // namespace
}  // namespace direct
