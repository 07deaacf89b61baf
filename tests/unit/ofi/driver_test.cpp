// What the driver does with what a wire tells it, call by call.
#include <gmock/gmock.h>

#include <array>

#include "driver_fixture.hpp"

namespace chime::host::ofi::test {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

// Nothing that it asks for would ever be answered.
TEST_F(DriverTest, WhoCannotReceiveLosesAllWithWords) {
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

TEST_F(DriverTest, WhoCouldNeverReceiveLosesEachPeerThatIsAdded) {
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

// A peer that guesses, or whose memory is not well: the atomic is still held here behind its put.
TEST_F(DriverTest, AnAnswerToWhatWasNotAskedYetIsNoAnswer) {
  wire.the_facts.keeps_order = false;
  open();
  put(1000, 1);
  add(2);
  LetterText text;
  text.begin(1);
  for (std::uint64_t id = 0; id < 4; ++id) text.add(answer_to(id, 0, CHIMEX_OK));
  ASSERT_TRUE(wire.arrive(text.finish(kPass)));
  poll();
  EXPECT_THAT(ended, SizeIs(0));
  EXPECT_THAT(wire.letters, SizeIs(0)) << "it is still held";
  wire.tells.push_back({wire.transfers.at(0), 0});
  poll();
  EXPECT_THAT(wire.letters, SizeIs(1)) << "now it is asked for";
  EXPECT_THAT(ended, SizeIs(1));
}

// ---- Letters

TEST_F(DriverTest, WhatIsPostedBeforeAPollGoesByOneLetterAndInTheSameTurn) {
  open();
  put(8, 1);
  add(2);
  put(kMostPutBytes, 3);
  EXPECT_THAT(wire.letters, SizeIs(0));
  poll();
  ASSERT_THAT(wire.letters, SizeIs(1));
  EXPECT_EQ(wire.letters[0].to, 1);
  EXPECT_THAT(messages_in(wire.letters[0].bytes, kPeersPass), SizeIs(3));
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
  EXPECT_THAT(wire.letters, SizeIs(0));
}

TEST_F(DriverTest, LettersAreFilledAndNothingIsLostBetweenThem) {
  open();
  constexpr std::size_t kMany = 300;
  for (std::uint64_t i = 0; i < kMany; ++i) put(i % kMostPutBytes + 1, i);
  poll();
  std::size_t messages = 0;
  for (const auto& letter : wire.letters) {
    EXPECT_LE(letter.bytes.size(), kLetterBytes);
    messages += messages_in(letter.bytes, kPeersPass).size();
  }
  EXPECT_EQ(messages, kMany);
  EXPECT_LE(wire.letters.size(), kMany * (24 + 68) / (kLetterBytes - 200) + 1);
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
  ASSERT_THAT(wire.letters, SizeIs(2)) << "the one that was refused, and what came since";
  EXPECT_THAT(messages_in(wire.letters[1].bytes, kPeersPass), SizeIs(4));
}

// In their order, and the answers are one letter of the same poll.
TEST_F(DriverTest, ALettersAsksAreCarriedOutInOrderAndAnsweredTogether) {
  open();
  LetterText text;
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
  ASSERT_THAT(wire.letters, SizeIs(1));
  const auto answers = messages_in(wire.letters[0].bytes, kPeersPass);
  ASSERT_THAT(answers, SizeIs(3));
  EXPECT_EQ(answers[0].id, 5u);
  EXPECT_EQ(answers[0].status, CHIMEX_OK);
  EXPECT_EQ(answers[1].id, 6u);
  EXPECT_EQ(answers[1].at, 56u) << "the word before";
  EXPECT_EQ(answers[2].id, 7u);
  EXPECT_EQ(answers[2].status, CHIMEX_ERR_INVALID) << "beyond the heap";
}

// Nothing of it is carried out, and its sender is not left waiting.
TEST_F(DriverTest, ALetterThatCannotBeReadLosesItsSender) {
  LetterText text;
  text.begin(1);
  const std::uint64_t operands[2] = {};
  text.add(ask_for(kAdd, 6), std::as_bytes(std::span(operands)));
  const auto whole = text.finish(kPass);
  std::vector<std::byte> longer(whole.begin(), whole.end()), unknown = longer, counted = longer;
  longer.resize(longer.size() + 8);
  unknown[sizeof(LetterHead) + offsetof(Message, kind)] = std::byte{9};
  counted[offsetof(LetterHead, bytes)] ^= std::byte{8};
  const std::vector<std::byte> shorter(whole.begin(), whole.end() - 8),
      empty(whole.begin(), whole.begin() + sizeof(LetterHead));
  for (const auto& wrong : {longer, unknown, counted, shorter, empty}) {
    open();
    ASSERT_TRUE(wire.arrive(wrong));
    poll();
    EXPECT_THAT(owner.all, SizeIs(0));
    EXPECT_THAT(driver->why_lost(1).value_or(""), HasSubstr("letter"));
    driver.reset();
  }
}

TEST_F(DriverTest, AStrangersLetterIsNothing) {
  LetterText text;
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

// The second answer finds nobody.
TEST_F(DriverTest, AnAnswerCountsOnce) {
  open();
  put(8, 1);
  put(8, 2);
  poll();
  const auto asks = messages_in(wire.letters.at(0).bytes, kPeersPass);
  LetterText text;
  text.begin(1);
  for (int i = 0; i < 3; ++i) text.add(answer_to(asks.at(1).id, 0, CHIMEX_OK));
  ASSERT_TRUE(wire.arrive(text.finish(kPass)));
  poll();
  ASSERT_THAT(ended, SizeIs(1));
  EXPECT_EQ(ended[0].completion, 2u);
}

TEST_F(DriverTest, ALossEndsWhatIsInAnOpenLetter) {
  open();
  put(8, 1);
  add(2);
  driver->fail(1);
  poll();
  EXPECT_THAT(ended, SizeIs(2));
  EXPECT_THAT(wire.letters, SizeIs(0));
  for (const auto& one : ended) EXPECT_EQ(one.status, CHIMEX_ERR_NETWORK);
}

// A provider that keeps no order: what stands in one letter is in order all the same.
TEST_F(DriverTest, WithoutOrderAnAtomicWaitsForPutsOfEarlierLettersAlone) {
  wire.the_facts.keeps_order = false;
  open();
  put(8, 1);
  add(2);
  poll();
  ASSERT_THAT(wire.letters, SizeIs(1));
  const auto first = messages_in(wire.letters[0].bytes, kPeersPass);
  EXPECT_THAT(first, SizeIs(2)) << "a put and its signal go together";
  put(8, 3);
  add(4);
  poll();
  ASSERT_THAT(wire.letters, SizeIs(2));
  EXPECT_THAT(messages_in(wire.letters[1].bytes, kPeersPass), SizeIs(1)) << "the put alone";
  LetterText text;
  text.begin(1);
  text.add(answer_to(first[0].id, 0, CHIMEX_OK));
  text.add(answer_to(messages_in(wire.letters[1].bytes, kPeersPass).at(0).id, 0, CHIMEX_OK));
  ASSERT_TRUE(wire.arrive(text.finish(kPass)));
  poll();
  ASSERT_THAT(wire.letters, SizeIs(3));
  EXPECT_EQ(messages_in(wire.letters[2].bytes, kPeersPass).at(0).kind, Message::Kind::kAsk);
}

}  // namespace
}  // namespace chime::host::ofi::test
