// Requests of a PE whose heap the provider does not know: which go when, through which slots, and
// what remains of them when a peer is lost.
#include <chrono>
#include <thread>

#include "bounce_fixture.hpp"

namespace chime::host::ofi::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using Kind = Message::Kind;

// ---- Puts

TEST_F(BounceTest, AShortPutOfTheDevicesMemoryGoesWhenItHasBeenCopied) {
  open();
  heap[0] = std::byte{7};
  put(heap.data(), 100, 1);
  poll();
  EXPECT_THAT(wire.batches, SizeIs(0));
  out().finish();
  poll();
  const auto all = sent();
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_EQ(all[0].message.kind, Kind::kPut);
  EXPECT_EQ(all[0].message.at, 64u);
  EXPECT_EQ(all[0].body[0], std::byte{7});
  EXPECT_THAT(ended, SizeIs(0));
  answer(all[0].message);
  EXPECT_THAT(ended, SizeIs(1));
  EXPECT_THAT(wire.transfers, SizeIs(0));
}

TEST_F(BounceTest, AShortPutOfTheHostsMemoryGoesAtOnce) {
  open();
  put(host.data(), kMostCarriedBytes, 1);
  poll();
  EXPECT_EQ(out().begun(), 0u);
  EXPECT_THAT(sent(), SizeIs(1));
}

// Also from host memory: the owner reads from a slot, because other memory is not exposed.
TEST_F(BounceTest, ALongPutIsReadByItsOwnerPieceByPiece) {
  for (const bool is_of_host : {false, true}) {
    std::vector<std::byte> more(3 * kLarge);
    open();
    std::byte* const from = is_of_host ? more.data() : heap.data();
    const std::size_t bytes = 2 * kLarge + 100;
    for (std::size_t i = 0; i < bytes; ++i) from[i] = static_cast<std::byte>(i * 7 / kLarge);
    put(from, bytes, 1);
    settle();
    const auto all = sent();
    ASSERT_THAT(all, SizeIs(3));
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(all[i].message.kind, Kind::kPull);
      EXPECT_EQ(all[i].message.at, 64 + i * kLarge);
      EXPECT_EQ(all[i].message.bytes, i == 2 ? 100 : kLarge);
      EXPECT_EQ(std::memcmp(&pool[all[i].slot()], from + i * kLarge, all[i].message.bytes), 0);
    }
    answer(all[2].message);
    answer(all[0].message);
    EXPECT_THAT(ended, SizeIs(0));
    answer(all[1].message);
    ASSERT_THAT(ended, SizeIs(1));
    EXPECT_EQ(ended[0].status, CHIMEX_OK);
    ended.clear();
    driver.reset();
    queues.clear();
  }
}

TEST_F(BounceTest, NothingIsSentOfAnEmptyPut) {
  open();
  put(heap.data(), 0, 1);
  poll();
  EXPECT_THAT(ended, SizeIs(1));
  EXPECT_THAT(wire.batches, SizeIs(0));
}

// ---- Order

// A provider that keeps the order of batches: the atomic goes in the batch of its put, after it.
TEST_F(BounceTest, AnAtomicStandsBehindAPutThatIsStillCopied) {
  open();
  put(heap.data(), 100, 1);
  add(2);
  poll();
  EXPECT_THAT(wire.batches, SizeIs(0));
  out().finish();
  poll();
  const auto all = sent();
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_EQ(all[0].message.kind, Kind::kPut);
  EXPECT_EQ(all[1].message.kind, Kind::kAsk);
}

TEST_F(BounceTest, WithoutOrderAnAtomicWaitsForTheAnswerToAPutThatWasCopied) {
  open(false);
  put(heap.data(), 100, 1);
  add(2);
  settle();
  const auto all = sent();
  ASSERT_THAT(all, SizeIs(1));
  answer(all[0].message);
  EXPECT_THAT(sent(), SizeIs(1));
}

// With any provider: the time at which the owner has read is known only to the owner.
TEST_F(BounceTest, AnAtomicWaitsForAllPiecesOfALongPut) {
  open();
  put(heap.data(), 2 * kLarge, 1);
  add(2);
  settle();
  const auto pieces = sent();
  ASSERT_THAT(pieces, SizeIs(2));
  answer(pieces[0].message);
  EXPECT_THAT(sent(), SizeIs(0));
  answer(pieces[1].message);
  const auto after = sent();
  ASSERT_THAT(after, SizeIs(1));
  EXPECT_EQ(after[0].message.kind, Kind::kAsk);
}

TEST_F(BounceTest, APutBehindAnAtomicDoesNotWait) {
  open();
  put(heap.data(), 2 * kLarge, 1);
  add(2);
  put(host.data(), 8, 3);
  settle();
  EXPECT_THAT(sent(), SizeIs(3));
}

// ---- Gets

TEST_F(BounceTest, AShortGetComesInTheAnswerAndIsCopiedIn) {
  open();
  get(heap.data() + 512, 16, 1);
  poll();
  const auto all = sent();
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_EQ(all[0].message.kind, Kind::kGet);
  hear({{ask_for_piece(Kind::kData, all[0].message.id, 0, 16), std::vector(16, std::byte{5})}});
  EXPECT_THAT(ended, SizeIs(0)) << "not in the device's memory yet";
  in().finish();
  poll();
  EXPECT_THAT(ended, SizeIs(1));
  EXPECT_EQ(heap[512 + 15], std::byte{5});
}

TEST_F(BounceTest, AShortGetIntoTheHostsMemoryTakesNoSlot) {
  open();
  for (std::uint64_t i = 0; i < 200; ++i) get(host.data() + 8 * i, 8, i);  // more than the slots
  poll();
  const auto all = sent();
  ASSERT_THAT(all, SizeIs(200));
  hear({{ask_for_piece(Kind::kData, all[199].message.id, 0, 8), std::vector(8, std::byte{6})}});
  ASSERT_THAT(ended, SizeIs(1));
  EXPECT_EQ(ended[0].completion, 199u);
  EXPECT_EQ(host[8 * 199], std::byte{6});
  EXPECT_EQ(in().begun(), 0u);
}

TEST_F(BounceTest, ALongGetIsWrittenIntoASlotAndCopiedIn) {
  open();
  get(heap.data(), kLarge + 8, 1);
  poll();
  const auto all = sent();
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_EQ(all[1].message.kind, Kind::kPush) << "the last piece, too, however short";
  for (const auto& ask : all) std::memset(&pool[ask.slot()], 9, ask.message.bytes);
  answer(all[0].message);
  answer(all[1].message);
  EXPECT_THAT(ended, SizeIs(0));
  settle();
  EXPECT_THAT(ended, SizeIs(1));
  EXPECT_EQ(heap[kLarge + 7], std::byte{9});
  EXPECT_EQ(heap[kLarge + 8], std::byte{0});
}

// ---- Few slots

// The share of one peer, and then the next piece when a slot is free.
TEST_F(BounceTest, ARequestWithoutASlotWaitsAndOthersDoNot) {
  open();
  for (std::uint64_t i = 0; i < 6; ++i) put(heap.data(), 2 * kLarge, i, 1);
  settle();
  const auto first = sent();
  EXPECT_THAT(first, SizeIs(SlotPool::kLarge / 2)) << "two peers share the slots";
  put(heap.data(), kLarge, 10, 2);
  settle();
  EXPECT_THAT(sent(), SizeIs(1)) << "the other peer";
  answer(first[0].message);
  settle();
  EXPECT_THAT(sent(), SizeIs(1));
}

TEST_F(BounceTest, WhatTheWireHasNoRoomForGoesLater) {
  open();
  wire.has_room = false;
  put(heap.data(), 100, 1);
  put(heap.data(), kLarge, 2);
  settle();
  EXPECT_THAT(wire.batches, SizeIs(0));
  wire.has_room = true;
  settle();
  EXPECT_THAT(sent(), SizeIs(2));
}

// It has received no request yet, so it is not silent.
TEST_F(BounceTest, APeerWhoseRequestsWaitForSlotsIsNotLost) {
  timeout = std::chrono::milliseconds(150);
  open(true, true, 6);
  for (int pe = 1; pe < 5; ++pe)
    for (std::uint64_t i = 0; i < SlotPool::kLarge / 4; ++i) put(heap.data(), kLarge, i, pe);
  settle();
  put(heap.data(), kLarge, 50, 5);
  add(51, 5);
  ASSERT_THAT(sent(), SizeIs(SlotPool::kLarge));
  const auto end = std::chrono::steady_clock::now() + 3 * timeout;
  while (std::chrono::steady_clock::now() < end) {
    for (int pe = 1; pe < 5; ++pe) hear({{answer_to(12345, 0, CHIMEX_OK)}}, pe);  // they live
    for (int i = 0; i < 32; ++i) poll();
  }
  for (int pe = 1; pe < 6; ++pe) EXPECT_EQ(driver->why_lost(pe), std::nullopt);
  EXPECT_THAT(ended, SizeIs(0));
}

TEST_F(BounceTest, APeerThatWasAskedAndIsSilentIsLost) {
  timeout = std::chrono::milliseconds(150);
  open();
  put(heap.data(), kLarge, 1);
  settle();
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!driver->why_lost(1) && std::chrono::steady_clock::now() < end) poll();
  EXPECT_THAT(driver->why_lost(1).value_or(""), HasSubstr("no sign of life"));
  EXPECT_THAT(ended, SizeIs(1));
}

// Each begins a separate piece, and none is a sign of life.
TEST_F(BounceTest, ASilentPeerIsLostWhateverIsAskedOfItMeanwhile) {
  timeout = std::chrono::milliseconds(600);  // after a pause of a quarter of it no peer is silent
  open();
  constexpr std::uint64_t kMost = Driver::kRoom - 1;
  std::uint64_t asked = 0;
  for (; asked < kMost && !driver->why_lost(1); ++asked) {
    get(host.data(), 8, asked);
    const auto next = std::chrono::steady_clock::now() + timeout / 30;
    while (std::chrono::steady_clock::now() < next) poll();
  }
  EXPECT_THAT(driver->why_lost(1).value_or(""), HasSubstr("no sign of life"));
  EXPECT_LT(asked, kMost);
}

// ---- Invalid messages

TEST_F(BounceTest, APieceThatIsRefusedEndsItsRequestAndLosesNobody) {
  open();
  put(heap.data(), 2 * kLarge, 1);
  settle();
  const auto all = sent();
  answer(all[0].message, CHIMEX_ERR_INVALID);
  EXPECT_THAT(ended, SizeIs(0)) << "the other one still reads";
  answer(all[1].message);
  ASSERT_THAT(ended, SizeIs(1));
  EXPECT_EQ(ended[0].status, CHIMEX_ERR_INVALID);
  EXPECT_EQ(driver->why_lost(1), std::nullopt);
}

TEST_F(BounceTest, DataForAPutOrOfAnotherLengthLosesItsSender) {
  for (const std::size_t bytes : {8, 16}) {
    open();
    if (bytes == 8)
      get(heap.data(), 16, 1);
    else
      put(heap.data(), kLarge, 1);
    settle();
    const Message ask = sent().at(0).message;
    hear({{ask_for_piece(Kind::kData, ask.id, 0, bytes), std::vector(bytes, std::byte{1})}});
    EXPECT_THAT(driver->why_lost(1).value_or(""), HasSubstr("something else"));
    EXPECT_THAT(ended, SizeIs(1));
    ended.clear();
    driver.reset();
    queues.clear();
  }
}

TEST_F(BounceTest, AnAnswerToAPieceThatNobodyAskedForIsNothing) {
  open();
  put(heap.data(), kLarge, 1);
  settle();
  const Message ask = sent().at(0).message;
  answer(ask, CHIMEX_OK, 2);  // from another peer
  hear({{answer_to(ask.id + 1, 0, CHIMEX_OK)}});
  hear({{answer_to(ask.id + (std::uint64_t{1} << 32), 0, CHIMEX_ERR_NETWORK)}});
  EXPECT_THAT(ended, SizeIs(0));
  EXPECT_EQ(driver->why_lost(1), std::nullopt);
  answer(ask);
  answer(ask);
  EXPECT_THAT(ended, SizeIs(1));
}

TEST_F(BounceTest, ADeviceThatHasFailedIsReportedByPoll) {
  open();
  put(heap.data(), 100, 1);
  out().has_failed = true;
  EXPECT_THROW(poll(), std::runtime_error);
}

// ---- Lost peers

// A request does not end while the device still reads, or writes, memory here for it.
TEST_F(BounceTest, ALossEndsEachRequestOnceWhateverItsState) {
  open();
  put(heap.data(), 100, 0);
  put(heap.data(), kLarge, 1);
  get(heap.data(), 100, 2);
  get(heap.data(), 64, 3);
  settle();
  for (const auto& ask : sent())
    if (ask.message.bytes == 64)  // this one is copied in, all others are requested
      hear({{ask_for_piece(Kind::kData, ask.message.id, 0, 64), std::vector<std::byte>(64)}});
  put(heap.data(), 100, 4);                                            // this one is copied out
  for (std::uint64_t i = 5; i < 20; ++i) put(heap.data(), kLarge, i);  // and some wait for slots
  driver->fail(1);
  poll();
  poll();
  EXPECT_LT(ended.size(), 20u) << "the device has some of it";
  settle();
  settle();
  ASSERT_THAT(ended, SizeIs(20));
  std::array<int, 20> times{};
  for (const auto& one : ended) {
    ++times[one.completion];
    EXPECT_EQ(one.status, CHIMEX_ERR_NETWORK);
  }
  for (const int each : times) EXPECT_EQ(each, 1);
  EXPECT_TRUE(driver->why_lost(1).has_value());
  put(heap.data(), 100, 30, 2);
  settle();
  EXPECT_THAT(sent(), SizeIs(1)) << "others go on";
}

// A peer whose end was not reported may still read it, or write to it.
TEST_F(BounceTest, ASlotThatALostPeerWasToldOfIsNobodyElsesUntilItIsGone) {
  open();
  put(heap.data(), 2 * kLarge, 1);
  settle();
  const auto told = sent();
  hear({{answer_to(told[0].message.id, 0, CHIMEX_ERR_NETWORK)}});  // the peer has given up this PE
  ASSERT_TRUE(driver->why_lost(1).has_value());
  const auto is_told = [&](std::uint64_t slot) {
    return slot == told[0].slot() || slot == told[1].slot();
  };
  const auto puts_take_them = [&] {
    bool any = false;
    for (int round = 0; round < 3; ++round) {
      for (std::uint64_t i = 0; i < SlotPool::kLarge / 2; ++i) put(heap.data(), kLarge, 9, 2);
      settle();
      for (const auto& ask : sent()) {
        any |= is_told(ask.slot());
        answer(ask.message, CHIMEX_OK, 2);
      }
    }
    return any;
  };
  EXPECT_FALSE(puts_take_them());
  driver->fail(1);
  poll();
  EXPECT_FALSE(puts_take_them()) << "messages in flight may still arrive";
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  poll();
  EXPECT_TRUE(puts_take_them());
}

TEST_F(BounceTest, WhenLostPeersKeepAllSlotsAllAreLost) {
  open(true, true, 6);
  for (int pe = 1; pe < 5; ++pe) {
    EXPECT_EQ(driver->why_lost(5), std::nullopt);
    for (std::uint64_t i = 0; i < SlotPool::kLarge / 4; ++i) put(heap.data(), kLarge, i, pe);
    settle();
    const auto asks = sent();
    ASSERT_THAT(asks, SizeIs(SlotPool::kLarge / 4));
    hear({{answer_to(asks[0].message.id, 0, CHIMEX_ERR_NETWORK)}}, pe);
  }
  EXPECT_THAT(driver->why_lost(5).value_or(""), HasSubstr("all slots"));
}

}  // namespace
}  // namespace chime::host::ofi::test
