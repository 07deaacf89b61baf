// A short put and its signal are one message, with one answer, unless the signal would be held
// back.
#include <gmock/gmock.h>

#include <array>
#include <cstring>

#include "driver_fixture.hpp"

namespace chime::host::ofi::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

struct PutSignal : DriverTest {
  HostRequest put_of(std::size_t bytes) {
    return {
        .kind = HostRequest::Kind::kPut, .pe = 1, .at = 64, .here = heap.data(), .bytes = bytes};
  }
  HostRequest both_of(std::size_t bytes) {
    HostRequest both = put_of(bytes);
    both.update = {AmoOp::kAdd, 8, 5, 0};
    both.has_signal = true;
    both.signal_at = 128;
    return both;
  }
  bool joins(std::size_t bytes = 8) { return driver->joins_signal(put_of(bytes)); }
  // As the carrier does. Returns whether it went as one.
  bool put_signal(std::uint64_t completion) {
    const bool as_one = joins();
    EXPECT_TRUE(driver->post(as_one ? both_of(8) : put_of(8), completion));
    if (!as_one) add(completion);
    return as_one;
  }
  void answer_all(std::span<const std::byte> batch) {
    BatchText text;
    text.begin(1);
    for (const Message& ask : messages_in(batch, kPeersPass))
      text.add(answer_to(ask.id, 0, CHIMEX_OK));
    ASSERT_TRUE(wire.arrive(text.finish(kPass)));
    poll();
  }
  // A batch of messages of PE 1 with a put of `bytes` bytes to `at` and its signal at `signal_at`.
  void arrive(std::uint64_t at, std::uint32_t bytes, std::uint64_t signal_at) {
    Message message = ask_for(both_of(bytes), 9);
    message.at = at;
    const std::vector<std::byte> data(bytes);
    BatchText text;
    text.begin(1);
    text.add(message, SignalPlace{signal_at, 5}, data);
    ASSERT_TRUE(wire.arrive(text.finish(kPass)));
    poll();
  }
  // The status of the only answer.
  chimex_status answered() {
    EXPECT_THAT(wire.batches, SizeIs(1));
    const auto answers = messages_in(wire.batches.at(0).bytes, kPeersPass);
    EXPECT_THAT(answers, SizeIs(1));
    EXPECT_EQ(answers.at(0).id, 9u);
    return static_cast<chimex_status>(answers.at(0).status);
  }
};

TEST_F(PutSignal, IsOneMessageAndEndsByOneAnswer) {
  open();
  for (std::size_t i = 0; i < 13; ++i) heap[i] = static_cast<std::byte>(i + 1);
  ASSERT_TRUE(driver->post(both_of(13), 1));
  poll();
  ASSERT_THAT(wire.batches, SizeIs(1));
  auto batch = BatchReader::open(wire.batches[0].bytes, kPeersPass);
  ASSERT_TRUE(batch && batch->is_well());
  std::span<const std::byte> body;
  const Message message = batch->next(body);
  EXPECT_TRUE(batch->is_over());
  EXPECT_EQ(message.kind, Message::Kind::kPutSignal);
  EXPECT_EQ(message.at, 64u);
  EXPECT_EQ(message.bytes, 13u);
  EXPECT_EQ(message.op, static_cast<std::uint8_t>(AmoOp::kAdd));
  SignalPlace signal;
  ASSERT_EQ(body.size(), sizeof signal + 16);
  std::memcpy(&signal, body.data(), sizeof signal);
  EXPECT_EQ(signal.at, 128u);
  EXPECT_EQ(signal.operand, 5u);
  EXPECT_EQ(std::memcmp(&body[sizeof signal], heap.data(), 13), 0);
  for (std::size_t i = sizeof signal + 13; i < body.size(); ++i) EXPECT_EQ(body[i], std::byte{0});
  EXPECT_THAT(ended, SizeIs(0));
  answer_all(wire.batches[0].bytes);
  ASSERT_THAT(ended, SizeIs(1));
  EXPECT_EQ(ended[0].completion, 1u);
  EXPECT_EQ(ended[0].status, CHIMEX_OK);
}

TEST_F(PutSignal, IsForPutsThatAreMessages) {
  open();
  EXPECT_TRUE(joins(1));
  EXPECT_TRUE(joins(kMostPutBytes));
  EXPECT_FALSE(joins(0));
  EXPECT_FALSE(joins(kMostPutBytes + 1));
  HostRequest elsewhere = put_of(8);
  for (const int pe : {0, 2, -1}) {  // this PE, and none
    elsewhere.pe = pe;
    EXPECT_FALSE(driver->joins_signal(elsewhere)) << pe;
  }
  driver->fail(1);
  poll();
  EXPECT_FALSE(joins()) << "to a lost peer";
}

TEST_F(PutSignal, IsForPeersThatTakePuts) {
  driver.emplace(Driver::Place{0, 2, heap, kPass, {}, true}, *gpu, wire, requests, mail);
  driver->add_peer(1, {.pass = kPeersPass, .takes_puts = false});
  EXPECT_FALSE(joins());
}

// A provider that keeps order: later requests do not overtake posted ones.
TEST_F(PutSignal, WaitsForALongerPutThatTheProviderHasNoRoomFor) {
  open();
  put(1000, 1);
  EXPECT_TRUE(joins()) << "it has been handed over";
  wire.has_room = false;
  put(1000, 2);
  EXPECT_FALSE(put_signal(3));
  poll();
  EXPECT_THAT(wire.batches, SizeIs(0));
  wire.has_room = true;
  poll();
  EXPECT_TRUE(joins());
  EXPECT_EQ(std::string(wire.order.begin(), wire.order.end()).substr(0, 2), "tt")
      << "the signal behind both";
}

TEST_F(PutSignal, WithoutOrderWaitsForPutsOfEarlierMessageBatchesAndForTransfers) {
  wire.the_facts.keeps_order = false;
  open();
  EXPECT_TRUE(put_signal(1));
  EXPECT_TRUE(put_signal(2)) << "they stand in one batch of messages";
  poll();
  ASSERT_THAT(wire.batches, SizeIs(1));
  EXPECT_FALSE(put_signal(3)) << "batches of messages may pass each other";
  answer_all(wire.batches[0].bytes);
  EXPECT_FALSE(joins()) << "3 is under way";
  poll();
  ASSERT_THAT(wire.batches, SizeIs(2));
  answer_all(wire.batches[1].bytes);
  ASSERT_THAT(wire.batches, SizeIs(3)) << "the signal of 3, behind its data";
  EXPECT_TRUE(joins());
  put(1000, 4);
  EXPECT_FALSE(joins()) << "a transfer is under way";
  wire.tells.push_back({wire.transfers.at(0), 0});
  poll();
  EXPECT_TRUE(joins());
}

// Like other puts, its puts hold back later atomics.
TEST_F(PutSignal, WithoutOrderHoldsAtomicsOfLaterMessageBatches) {
  wire.the_facts.keeps_order = false;
  open();
  EXPECT_TRUE(put_signal(1));
  poll();
  ASSERT_THAT(wire.batches, SizeIs(1));
  add(2);
  poll();
  EXPECT_THAT(wire.batches, SizeIs(1));
  answer_all(wire.batches[0].bytes);
  ASSERT_THAT(wire.batches, SizeIs(2));
  EXPECT_EQ(messages_in(wire.batches[1].bytes, kPeersPass).at(0).kind, Message::Kind::kAsk);
}

// A full batch of messages means a new one: without order it may pass puts in the full one.
TEST_F(PutSignal, WithoutOrderDoesNotGoBehindAMessageBatchThatIsFull) {
  wire.the_facts.keeps_order = false;
  open();
  std::uint64_t count = 0;
  while (put_signal(count)) ASSERT_LT(++count, kBatchBytes);
  EXPECT_GE(count, kBatchBytes / 64);
  poll();
  ASSERT_GE(wire.batches.size(), 1u);
  EXPECT_THAT(messages_in(wire.batches[0].bytes, kPeersPass), SizeIs(count));
}

TEST_F(PutSignal, IsFailedAsOneWhenItsPeerIsLost) {
  open();
  EXPECT_TRUE(put_signal(1));
  driver->fail(1);
  poll();
  ASSERT_THAT(ended, SizeIs(1));
  EXPECT_EQ(ended[0].status, CHIMEX_ERR_NETWORK);
}

TEST_F(PutSignal, IsCarriedOutDataFirst) {
  open();
  arrive(64, 13, 128);
  EXPECT_THAT(owner.all, ElementsAre(std::pair('w', 64u), std::pair('u', 128u)));
  EXPECT_EQ(answered(), CHIMEX_OK);
}

// If one part is invalid, neither is carried out.
TEST_F(PutSignal, IsRefusedWhole) {
  struct Wrong {
    std::uint64_t at, signal_at;
  };
  const std::uint64_t end = heap.size();
  for (const Wrong& wrong : {Wrong{end - 12, 128},
                             {end, 128},
                             {64, end},
                             {64, end - 4},
                             {64, 4},
                             {64, ~std::uint64_t{7}}}) {
    open();
    arrive(wrong.at, 13, wrong.signal_at);
    EXPECT_THAT(owner.all, SizeIs(0)) << wrong.at << " " << wrong.signal_at;
    EXPECT_EQ(answered(), CHIMEX_ERR_INVALID);
    wire.batches.clear();
    driver.reset();
  }
}

TEST_F(PutSignal, OfMoreBytesThanAPutMayHaveIsNoMessage) {
  open();
  arrive(64, kMostPutBytes + 1, 128);
  EXPECT_THAT(owner.all, SizeIs(0));
  EXPECT_THAT(driver->why_lost(1).value_or(""), HasSubstr("batch"));
}

}  // namespace
}  // namespace chime::host::ofi::test
