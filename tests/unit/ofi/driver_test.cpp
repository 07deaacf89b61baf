// The driver's reactions to a wire's completions and failures, call by call.
#include <gmock/gmock.h>

#include <array>
#include <chrono>
#include <map>
#include <thread>

#include "driver_fixture.hpp"

namespace chime::host::ofi::test {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

// Otherwise none of its requests would ever be answered.
TEST_F(DriverTest, APeThatCannotReceiveLosesAllWithAReason) {
  open();
  add(1);
  poll();
  wire.receives = -FI_ENOMEM;
  std::array<std::byte, 8> anything{};
  ASSERT_TRUE(wire.arrive(anything));
  poll();
  EXPECT_THAT(driver->why_lost(1).value_or(""), HasSubstr("cannot receive"));
  ASSERT_THAT(ended, SizeIs(1));
  EXPECT_EQ(ended[0].status, CHIMEX_ERR_NETWORK);
}

TEST_F(DriverTest, APeThatNeverCouldReceiveLosesEachAddedPeer) {
  wire.receives = -FI_ENOMEM;
  open();
  EXPECT_THAT(driver->why_lost(1).value_or(""), HasSubstr("cannot receive"));
}

TEST_F(DriverTest, APlaceThatThereWasNoRoomForIsPostedLater) {
  wire.receives = -FI_EAGAIN;
  open();
  poll();
  EXPECT_EQ(driver->why_lost(1), std::nullopt);
  wire.receives = 0;
  poll();
  std::array<std::byte, 8> anything{};
  EXPECT_TRUE(wire.arrive(anything));
}

// A peer that guesses, or has corrupt memory: the atomic is still held here after its put.
TEST_F(DriverTest, AnAnswerToWhatWasNotAskedYetIsNoAnswer) {
  wire.the_facts.keeps_order = false;
  open();
  put(1000, 1);
  add(2);
  BatchText text;
  text.begin(1);
  for (std::uint64_t id = 0; id < 4; ++id) text.add(answer_to(id, 0, CHIMEX_OK));
  ASSERT_TRUE(wire.arrive(text.finish(kPass)));
  poll();
  EXPECT_THAT(ended, SizeIs(0));
  EXPECT_THAT(wire.batches, SizeIs(0)) << "it is still held";
  wire.tells.push_back({wire.transfers.at(0), 0});
  poll();
  EXPECT_THAT(wire.batches, SizeIs(1)) << "now it is asked for";
  EXPECT_THAT(ended, SizeIs(1));
}

// ---- Batches of messages

TEST_F(DriverTest, WhatIsPostedBeforeAPollGoesByOneMessageBatchAndInTheSameTurn) {
  open();
  put(8, 1);
  add(2);
  put(kMostPutBytes, 3);
  EXPECT_THAT(wire.batches, SizeIs(0));
  poll();
  ASSERT_THAT(wire.batches, SizeIs(1));
  EXPECT_EQ(wire.batches[0].to, 1);
  EXPECT_THAT(messages_in(wire.batches[0].bytes, kPeersPass), SizeIs(3));
  EXPECT_THAT(wire.transfers, SizeIs(0));
  put(kMostPutBytes + 1, 4);
  EXPECT_THAT(wire.transfers, SizeIs(1)) << "too long for a message";
}

TEST_F(DriverTest, APeerWhoseProcessorDoesNotReachItsHeapGetsTransfers) {
  driver.emplace(Driver::Place{0, 2, heap, kPass, {}, true}, *gpu, wire, requests, mail);
  driver->add_peer(1, {.pass = kPeersPass, .takes_puts = false});
  put(8, 1);
  poll();
  EXPECT_THAT(wire.transfers, SizeIs(1));
  EXPECT_THAT(wire.batches, SizeIs(0));
}

TEST_F(DriverTest, MessageBatchesAreFilledAndNothingIsLostBetweenThem) {
  open();
  constexpr std::size_t kMany = 300;
  for (std::uint64_t i = 0; i < kMany; ++i) put(i % kMostPutBytes + 1, i);
  poll();
  std::size_t messages = 0;
  for (const auto& batch : wire.batches) {
    EXPECT_LE(batch.bytes.size(), kBatchBytes);
    messages += messages_in(batch.bytes, kPeersPass).size();
  }
  EXPECT_EQ(messages, kMany);
  EXPECT_LE(wire.batches.size(), kMany * (24 + 68) / (kBatchBytes - 200) + 1);
}

TEST_F(DriverTest, WhileThereIsNoRoomMessagesGather) {
  open();
  wire.has_room = false;
  for (std::uint64_t i = 0; i < 5; ++i) {
    add(i);
    poll();
  }
  wire.has_room = true;
  poll();
  ASSERT_THAT(wire.batches, SizeIs(2)) << "the one that was refused, and what came since";
  EXPECT_THAT(messages_in(wire.batches[1].bytes, kPeersPass), SizeIs(4));
}

// In their order; the answers are one batch of messages of the same poll.
TEST_F(DriverTest, ABatchOfRequestsIsCarriedOutInOrderAndAnsweredTogether) {
  open();
  BatchText text;
  text.begin(1);
  const std::uint64_t operands[2] = {};
  const std::byte data[5] = {};
  HostRequest put{HostRequest::Kind::kPut, 0, 64, nullptr, sizeof data};
  text.add(ask_for(put, 5), data);
  text.add(ask_for(kAdd, 6), std::as_bytes(std::span(operands)));
  put.at = heap.size() - 4;
  text.add(ask_for(put, 7), data);
  ASSERT_TRUE(wire.arrive(text.finish(kPass)));
  poll();
  EXPECT_THAT(owner.all, testing::ElementsAre(std::pair('w', 64u), std::pair('u', 16u)));
  ASSERT_THAT(wire.batches, SizeIs(1));
  const auto answers = messages_in(wire.batches[0].bytes, kPeersPass);
  ASSERT_THAT(answers, SizeIs(3));
  EXPECT_EQ(answers[0].id, 5u);
  EXPECT_EQ(answers[0].status, CHIMEX_OK);
  EXPECT_EQ(answers[1].id, 6u);
  EXPECT_EQ(answers[1].at, 56u) << "the word before";
  EXPECT_EQ(answers[2].id, 7u);
  EXPECT_EQ(answers[2].status, CHIMEX_ERR_INVALID) << "beyond the heap";
}

// No part of it is carried out, and its sender does not wait for ever.
TEST_F(DriverTest, AMessageBatchThatCannotBeReadLosesItsSender) {
  BatchText text;
  text.begin(1);
  const std::uint64_t operands[2] = {};
  text.add(ask_for(kAdd, 6), std::as_bytes(std::span(operands)));
  const auto whole = text.finish(kPass);
  std::vector<std::byte> longer(whole.begin(), whole.end()), unknown = longer, counted = longer;
  longer.resize(longer.size() + 8);
  unknown[sizeof(BatchHead) + offsetof(Message, kind)] = std::byte{9};
  counted[offsetof(BatchHead, bytes)] ^= std::byte{8};
  const std::vector<std::byte> shorter(whole.begin(), whole.end() - 8),
      empty(whole.begin(), whole.begin() + sizeof(BatchHead));
  for (const auto& wrong : {longer, unknown, counted, shorter, empty}) {
    open();
    ASSERT_TRUE(wire.arrive(wrong));
    poll();
    EXPECT_THAT(owner.all, SizeIs(0));
    EXPECT_THAT(driver->why_lost(1).value_or(""), HasSubstr("batch"));
    driver.reset();
  }
}

TEST_F(DriverTest, AStrangersMessageBatchIsNothing) {
  BatchText text;
  const std::uint64_t operands[2] = {};
  open();
  for (const auto& [pass, from] : {std::pair(kPass + 1, 1), {kPass, 5}, {kPass, -1}, {kPass, 0}}) {
    text.begin(from);
    text.add(ask_for(kAdd, 6), std::as_bytes(std::span(operands)));
    ASSERT_TRUE(wire.arrive(text.finish(pass)));
    poll();
  }
  EXPECT_THAT(owner.all, SizeIs(0));
  EXPECT_EQ(driver->why_lost(1), std::nullopt);
}

// The second answer has no request.
TEST_F(DriverTest, AnAnswerCountsOnce) {
  open();
  put(8, 1);
  put(8, 2);
  poll();
  const auto asks = messages_in(wire.batches.at(0).bytes, kPeersPass);
  BatchText text;
  text.begin(1);
  for (int i = 0; i < 3; ++i) text.add(answer_to(asks.at(1).id, 0, CHIMEX_OK));
  ASSERT_TRUE(wire.arrive(text.finish(kPass)));
  poll();
  ASSERT_THAT(ended, SizeIs(1));
  EXPECT_EQ(ended[0].completion, 2u);
}

// Its id is that of the request now in its slot, except for the count of earlier ones.
TEST_F(DriverTest, AnAnswerToAnEarlierRequestInItsPlaceIsNoAnswer) {
  open();
  add(1);
  poll();
  const std::uint64_t first = messages_in(wire.batches.at(0).bytes, kPeersPass).at(0).id;
  const auto hear = [&](std::uint64_t id, std::int32_t from = 1) {
    BatchText text;
    text.begin(from);
    text.add(answer_to(id, 0, CHIMEX_OK));
    ASSERT_TRUE(wire.arrive(text.finish(kPass)));
    poll();
  };
  hear(first);
  ASSERT_THAT(ended, SizeIs(1));
  add(2);
  poll();
  const std::uint64_t second = messages_in(wire.batches.at(1).bytes, kPeersPass).at(0).id;
  ASSERT_EQ(static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(second))
      << "the second is in the place of the first";
  hear(first);
  hear(second + (std::uint64_t{1} << 32));
  EXPECT_THAT(ended, SizeIs(1));
  hear(second);
  EXPECT_THAT(ended, SizeIs(2));
}

// Each of the two uses the id of the other's request.
TEST_F(DriverTest, AnAnswerOfAnotherPeerThanWasAskedIsNoAnswer) {
  driver.emplace(Driver::Place{0, 3, heap, kPass, {}, true}, *gpu, wire, requests, mail);
  driver->serve(owner);
  for (const int pe : {1, 2}) driver->add_peer(pe, {.pass = kPeersPass, .takes_puts = true});
  const auto post = [&](int pe, std::uint64_t completion) {
    ASSERT_TRUE(driver->post(
        {HostRequest::Kind::kAtomic, pe, 0, nullptr, 0, {AmoOp::kAdd, 8, 1, 0}}, completion));
  };
  post(1, 1);
  post(2, 2);
  poll();
  ASSERT_THAT(wire.batches, SizeIs(2));
  std::map<int, std::uint64_t> asked;  // by PE
  for (const auto& batch : wire.batches)
    asked[batch.to] = messages_in(batch.bytes, kPeersPass).at(0).id;
  const auto hear = [&](int from, std::uint64_t id) {
    BatchText text;
    text.begin(from);
    text.add(answer_to(id, 0, CHIMEX_OK));
    ASSERT_TRUE(wire.arrive(text.finish(kPass)));
    poll();
  };
  hear(2, asked[1]);
  hear(1, asked[2]);
  EXPECT_THAT(ended, SizeIs(0));
  hear(2, asked[2]);
  ASSERT_THAT(ended, SizeIs(1));
  EXPECT_EQ(ended[0].completion, 2u);
  hear(1, asked[1]);
  EXPECT_THAT(ended, SizeIs(2));
}

// ---- Silence

struct SilenceTest : DriverTest {
  static constexpr std::chrono::milliseconds kTimeout{400};

  void open_with_timeout() {
    driver.emplace(Driver::Place{0, 3, heap, kPass, kTimeout, true}, *gpu, wire, requests, mail);
    driver->serve(owner);
    for (const int pe : {1, 2}) driver->add_peer(pe, {.pass = kPeersPass, .takes_puts = true});
    for (const int pe : {1, 2})
      ASSERT_TRUE(
          driver->post({HostRequest::Kind::kAtomic, pe, 0, nullptr, 0, {AmoOp::kAdd, 8, 1, 0}},
                       static_cast<std::uint64_t>(pe)));
  }
  void poll_for(std::chrono::milliseconds length) {
    const auto end = std::chrono::steady_clock::now() + length;
    while (std::chrono::steady_clock::now() < end) poll();
  }
  // Checks for silent peers once, however late the last check was.
  void look_once() {
    for (int i = 0; i < 16; ++i) poll();
  }
};

// Like a process that was stopped (SIGSTOP) and continues: the silence that it finds is its own.
TEST_F(SilenceTest, WhoHasNotLookedForLongerThanTheTimeoutLosesNobody) {
  open_with_timeout();
  poll_for(kTimeout / 8);
  for (int stops = 0; stops < 3; ++stops) {
    std::this_thread::sleep_for(2 * kTimeout);
    look_once();
    for (const int pe : {1, 2}) EXPECT_EQ(driver->why_lost(pe), std::nullopt) << "stop " << stops;
  }
  EXPECT_THAT(ended, SizeIs(0));
}

// From then on the silence of each peer counts: one that sends is not lost with one that does not.
TEST_F(SilenceTest, APeerThatIsSilentAfterTheStopTooIsLost) {
  open_with_timeout();
  poll_for(kTimeout / 8);
  std::this_thread::sleep_for(2 * kTimeout);
  look_once();
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!driver->why_lost(2) && std::chrono::steady_clock::now() < end) {
    BatchText text;
    text.begin(1);
    text.add(answer_to(~std::uint64_t{0}, 0, CHIMEX_OK));  // a sign of life, but not an answer
    ASSERT_TRUE(wire.arrive(text.finish(kPass)));
    poll();
  }
  EXPECT_THAT(driver->why_lost(2).value_or(""), HasSubstr("no sign of life"));
  EXPECT_EQ(driver->why_lost(1), std::nullopt);
}

TEST_F(DriverTest, ALossEndsWhatIsInAnOpenMessageBatch) {
  open();
  put(8, 1);
  add(2);
  driver->fail(1);
  poll();
  EXPECT_THAT(ended, SizeIs(2));
  EXPECT_THAT(wire.batches, SizeIs(0));
  for (const auto& one : ended) EXPECT_EQ(one.status, CHIMEX_ERR_NETWORK);
}

// A provider without order: the messages of one batch are in order all the same.
TEST_F(DriverTest, WithoutOrderAnAtomicWaitsForPutsOfEarlierMessageBatchesAlone) {
  wire.the_facts.keeps_order = false;
  open();
  put(8, 1);
  add(2);
  poll();
  ASSERT_THAT(wire.batches, SizeIs(1));
  const auto first = messages_in(wire.batches[0].bytes, kPeersPass);
  EXPECT_THAT(first, SizeIs(2)) << "a put and its signal go together";
  put(8, 3);
  add(4);
  poll();
  ASSERT_THAT(wire.batches, SizeIs(2));
  EXPECT_THAT(messages_in(wire.batches[1].bytes, kPeersPass), SizeIs(1)) << "the put alone";
  BatchText text;
  text.begin(1);
  text.add(answer_to(first[0].id, 0, CHIMEX_OK));
  text.add(answer_to(messages_in(wire.batches[1].bytes, kPeersPass).at(0).id, 0, CHIMEX_OK));
  ASSERT_TRUE(wire.arrive(text.finish(kPass)));
  poll();
  ASSERT_THAT(wire.batches, SizeIs(3));
  EXPECT_EQ(messages_in(wire.batches[2].bytes, kPeersPass).at(0).kind, Message::Kind::kAsk);
}

}  // namespace
}  // namespace chime::host::ofi::test
