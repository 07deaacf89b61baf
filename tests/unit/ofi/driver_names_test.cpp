// Peers whose names are looked up at the first touch, or when they are first heard: requests that
// wait for the name, the order in which they go on, and how they end without one.
#include <gmock/gmock.h>

#include "driver_fixture.hpp"
#include "host/transport/ofi/driver/names.hpp"

namespace chime::host::ofi::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// Returns the names that a test provides.
class GivenNames final : public Names {
 public:
  std::vector<int> asked;
  std::vector<Found> given;

  void look_for(int pe) override { asked.push_back(pe); }
  std::vector<Found> take_found() override { return std::exchange(given, {}); }
};

struct DriverNames : DriverTest {
  GivenNames names;

  // PE 0 of four, without any names.
  void open() {
    driver.emplace(Driver::Place{0, 4, heap, kPass, {}, true}, *gpu, wire, requests, mail, &names);
    driver->serve(owner);
  }
  void give_name(int pe, bool takes_puts = true) {
    names.given.push_back({pe, PeerName{.pass = kPeersPass, .takes_puts = takes_puts}});
    poll();
  }
  void give_none(int pe, const std::string& why) {
    names.given.push_back({pe, {}, why});
    poll();
  }
  void put_to(int pe, std::size_t bytes, std::uint64_t completion) {
    ASSERT_TRUE(driver->post({HostRequest::Kind::kPut, pe, 0, heap.data(), bytes}, completion));
  }
  void hear_add_from(int pe, std::uint64_t id = 6, std::uint64_t pass = kPass) {
    BatchText text;
    const std::uint64_t operands[2] = {};
    text.begin(pe);
    text.add(ask_for(kAdd, id), std::as_bytes(std::span(operands)));
    ASSERT_TRUE(wire.arrive(text.finish(pass)));
    poll();
  }
};

TEST_F(DriverNames, APeerIsLookedUpAtTheFirstTouchAndThenOnce) {
  open();
  poll();
  EXPECT_THAT(names.asked, IsEmpty());
  put(8, 1);
  put(1000, 2);
  add(3);
  poll();
  EXPECT_THAT(names.asked, ElementsAre(1));
  EXPECT_THAT(wire.order, IsEmpty()) << "nothing goes without a name";
  EXPECT_THAT(ended, IsEmpty());
  give_name(1);
  put(8, 4);
  EXPECT_THAT(names.asked, ElementsAre(1));
}

// In the provider's order: the transfer of the long put is posted before the batch of messages with
// the later atomic, and requests posted after the name's arrival follow.
TEST_F(DriverNames, WhatWasHeldGoesOnInItsOrder) {
  open();
  put(1000, 1);
  put(8, 2);
  add(3);
  put(2000, 4);
  give_name(1);
  EXPECT_THAT(wire.order, ElementsAre('t', 't', 'l'));
  ASSERT_THAT(wire.transfers, SizeIs(2));
  EXPECT_EQ(wire.transfers[0]->wanted.bytes, 1000u);
  const auto messages = messages_in(wire.batches.at(0).bytes, kPeersPass);
  ASSERT_THAT(messages, SizeIs(2));
  EXPECT_EQ(messages[0].kind, Message::Kind::kPut);
  EXPECT_EQ(messages[1].kind, Message::Kind::kAsk);
}

TEST_F(DriverNames, AnAtomicStaysBehindPutsThatWereHeldWithIt) {
  wire.the_facts.keeps_order = false;
  open();
  put(1000, 1);
  add(2);
  give_name(1);
  EXPECT_THAT(wire.order, ElementsAre('t')) << "the put alone";
  wire.tells.push_back({wire.transfers.at(0), 0});
  poll();
  EXPECT_THAT(wire.order, ElementsAre('t', 'l'));
}

TEST_F(DriverNames, TheOrderHoldsWhereThereIsNoRoomWhenTheNameComes) {
  open();
  put(1000, 1);
  wire.has_room = false;
  give_name(1);
  add(2);
  poll();
  EXPECT_THAT(wire.order, IsEmpty());
  wire.has_room = true;
  poll();
  EXPECT_THAT(wire.order, ElementsAre('t', 'l'));
}

// The endpoint info decides that, and is not known when the put is posted.
TEST_F(DriverNames, WhetherAPutIsAMessageIsDecidedWithTheName) {
  open();
  put(8, 1);
  give_name(1, false);
  EXPECT_THAT(wire.order, ElementsAre('t'));
}

TEST_F(DriverNames, WithoutANameAllThatIsPostedFailsWithTheReasonAndOthersGoOn) {
  open();
  put(8, 1);
  put(1000, 2);
  add(3);
  put_to(2, 8, 4);
  give_none(1, "PE 1 is not there");
  EXPECT_THAT(ended, SizeIs(3));
  for (const auto& one : ended) EXPECT_EQ(one.status, CHIMEX_ERR_NETWORK);
  EXPECT_EQ(driver->why_lost(1), "PE 1 is not there");
  put(8, 5);
  poll();
  EXPECT_THAT(ended, SizeIs(4));
  EXPECT_THAT(names.asked, ElementsAre(1, 2)) << "no peer is looked up again";
  give_name(2);
  ASSERT_THAT(wire.batches, SizeIs(1));
  EXPECT_EQ(wire.batches[0].to, 2);
  EXPECT_EQ(driver->why_lost(2), std::nullopt);
}

TEST_F(DriverNames, APeerThatIsLostWhileItIsLookedForEndsWhatWasHeld) {
  open();
  put(8, 1);
  add(2);
  driver->fail(1);
  poll();
  EXPECT_THAT(ended, SizeIs(2));
  for (const auto& one : ended) EXPECT_EQ(one.status, CHIMEX_ERR_NETWORK);
  give_name(1);
  put(8, 3);
  poll();
  EXPECT_THAT(wire.order, IsEmpty()) << "its name is of no use any more";
  EXPECT_THAT(ended, SizeIs(3));
}

TEST_F(DriverNames, APeerThatIsGivenUpBeforeItIsTouchedStaysSo) {
  open();
  driver->fail(1);
  poll();
  put(8, 1);
  give_name(1);
  EXPECT_THAT(wire.order, IsEmpty());
  ASSERT_THAT(ended, SizeIs(1));
  EXPECT_EQ(ended[0].status, CHIMEX_ERR_NETWORK);
}

TEST_F(DriverNames, APeThatCannotReceiveLooksForNone) {
  wire.receives = -FI_ENOMEM;
  open();
  put(8, 1);
  poll();
  EXPECT_THAT(names.asked, IsEmpty());
  EXPECT_THAT(ended, SizeIs(1));
  EXPECT_THAT(driver->why_lost(1).value_or(""), HasSubstr("cannot receive"));
}

TEST_F(DriverNames, AnInvalidPeIsNoPeer) {
  open();
  for (const int pe : {-1, 4}) {
    put_to(pe, 8, 1);
    poll();
  }
  EXPECT_THAT(names.asked, IsEmpty());
  ASSERT_THAT(ended, SizeIs(2));
  EXPECT_EQ(ended[0].status, CHIMEX_ERR_UNREACHABLE);
}

// A name may take any time: the clock of silent peers does not bound it.
TEST_F(DriverNames, APeerThatIsLookedForIsNotSilent) {
  constexpr auto kTimeout = std::chrono::milliseconds(500);
  driver.emplace(Driver::Place{0, 4, heap, kPass, kTimeout, true}, *gpu, wire, requests, mail,
                 &names);
  put(1000, 1);
  const auto poll_for = [&](auto time) {
    const auto end = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < end) poll();
  };
  poll_for(2 * kTimeout);
  EXPECT_EQ(driver->why_lost(1), std::nullopt);
  give_name(1);
  EXPECT_EQ(driver->why_lost(1), std::nullopt) << "its time begins now";
  for (int i = 0; i < 60 && !driver->why_lost(1); ++i) poll_for(kTimeout);
  EXPECT_THAT(driver->why_lost(1).value_or(""), HasSubstr("no sign of life"));
}

// The arrival of a name wakes no sleeper.
TEST_F(DriverNames, ALookUpForbidsSleepAtTheDescriptor) {
  wire.descriptor = 5;
  open();
  poll();
  EXPECT_EQ(driver->idle_descriptor(), 5);
  put(1000, 1);
  EXPECT_EQ(driver->idle_descriptor(), HostDriven::kNoDescriptor);
  give_name(1);
  EXPECT_EQ(driver->idle_descriptor(), 5);
  put_to(2, 8, 2);
  EXPECT_EQ(driver->idle_descriptor(), HostDriven::kNoDescriptor);
  give_name(2);
  poll();
  EXPECT_EQ(driver->idle_descriptor(), 5);
}

// ---- Peers that are heard first

TEST_F(DriverNames, AnUnknownPesRequestIsCarriedOutAndAnsweredOnceItsNameIsThere) {
  open();
  hear_add_from(1);
  EXPECT_THAT(owner.all, ElementsAre(std::pair('u', 16u)));
  EXPECT_THAT(names.asked, ElementsAre(1));
  EXPECT_THAT(wire.batches, IsEmpty());
  EXPECT_EQ(driver->idle_descriptor(), HostDriven::kNoDescriptor) << "it does not spin meanwhile";
  give_name(1);
  ASSERT_THAT(wire.batches, SizeIs(1));
  const auto answers = messages_in(wire.batches[0].bytes, kPeersPass);
  ASSERT_THAT(answers, SizeIs(1));
  EXPECT_EQ(answers[0].id, 6u);
  EXPECT_EQ(answers[0].at, 56u);
}

TEST_F(DriverNames, AsManyAnswersWaitAsThereAre) {
  open();
  constexpr std::uint64_t kMany = 400;  // more than a batch of messages holds
  for (std::uint64_t id = 0; id < kMany; ++id) hear_add_from(1, id);
  put(8, 1);
  give_name(1);
  std::size_t messages = 0;
  for (const auto& batch : wire.batches) messages += messages_in(batch.bytes, kPeersPass).size();
  EXPECT_EQ(messages, kMany + 1);
  EXPECT_EQ(messages_in(wire.batches.back().bytes, kPeersPass).back().kind, Message::Kind::kPut);
}

TEST_F(DriverNames, AnswersToAPeThatIsNotFoundGoNowhere) {
  open();
  hear_add_from(1);
  give_none(1, "none");
  hear_add_from(1);
  EXPECT_THAT(owner.all, SizeIs(1)) << "it is turned away, without a word as it has no name";
  EXPECT_THAT(wire.batches, IsEmpty());
}

TEST_F(DriverNames, AStrangerIsNotLookedFor) {
  open();
  hear_add_from(1, 6, kPass + 1);
  for (const int pe : {-1, 0, 4}) hear_add_from(pe);
  EXPECT_THAT(names.asked, IsEmpty());
  EXPECT_THAT(owner.all, IsEmpty());
}

}  // namespace
}  // namespace chime::host::ofi::test
