// The proxy's side alone: what it takes for a request, and its answers. The test writes the slots.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstring>
#include <vector>

#include "chime/abi/channel.h"
#include "chime/abi/proxy_request.h"
#include "proxy/fifo.hpp"

namespace chime::tests {
namespace {

constexpr std::uint64_t kDepth = 64;

struct Ends {
  std::vector<abi::ProxySlot> slots = std::vector<abi::ProxySlot>(kDepth);
  std::vector<abi::ProxyAnswer> answers = std::vector<abi::ProxyAnswer>(kDepth);
  abi::ProxyReport report{};
  std::array<std::uint64_t, 2> bits{};
  proxy::LostPeers lost{bits, 100};
  std::array<std::uint64_t, 2> limits{};
  proxy::PeersAtLimit at_limit{limits};
  proxy::Fifo fifo{{slots, answers, &report}, lost, at_limit};
  std::uint64_t next = 0;

  void write(const abi::ProxySlot& slot) {
    slots[next % kDepth] = abi::with_lap(slot, abi::proxy_lap(next, kDepth));
    ++next;
  }
  void put(int pe, std::uint64_t value = 0) { write(abi::proxy_put_value(pe, 8, 8, value)); }
};

TEST(Consumer, TakesNothingOfFreshMemory) {
  Ends ends;
  EXPECT_FALSE(ends.fifo.has_request());
  EXPECT_EQ(ends.fifo.take(), nullptr);
  EXPECT_EQ(ends.report.through, 0u);
}

// Each of its words may arrive last, in each lap.
TEST(Consumer, TakesARequestWhenAllOfItsWordsAreThere) {
  Ends ends;
  for (std::uint64_t index = 0; index < 3 * kDepth; index += 2) {
    const std::uint64_t lap = abi::proxy_lap(index, kDepth);
    const abi::ProxySlot whole[] = {
        abi::with_lap(abi::with_signal(abi::proxy_put(3, 8, index, 40)), lap),
        abi::with_lap(abi::proxy_signal({16, index + 1, AmoOp::kAdd}), lap)};
    abi::ProxySlot* const there = &ends.slots[index % kDepth];
    const unsigned late = index / 2 % 8;
    for (unsigned word = 0; word < 8; ++word)
      if (word != late) there[word / 4].word[word % 4] = whole[word / 4].word[word % 4];
    EXPECT_EQ(ends.fifo.take(), nullptr) << "word " << late << " is of the lap before";
    there[late / 4].word[late % 4] = whole[late / 4].word[late % 4];
    proxy::Fifo::Request* const request = ends.fifo.take();
    ASSERT_NE(request, nullptr);
    EXPECT_EQ(request->what.here, index);
    EXPECT_EQ(request->what.signal.operand, index + 1);
    EXPECT_EQ(request->index, index);
    ends.fifo.complete(*request, CHIMEX_OK);
    EXPECT_EQ(ends.report.through, index + 2);
  }
}

TEST(Consumer, GoesAroundTheEndWithinARequest) {
  Ends ends;
  for (std::uint64_t i = 0; i + 1 < kDepth; ++i) ends.put(1);
  while (auto* const request = ends.fifo.take()) ends.fifo.complete(*request, CHIMEX_OK);
  ends.write(abi::with_signal(abi::proxy_put_value(2, 8, 8, 5)));
  EXPECT_EQ(ends.fifo.take(), nullptr);
  ends.write(abi::proxy_signal({24, 6, AmoOp::kSet}));
  auto* const request = ends.fifo.take();
  ASSERT_NE(request, nullptr);
  EXPECT_EQ(request->what.signal.at, 24u);
  ends.fifo.complete(*request, CHIMEX_OK);
  EXPECT_EQ(ends.report.through, kDepth + 1);
}

TEST(Consumer, TellsWhatHasEndedWithoutAGap) {
  Ends ends;
  for (int i = 0; i < 4; ++i) ends.put(1);
  std::vector<proxy::Fifo::Request*> all;
  while (auto* const request = ends.fifo.take()) all.push_back(request);
  ASSERT_EQ(all.size(), 4u);
  ends.fifo.complete(*all[2], CHIMEX_OK);
  EXPECT_EQ(ends.report.through, 0u);
  ends.fifo.complete(*all[0], CHIMEX_OK);
  EXPECT_EQ(ends.report.through, 1u);
  ends.fifo.complete(*all[1], CHIMEX_OK);
  EXPECT_EQ(ends.report.through, 3u);
  EXPECT_EQ(ends.fifo.taken(), 4u);
  EXPECT_EQ(ends.fifo.through(), 3u);
}

// In any order, each at its own index, and for no other request.
TEST(Consumer, TellsOfEachEndInItsAnswer) {
  Ends ends;
  for (std::uint32_t answer : {5u, 9u, 5u}) {
    ends.write(abi::with_answer(abi::proxy_get_value(1, 0, 8), answer));
    ends.put(1);
  }
  std::vector<proxy::Fifo::Request*> all;
  while (auto* const request = ends.fifo.take()) all.push_back(request);
  ASSERT_EQ(all.size(), 6u);
  EXPECT_EQ(ends.report.taken, 6u);
  ends.fifo.complete(*all[2], CHIMEX_OK);
  EXPECT_EQ(ends.answers[9].ended, 3u);
  EXPECT_EQ(ends.answers[5].ended, 0u);
  EXPECT_EQ(ends.report.through, 0u);
  ends.fifo.complete(*all[0], CHIMEX_OK);
  EXPECT_EQ(ends.answers[5].ended, 1u);
  EXPECT_EQ(ends.report.through, 1u);
  ends.fifo.complete(*all[4], CHIMEX_ERR_PEER_DEAD);
  EXPECT_EQ(ends.answers[5].ended, 5 | abi::kAnswerFailed);
  EXPECT_EQ(ends.report.through, 1 | abi::kSomeLost);
  for (const std::size_t put : {1u, 3u, 5u}) ends.fifo.complete(*all[put], CHIMEX_OK);
  EXPECT_EQ(ends.report.through, 6 | abi::kSomeLost);
  EXPECT_EQ(ends.answers[5].ended, 5 | abi::kAnswerFailed) << "a put has no answer";
}

// Slots are free when they are read.
TEST(Consumer, TakesMoreThanALapWhileTheFirstHasNotEnded) {
  Ends ends;
  ends.put(1);
  auto* const first = ends.fifo.take();
  ASSERT_NE(first, nullptr);
  for (std::uint64_t i = 1; i < 5 * kDepth; ++i) {
    ends.put(2, i);
    auto* const next = ends.fifo.take();
    ASSERT_NE(next, nullptr);
    EXPECT_EQ(next->index, i);
    EXPECT_EQ(next->what.value[0], i);
    ends.fifo.complete(*next, CHIMEX_OK);
    ASSERT_EQ(ends.report.taken, i + 1);
    ASSERT_EQ(ends.report.through, 0u);
  }
  EXPECT_EQ(first->what.pe, 1) << "it stays as it was";
  ends.fifo.complete(*first, CHIMEX_OK);
  EXPECT_EQ(ends.report.through, 5 * kDepth);
}

TEST(Consumer, RefusesAnAnswerThatDoesNotExist) {
  Ends ends;
  ends.write(abi::with_answer(abi::proxy_get_value(1, 0, 8), kDepth));
  ends.write(abi::proxy_get_value(1, 0, 8));
  ends.put(1);
  EXPECT_EQ(ends.fifo.take()->index, 2u);
  EXPECT_EQ(ends.report.failure.status, CHIMEX_ERR_INVALID);
  EXPECT_FALSE(ends.lost.has(1));
}

// The local end of a request's data.
TEST(Consumer, SaysWhereDataIs) {
  Ends ends;
  std::uint64_t memory = 0;
  const auto at = reinterpret_cast<std::uint64_t>(&memory);
  ends.write(abi::proxy_put(1, 0, at, 8));
  ends.write(abi::proxy_get(1, 0, at, 8));
  ends.write(abi::proxy_put_value(1, 0, 16, 0x0807060504030201, 0x8f0e0d0c0b0a0908));
  ends.write(abi::with_answer(abi::proxy_get_value(1, 0, 16), 30));
  ends.write(abi::proxy_atomic(abi::ProxyKind::kAtomic, AmoOp::kAdd, 1, 0, 8, 1));
  ends.write(abi::with_answer(
      abi::proxy_atomic(abi::ProxyKind::kFetchAtomic, AmoOp::kAdd, 1, 0, 8, 1), 63));
  std::vector<std::byte*> here;
  while (auto* const request = ends.fifo.take()) here.push_back(request->here);
  ASSERT_EQ(here.size(), 6u);
  EXPECT_EQ(here[0], reinterpret_cast<std::byte*>(&memory));
  EXPECT_EQ(here[1], reinterpret_cast<std::byte*>(&memory));
  const std::uint8_t value[] = {1, 2, 3, 4, 5, 6, 7, 8, 8, 9, 10, 11, 12, 13, 14, 0x8f};
  EXPECT_EQ(std::memcmp(here[2], value, sizeof value), 0);
  EXPECT_EQ(here[3], reinterpret_cast<std::byte*>(&ends.answers[30]));
  EXPECT_EQ(here[4], nullptr);
  EXPECT_EQ(here[5], reinterpret_cast<std::byte*>(&ends.answers[63]));
}

TEST(Consumer, LosesAPeerAndGoesOn) {
  Ends ends;
  ends.put(1);
  ends.put(70);
  ends.put(1);
  auto* const first = ends.fifo.take();
  auto* const second = ends.fifo.take();
  ends.fifo.complete(*second, CHIMEX_ERR_PEER_DEAD);
  EXPECT_EQ(ends.report.through, abi::kSomeLost) << "told at once, though another is before it";
  EXPECT_EQ(ends.report.failure.status, CHIMEX_ERR_PEER_DEAD);
  EXPECT_EQ(ends.report.failure.pe, 70);
  EXPECT_EQ(ends.report.failure.at, 8u);
  EXPECT_EQ(ends.report.failure.bytes, 8u);
  EXPECT_EQ(ends.bits[1], std::uint64_t{1} << 6);
  ends.fifo.complete(*first, CHIMEX_OK);
  EXPECT_EQ(ends.report.through, 2 | abi::kSomeLost);
  // Later requests to that peer are refused, those to others are carried out.
  ends.put(70);
  ends.put(2);
  EXPECT_EQ(ends.fifo.take()->what.pe, 1);
  auto* const last = ends.fifo.take();
  EXPECT_EQ(last->what.pe, 2);
  EXPECT_EQ(ends.fifo.take(), nullptr);
  ends.fifo.complete(*last, CHIMEX_ERR_NETWORK);
  EXPECT_EQ(ends.report.failure.pe, 70) << "the first one explains";
  EXPECT_TRUE(ends.lost.has(2));
  EXPECT_FALSE(ends.lost.has(1));
}

// It does not concern the peer. A waiter for its result gets zero, and quiet fails.
TEST(Consumer, FailsABadRequestAndLosesNoPeer) {
  Ends ends;
  ends.write(abi::with_answer(abi::proxy_get_value(1, 1 << 20, 16), 7));
  ends.put(1);
  ends.answers[7] = {{5, 6}, 0, 0};
  auto* const wrong = ends.fifo.take();
  ends.fifo.complete(*wrong, CHIMEX_ERR_INVALID);
  EXPECT_EQ(ends.report.through, 1 | abi::kSomeLost);
  EXPECT_EQ(ends.report.failure.status, CHIMEX_ERR_INVALID);
  EXPECT_EQ(ends.report.failure.at, std::uint64_t{1} << 20);
  EXPECT_FALSE(ends.lost.has(1));
  EXPECT_EQ(ends.answers[7].value[0], 0u);
  EXPECT_EQ(ends.answers[7].value[1], 0u);
  EXPECT_EQ(ends.answers[7].ended, 1u);
  auto* const next = ends.fifo.take();
  ASSERT_NE(next, nullptr) << "the peer is well";
  ends.fifo.complete(*next, CHIMEX_OK);
  EXPECT_EQ(ends.report.through, 2 | abi::kSomeLost);
}

TEST(Consumer, RefusesAPeerThatDoesNotExist) {
  Ends ends;
  ends.put(100);
  ends.put(-1);
  ends.put(99);
  EXPECT_EQ(ends.fifo.take()->what.pe, 99);
  EXPECT_EQ(ends.report.failure.status, CHIMEX_ERR_INVALID);
  EXPECT_EQ(ends.report.failure.pe, 100);
  EXPECT_EQ(ends.report.through, 2 | abi::kSomeLost);
}

// A whole FIFO of requests to a lost peer does not keep the thread from others.
TEST(Consumer, RefusesNoMoreThanALap) {
  Ends ends;
  ends.lost.add(5);
  for (std::uint64_t i = 0; i < kDepth; ++i) ends.put(5);
  EXPECT_EQ(ends.fifo.take(), nullptr);
  EXPECT_EQ(ends.report.through, kDepth | abi::kSomeLost);
}

}  // namespace
}  // namespace chime::tests
