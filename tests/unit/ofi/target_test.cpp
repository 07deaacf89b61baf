// Requests of peers to a PE whose heap is a GPU's: carried out by its device, in their order, and
// answered when they are done.
#include <set>

#include "bounce_fixture.hpp"

namespace chime::host::ofi::test {
namespace {

using testing::SizeIs;
using Kind = Message::Kind;

TEST_F(BounceTest, APutIsAnsweredWhenTheDeviceHasIt) {
  open();
  hear({put_of(5, 64, 100, std::byte{3})});
  EXPECT_THAT(wire.batches, SizeIs(0));
  EXPECT_EQ(heap[64], std::byte{0});
  in().finish();
  poll();
  const auto all = sent();
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_EQ(all[0].message.id, 5u);
  EXPECT_EQ(all[0].message.status, CHIMEX_OK);
  EXPECT_EQ(heap[64 + 99], std::byte{3});
  EXPECT_EQ(heap[64 + 100], std::byte{0});
}

// No reader sees half of one.
TEST_F(BounceTest, AWordIsSet) {
  open();
  hear({put_of(5, 64, 8, std::byte{3}), put_of(6, 76, 4, std::byte{4}),
        put_of(7, 84, 8, std::byte{5})});
  EXPECT_EQ(in().sets, 2) << "the third one lies across two words";
  settle();
  EXPECT_EQ(word_in_heap(64), 0x0303'0303'0303'0303u);
  EXPECT_EQ(word_in_heap(72), 0x0404'0404'0000'0000u);
  EXPECT_EQ(heap[91], std::byte{5});
  EXPECT_THAT(sent(), SizeIs(3));
}

TEST_F(BounceTest, ALongPutIsReadAndCopiedInAndThenAnswered) {
  open();
  hear({slot_ask(Kind::kPull, 5, 64, 5000, 4096)});
  ASSERT_THAT(wire.transfers, SizeIs(1));
  const HostRequest& read = wire.transfers[0]->wanted;
  EXPECT_EQ(read.kind, HostRequest::Kind::kGet);
  EXPECT_EQ(read.at, 4096u);
  EXPECT_EQ(read.bytes, 5000u);
  EXPECT_NE(wire.transfers[0]->internal_request, nullptr) << "of the peer's slots, not of its heap";
  std::memset(read.here, 8, read.bytes);
  end_transfer();
  EXPECT_THAT(sent(), SizeIs(0));
  settle();
  EXPECT_THAT(sent(), SizeIs(1));
  EXPECT_EQ(heap[64 + 4999], std::byte{8});
  EXPECT_THAT(ended, SizeIs(0)) << "it was none of this PE's";
}

TEST_F(BounceTest, AShortGetIsAnsweredWithItsData) {
  open();
  heap[200] = std::byte{9};
  hear({{ask_for_piece(Kind::kGet, 5, 200, 3)}});
  EXPECT_THAT(wire.batches, SizeIs(0));
  settle();
  const auto all = sent();
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_EQ(all[0].message.kind, Kind::kData);
  EXPECT_EQ(all[0].message.bytes, 3u);
  EXPECT_EQ(all[0].body[0], std::byte{9});
}

TEST_F(BounceTest, ALongGetIsWrittenIntoTheInitiatorsSlot) {
  for (const bool keeps_order : {true, false}) {
    open(keeps_order);
    heap[200] = std::byte{9};
    hear({slot_ask(Kind::kPush, 5, 200, 4000, 8192)});
    EXPECT_THAT(wire.transfers, SizeIs(0));
    out().finish();
    poll();
    ASSERT_THAT(wire.transfers, SizeIs(1));
    const HostRequest& write = wire.transfers[0]->wanted;
    EXPECT_EQ(write.kind, HostRequest::Kind::kPut);
    EXPECT_EQ(write.at, 8192u);
    EXPECT_EQ(write.here[0], std::byte{9});
    poll();
    EXPECT_EQ(sent().size(), keeps_order ? 1u : 0u) << "the answer comes behind the data by itself";
    end_transfer();
    EXPECT_EQ(sent().size(), keeps_order ? 0u : 1u);
    driver.reset();
    queues.clear();
    wire.transfers.clear();
  }
}

// ---- Atomics

TEST_F(BounceTest, AnUpdateIsAKernelsAndItsAnswerSaysWhatWasBefore) {
  open();
  std::memset(&heap[64], 0, 8);
  heap[64] = std::byte{40};
  hear({update_of(5, 64, AmoOp::kAdd, 2, true), update_of(6, 64, AmoOp::kXor, 1)});
  EXPECT_EQ(words().begun(), 1u) << "both by one launch";
  settle();
  const auto all = sent();
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_EQ(all[0].message.at, 40u);
  EXPECT_EQ(word_in_heap(64), 43u);
}

TEST_F(BounceTest, EachUpdateDoesWhatItSays) {
  open();
  struct {
    AmoOp op;
    std::uint64_t operand, compare, after;
  } const all[] = {{AmoOp::kFetch, 0, 0, 12},       {AmoOp::kSet, 5, 0, 5},
                   {AmoOp::kAdd, 7, 0, 12},         {AmoOp::kAnd, 10, 0, 8},
                   {AmoOp::kOr, 3, 0, 11},          {AmoOp::kXor, 1, 0, 10},
                   {AmoOp::kCompareSwap, 1, 10, 1}, {AmoOp::kCompareSwap, 2, 10, 1}};
  std::uint64_t before = 12;
  std::memcpy(&heap[64], &before, 8);
  for (const auto& one : all) {
    Said said = update_of(5, 64, one.op, one.operand, true);
    said.body = word(one.operand, one.compare);
    hear({said});
    settle();
    EXPECT_EQ(sent().at(0).message.at, before);
    EXPECT_EQ(word_in_heap(64), one.after);
    before = one.after;
  }
}

TEST_F(BounceTest, HalfAWordIsUpdatedAlone) {
  open();
  std::memset(&heap[64], 0xff, 8);
  Said said = update_of(5, 68, AmoOp::kAdd, 1, true);
  said.message.bytes = 4;
  hear({said});
  settle();
  EXPECT_EQ(sent().at(0).message.at, 0xffff'ffffu);
  EXPECT_EQ(word_in_heap(64), 0x0000'0000'ffff'ffffu);
}

// A kernel of the program may leave no room for another one.
TEST_F(BounceTest, AWordThatIsSetTakesNoKernel) {
  open();
  hear({update_of(5, 64, AmoOp::kSet, 77)});
  settle();
  EXPECT_EQ(words().begun(), 0u);
  EXPECT_EQ(word_in_heap(64), 77u);
  EXPECT_THAT(sent(), SizeIs(1));
}

// A processor's or a stream's store between a NIC's load and its store would be lost.
TEST_F(BounceTest, BesideANicThatUpdatesWordsAWordIsSetByAKernel) {
  open();
  driver->update_by_nic(Context{});
  hear({update_of(5, 64, AmoOp::kSet, 77)});
  poll();
  EXPECT_EQ(in().begun(), 0u);
  EXPECT_EQ(words().begun(), 1u);
}

// The kernel waits for room; puts and signals that are set do not wait for it.
TEST_F(BounceTest, WhatIsBehindAnUpdateThatHasNoRoomGoesOn) {
  open();
  hear({update_of(5, 64, AmoOp::kAdd, 1), put_of(6, 128, 100, std::byte{1}),
        update_of(7, 256, AmoOp::kSet, 9)});
  in().finish();
  poll();
  EXPECT_THAT(sent(), SizeIs(2));
  EXPECT_EQ(words().left(), 1u);
}

// Within a batch of messages, and across batches of a provider that keeps their order.
TEST_F(BounceTest, AnUpdateFollowsThePutsBeforeIt) {
  open();
  hear({put_of(5, 128, 100, std::byte{1})});
  hear({update_of(6, 64, AmoOp::kAdd, 1), update_of(7, 72, AmoOp::kSet, 1)});
  EXPECT_EQ(words().finish(), 0u) << "the put is still copied";
  in().finish();
  EXPECT_EQ(words().finish(), 1u);
  EXPECT_EQ(word_in_heap(64), 1u);
}

TEST_F(BounceTest, AnUpdateOfThisPesOwnWordIsTheDevices) {
  open();
  std::uint64_t before = 0;
  heap[64] = std::byte{3};
  ASSERT_TRUE(driver->post({HostRequest::Kind::kAtomic,
                            0,
                            64,
                            reinterpret_cast<std::byte*>(&before),
                            0,
                            {AmoOp::kAdd, 8, 4, 0}},
                           1));
  poll();
  EXPECT_THAT(ended, SizeIs(0));
  settle();
  EXPECT_THAT(ended, SizeIs(1));
  EXPECT_EQ(before, 3u);
  EXPECT_EQ(word_in_heap(64), 7u);
}

TEST_F(BounceTest, AWordOfThisPesOwnThatIsSetTakesNoKernel) {
  open();
  ASSERT_TRUE(
      driver->post({HostRequest::Kind::kAtomic, 0, 64, nullptr, 0, {AmoOp::kSet, 8, 7, 0}}, 1));
  poll();
  EXPECT_EQ(in().sets, 1);
  settle();
  EXPECT_EQ(words().begun(), 0u);
  EXPECT_THAT(ended, SizeIs(1));
  EXPECT_EQ(word_in_heap(64), 7u);
}

// ---- Few slots

TEST_F(BounceTest, WhatIsAskedWithoutAFreeSlotBeginsLaterAndInItsOrder) {
  open();
  for (std::uint64_t i = 0; i < SlotPool::kSmall; i += 4)
    hear(std::vector(4, put_of(i, 128, 10, std::byte{1})));
  hear({update_of(1000, 64, AmoOp::kAdd, 1)});
  EXPECT_EQ(in().begun(), SlotPool::kSmall / 2) << "the share of one of two peers";
  EXPECT_EQ(words().begun(), 0u) << "it stands behind puts that wait";
  hear({put_of(1, 128, 10, std::byte{1})}, 2);
  EXPECT_EQ(in().begun(), SlotPool::kSmall / 2 + 1) << "of another peer";
  settle();
  EXPECT_THAT(sent(), SizeIs(SlotPool::kSmall + 2));
  EXPECT_EQ(word_in_heap(64), 1u);
}

TEST_F(BounceTest, ManyOldValuesWaitForPlaces) {
  open();
  std::vector<Said> asks;
  std::size_t count = 0;
  for (; count < SlotPool::kResults + 50; ++count) {
    asks.push_back(update_of(count, 64, AmoOp::kAdd, 1, true));
    if (asks.size() < 90) continue;
    hear(asks);
    asks.clear();
  }
  hear(asks);
  settle();
  settle();
  const auto all = sent();
  ASSERT_THAT(all, SizeIs(count));
  for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(all[i].message.at, i);
}

// A driver's call would wait for room in its stream.
TEST_F(BounceTest, ADeviceIsGivenNoMoreThanAWindowOfWordsThatAreSet) {
  open();
  constexpr std::uint64_t kSets = 3 * DeviceWork::kWindow;
  for (std::uint64_t i = 0; i < kSets; ++i) hear({put_of(i, 64, 8, std::byte{1})});
  hear({update_of(kSets, 64, AmoOp::kAdd, 1)});
  EXPECT_EQ(in().begun(), DeviceWork::kWindow);
  EXPECT_EQ(words().begun(), 0u) << "it stands behind what is not begun";
  in().finish(10);
  poll();
  EXPECT_EQ(in().begun(), DeviceWork::kWindow + 10);
  settle();
  EXPECT_THAT(sent(), SizeIs(kSets + 1));
  EXPECT_EQ(word_in_heap(64), 0x0101010101010101u + 1);
}

TEST_F(BounceTest, ADeviceIsGivenNoMoreThanAWindowOfUpdates) {
  open();
  constexpr std::uint64_t kUpdates = (DeviceWork::kWindow + 10) * UpdateCall::kMost;
  for (std::uint64_t i = 0; i < kUpdates; i += UpdateCall::kMost)
    hear(std::vector(UpdateCall::kMost, update_of(i, 64, AmoOp::kAdd, 1)));
  EXPECT_EQ(words().begun(), DeviceWork::kWindow);
  words().finish(1);
  poll();
  EXPECT_EQ(words().begun(), DeviceWork::kWindow + 1);
  settle();
  EXPECT_THAT(sent(), SizeIs(kUpdates));
  EXPECT_EQ(word_in_heap(64), kUpdates);
}

// ---- Invalid requests

TEST_F(BounceTest, WhatDoesNotFitIsRefusedAndNothingIsBegun) {
  open();
  hear({put_of(5, kHeapBytes - 4, 8, std::byte{1}), slot_ask(Kind::kPull, 6, kHeapBytes, 8, 0),
        slot_ask(Kind::kPush, 7, 0, kLarge + 1, 0), slot_ask(Kind::kPull, 8, 0, 0, 0),
        update_of(9, 4, AmoOp::kAdd, 1)});
  const auto all = sent();
  ASSERT_THAT(all, SizeIs(5));
  for (const auto& one : all) EXPECT_EQ(one.message.status, CHIMEX_ERR_INVALID);
  EXPECT_THAT(wire.transfers, SizeIs(0));
  EXPECT_EQ(in().begun() + out().begun() + words().begun(), 0u);
}

// It gets no answer, and its slots are free when they are no longer in use.
TEST_F(BounceTest, ALostPeersRequestsLeaveNothing) {
  constexpr int kLost = 3 * SlotPool::kLarge, kOther = kLost + 1;
  open(true, true, kOther + 1);
  for (int pe = 1; pe <= kLost; ++pe) {
    hear({slot_ask(Kind::kPull, 5, 64, 5000, 0),
          slot_ask(Kind::kPush, 6, 64, 5000, 0),
          put_of(7, 64, 100, std::byte{1}),
          {ask_for_piece(Kind::kGet, 8, 64, 100)},
          update_of(9, 64, AmoOp::kAdd, 1, true)},
         pe);
    driver->fail(pe);
    settle();
    if (!wire.transfers.empty()) end_transfer();
    settle();
    EXPECT_THAT(sent(), SizeIs(0));
    EXPECT_THAT(wire.transfers, SizeIs(0));
    hear({slot_ask(Kind::kPull, 5, 64, 5000, 0)}, kOther);
    ASSERT_THAT(wire.transfers, SizeIs(1)) << "others are served, after " << pe;
    end_transfer();
    settle();
    EXPECT_THAT(sent(), SizeIs(1));
  }
}

// The provider may still write to it.
TEST_F(BounceTest, ASlotThatTheProviderKeepsIsNotReused) {
  open();
  hear({slot_ask(Kind::kPull, 5, 64, 5000, 0)});
  ASSERT_THAT(wire.transfers, SizeIs(1));
  const std::byte* const kept = wire.transfers[0]->wanted.here;
  driver->fail(1);
  poll();
  for (std::size_t i = 1; i < 3 * SlotPool::kLarge; ++i) {
    hear({slot_ask(Kind::kPull, 5, 64, 5000, 0)}, 2);
    if (wire.transfers.size() < 2) break;
    EXPECT_NE(wire.transfers[1]->wanted.here, kept);
    end_transfer(1);
    settle();
  }
  end_transfer();
  EXPECT_THAT(ended, SizeIs(0));
}

// A slot freed twice would belong to two peers.
TEST_F(BounceTest, ATransferThatFailsFreesItsSlotOnce) {
  open(true, true, 4);
  hear({slot_ask(Kind::kPull, 5, 64, 5000, 0)});
  ASSERT_THAT(wire.transfers, SizeIs(1));
  wire.failures.push_back({std::exchange(wire.transfers, {})[0], false, "its peer has ended"});
  poll();
  EXPECT_TRUE(driver->why_lost(1));
  std::set<const std::byte*> slots;
  for (std::size_t i = 0; i < 4; ++i)
    for (const int pe : {2, 3}) hear({slot_ask(Kind::kPull, i, 64, 5000, 0)}, pe);
  for (const Request* const transfer : wire.transfers) slots.insert(transfer->wanted.here);
  EXPECT_THAT(slots, SizeIs(wire.transfers.size()));
  EXPECT_GE(wire.transfers.size(), 2u);
}

TEST_F(BounceTest, TransfersThatFailLeaveTheirSlotsToOthers) {
  constexpr int kFailing = SlotPool::kLarge, kOther = kFailing + 1;
  open(true, true, kOther + 1);
  for (int pe = 1; pe <= kFailing; ++pe) {
    hear({slot_ask(Kind::kPull, 5, 64, 5000, 0)}, pe);
    ASSERT_THAT(wire.transfers, SizeIs(1));
    wire.failures.push_back({std::exchange(wire.transfers, {})[0], false, "its peer has ended"});
    poll();
  }
  hear({slot_ask(Kind::kPull, 5, 64, 5000, 0)}, kOther);
  EXPECT_THAT(wire.transfers, SizeIs(1));
}

// Four peers have all the slots, and more to put, and three peers have none: free slots go to each
// in turn.
TEST_F(BounceTest, WhoWaitsForASlotIsServedInTurn) {
  constexpr int kPes = 8;
  open(true, true, kPes);
  const auto share = SlotPool::kSmall / 4;
  for (int pe = 1; pe < kPes; ++pe)
    for (std::uint64_t i = 0; i < share + 8; i += 8)
      hear(std::vector(8, put_of(i, 64u * unsigned(pe), 10, std::byte(pe))), pe);
  EXPECT_EQ(in().begun(), SlotPool::kSmall) << "all slots are taken";
  for (int i = 0; i < kPes; ++i) {
    in().finish(1);
    poll();
  }
  in().finish();
  for (int pe = 1; pe < kPes; ++pe) EXPECT_EQ(heap[64u * unsigned(pe)], std::byte(pe));
}

// ---- The kinds of both ends

// Where the provider knows both heaps data moves without slots; the device still updates words.
TEST_F(BounceTest, WhereTheProviderMapsBothHeapsDataTakesNoSlots) {
  open(true, false);
  put(heap.data(), 100, 1);
  put(heap.data(), 5000, 2);
  get(heap.data(), 8, 3);
  poll();
  EXPECT_THAT(wire.transfers, SizeIs(3));
  EXPECT_THAT(wire.batches, SizeIs(0));
  for (Request* const one : wire.transfers) EXPECT_EQ(one->internal_request, nullptr);
  EXPECT_EQ(out().begun(), 0u);
  hear({update_of(5, 64, AmoOp::kAdd, 1)});
  settle();
  EXPECT_EQ(word_in_heap(64), 1u);
}

// The requester must not take this heap for a GPU's.
TEST_F(DriverTest, AProcessorsHeapIsNotToBeBounced) {
  open();
  BatchText text;
  text.begin(1);
  const std::uint64_t slot = 0;
  text.add(ask_for_piece(Kind::kPull, 5, 0, 8), std::as_bytes(std::span(&slot, 1)));
  text.add(ask_for_piece(Kind::kGet, 6, 0, 8));
  ASSERT_TRUE(wire.arrive(text.finish(kPass)));
  poll();
  const auto all = messages_in(wire.batches.at(0).bytes, kPeersPass);
  ASSERT_THAT(all, SizeIs(2));
  for (const Message& one : all) EXPECT_EQ(one.status, CHIMEX_ERR_INVALID);
}

}  // namespace
}  // namespace chime::host::ofi::test
