// Requests go from FIFOs to a fabric in their order, and their ends come back in any.
#include "proxy/carrier.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <deque>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "fed_fifo.hpp"
#include "host/trace/merge/parts.hpp"
#include "host/trace/recorder.hpp"

namespace chime::proxy::tests {
namespace {

using namespace std::chrono_literals;
using abi::ProxyKind;
using host::HostDriven;
using host::HostRequest;
using Kind = HostRequest::Kind;
using testing::ElementsAre;

constexpr std::uint64_t kHeap = 4096;

// Takes so many requests and ends those that the test names.
class Fabric final : public HostDriven {
 public:
  struct Posted {
    HostRequest request;
    std::uint64_t completion;
  };
  std::size_t left = 100;
  std::size_t most = ~std::size_t{0};  // the limit that it reports
  bool joins = false;                  // puts and their signals
  std::vector<Posted> posted;          // in all
  std::deque<Ended> ended;             // for the next poll()

  void end(std::size_t index, chimex_status status = CHIMEX_OK) {
    ended.push_back({posted.at(index).completion, status});
    ++left;
  }

  void serve(host::WordOwner&) override {}
  std::size_t room() const override { return most; }
  bool post(const HostRequest& request, std::uint64_t completion) override {
    if (left == 0) return false;
    --left;
    posted.push_back({request, completion});
    return true;
  }
  bool joins_signal(const HostRequest&) const override { return joins; }
  std::size_t poll(std::span<Ended> out) override {
    std::size_t count = 0;
    for (; count < out.size() && !ended.empty(); ++count) {
      out[count] = ended.front();
      ended.pop_front();
    }
    return count;
  }
};

std::vector<std::uint64_t> places(const Fabric& fabric) {
  std::vector<std::uint64_t> all;
  for (const auto& posted : fabric.posted) all.push_back(posted.request.at);
  return all;
}

struct CarrierTest : testing::Test {
  Fabric fabric;
  FedFifo first, second;
  Counts counts;
  std::vector<Fifo> fifos;

  void take(FedFifo& fed) { fifos.push_back(fed.fifo); }
  Carrier carry(unsigned batch = 8) {
    take(first);
    take(second);
    return Carrier(fabric, fifos, {.heap_bytes = kHeap, .batch = batch}, counts);
  }
  std::byte here[64];
  std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(here); }
};

// A poster that never stops must not keep all the room of the fabric.
TEST_F(CarrierTest, AFifoThatIsNeverEmptyLeavesRoomToOthers) {
  constexpr unsigned kRoom = 8;
  fabric.left = kRoom;
  Carrier carrier = carry(kRoom);
  const auto fill = [&](std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) first.post(abi::proxy_put(1, 0, address(), 8));
  };
  fill(2 * kRoom);
  second.post(abi::proxy_put(1, 64, address(), 8));
  std::size_t ended = 0;
  for (int turn = 0; turn < 4; ++turn) {
    carrier.turn();
    const std::size_t posted = fabric.posted.size();
    for (; ended < posted; ++ended) fabric.end(ended);
    carrier.turn();  // reports the ends; the requests that it posts end in the next round
    fill(first.through() + 2 * kRoom - first.posted());
  }
  EXPECT_THAT(places(fabric), testing::Contains(64u));
}

// All requests of one FIFO for a peer are taken out of it, however many; another FIFO's request to
// the same peer does not wait for all of them.
TEST_F(CarrierTest, ALongLineOfOneFifoHoldsUpNoOtherToTheSamePeer) {
  constexpr unsigned kRoom = 4, kLine = 200;
  fabric.most = 2 * kRoom;  // one peer may have half of it
  Carrier carrier = carry(kRoom);
  for (unsigned i = 0; i < kLine; ++i) {
    first.post(abi::proxy_put(1, 0, address(), 8));
    carrier.turn();
  }
  ASSERT_EQ(fabric.posted.size(), kRoom) << "the others wait";
  second.post(abi::proxy_put(1, 64, address(), 8));
  carrier.turn();
  for (std::size_t end = 0; end < 3 * kRoom; ++end) {
    fabric.end(end);
    carrier.turn();
    carrier.turn();
  }
  EXPECT_THAT(places(fabric), testing::Contains(64u));
  EXPECT_LT(fabric.posted.size(), kLine / 2);
}

TEST_F(CarrierTest, SaysWhatARequestIs) {
  Carrier carrier = carry();
  first.post(abi::proxy_put(2, 100, address(), 60));
  first.post(abi::proxy_get(3, 200, address(), 50));
  first.post(abi::proxy_atomic(ProxyKind::kAtomic, AmoOp::kAdd, 1, 308, 4, 7));
  first.post(abi::proxy_atomic(ProxyKind::kFetchAtomic, AmoOp::kCompareSwap, 1, 400, 8, ~0ull, 5));
  EXPECT_TRUE(carrier.turn());
  ASSERT_EQ(fabric.posted.size(), 4u);
  const HostRequest& put = fabric.posted[0].request;
  EXPECT_EQ(put.kind, Kind::kPut);
  EXPECT_EQ(put.pe, 2);
  EXPECT_EQ(put.at, 100u);
  EXPECT_EQ(put.here, here);
  EXPECT_EQ(put.bytes, 60u);
  const HostRequest& get = fabric.posted[1].request;
  EXPECT_EQ(get.kind, Kind::kGet);
  EXPECT_EQ(get.pe, 3);
  EXPECT_EQ(get.at, 200u);
  EXPECT_EQ(get.here, here);
  EXPECT_EQ(get.bytes, 50u);
  const HostRequest& add = fabric.posted[2].request;
  EXPECT_EQ(add.kind, Kind::kAtomic);
  EXPECT_EQ(add.pe, 1);
  EXPECT_EQ(add.at, 308u);
  EXPECT_EQ(add.here, nullptr);
  EXPECT_EQ(add.update.op, AmoOp::kAdd);
  EXPECT_EQ(add.update.bytes, 4u);
  EXPECT_EQ(add.update.operand, 7u);
  const HostRequest& swap = fabric.posted[3].request;
  EXPECT_EQ(swap.update.op, AmoOp::kCompareSwap);
  EXPECT_EQ(swap.update.bytes, 8u);
  EXPECT_EQ(swap.update.operand, ~0ull);
  EXPECT_EQ(swap.update.compare, 5u);
  ASSERT_NE(swap.here, nullptr);
  const std::uint64_t before = 99;
  std::memcpy(swap.here, &before, sizeof before);
  EXPECT_EQ(first.result(3), 99u);
}

TEST_F(CarrierTest, CarriesValuesOfRequestsAsMemory) {
  Carrier carrier = carry();
  first.post(abi::proxy_put_value(1, 8, 16, 0x0807060504030201, 0xff0f0e0d0c0b0a09));
  first.post(abi::proxy_get_value(1, 24, 3));
  carrier.turn();
  ASSERT_EQ(fabric.posted.size(), 2u);
  const HostRequest& put = fabric.posted[0].request;
  EXPECT_EQ(put.kind, Kind::kPut);
  ASSERT_EQ(put.bytes, 16u);
  std::uint64_t words[2];
  std::memcpy(words, put.here, sizeof words);
  EXPECT_THAT(words, ElementsAre(0x0807060504030201, 0xff0f0e0d0c0b0a09));
  const HostRequest& get = fabric.posted[1].request;
  EXPECT_EQ(get.kind, Kind::kGet);
  EXPECT_EQ(get.bytes, 3u);
  std::memcpy(get.here, "abc", 3);
  EXPECT_EQ(first.result(1) & 0xffffff, 0x636261u);
}

TEST_F(CarrierTest, PostsASignalBehindItsDataAndEndsBothTogether) {
  Carrier carrier = carry();
  first.post(abi::proxy_put(2, 100, address(), 60), {.at = 800, .operand = 3, .op = AmoOp::kSet});
  carrier.turn();
  ASSERT_EQ(fabric.posted.size(), 2u);
  EXPECT_EQ(fabric.posted[0].request.kind, Kind::kPut);
  const HostRequest& signal = fabric.posted[1].request;
  EXPECT_EQ(signal.kind, Kind::kAtomic);
  EXPECT_EQ(signal.pe, 2);
  EXPECT_EQ(signal.at, 800u);
  EXPECT_EQ(signal.here, nullptr);
  EXPECT_EQ(signal.update.op, AmoOp::kSet);
  EXPECT_EQ(signal.update.bytes, 8u);
  EXPECT_EQ(signal.update.operand, 3u);
  for (const std::size_t part : {1u, 0u}) {
    EXPECT_EQ(first.through(), 0u) << "ended by one part alone";
    EXPECT_FALSE(carrier.is_idle());
    fabric.end(part);
    carrier.turn();
  }
  EXPECT_EQ(first.through(), 2u);
  EXPECT_TRUE(carrier.is_idle());
}

TEST_F(CarrierTest, PostsASignalWithItsDataWhereTheFabricTakesItSo) {
  Carrier carrier = carry();
  fabric.joins = true;
  first.post(abi::proxy_put(2, 100, address(), 60), {.at = 800, .operand = 3, .op = AmoOp::kAdd});
  first.post(abi::proxy_put(2, 200, address(), 60));
  carrier.turn();
  EXPECT_THAT(places(fabric), ElementsAre(100, 200));
  const HostRequest& both = fabric.posted[0].request;
  EXPECT_EQ(both.kind, Kind::kPut);
  EXPECT_EQ(both.bytes, 60u);
  EXPECT_TRUE(both.has_signal);
  EXPECT_EQ(both.signal_at, 800u);
  EXPECT_EQ(both.update.op, AmoOp::kAdd);
  EXPECT_EQ(both.update.bytes, 8u);
  EXPECT_EQ(both.update.operand, 3u);
  EXPECT_FALSE(fabric.posted[1].request.has_signal);
  fabric.end(0);
  carrier.turn();
  EXPECT_EQ(first.through(), 2u) << "by one end";
  fabric.end(1);
  carrier.turn();
  EXPECT_EQ(first.through(), 3u);
  EXPECT_TRUE(carrier.is_idle());
}

// The put's properties may have changed since there was no room for it.
TEST_F(CarrierTest, QueriesAgainWhetherASignalGoesWithItsDataWhenThereIsRoom) {
  Carrier carrier = carry();
  fabric.joins = true;
  fabric.left = 0;
  first.post(abi::proxy_put(2, 100, address(), 60), {.at = 800, .operand = 3, .op = AmoOp::kSet});
  carrier.turn();
  EXPECT_THAT(places(fabric), ElementsAre());
  fabric.joins = false;
  fabric.left = 1;
  carrier.turn();
  fabric.joins = true;  // too late: the put has gone alone
  fabric.left = 1;
  carrier.turn();
  EXPECT_THAT(places(fabric), ElementsAre(100, 800));
  EXPECT_FALSE(fabric.posted[0].request.has_signal);
  fabric.end(1);
  carrier.turn();
  EXPECT_EQ(first.through(), 0u) << "ended by one part alone";
  fabric.end(0);
  carrier.turn();
  EXPECT_EQ(first.through(), 2u);
}

TEST_F(CarrierTest, KeepsTheOrderOfAFifoThatTheFabricHasNoRoomFor) {
  Carrier carrier = carry();
  fabric.left = 2;
  first.post(abi::proxy_put(1, 10, address(), 1));
  first.post(abi::proxy_put(1, 20, address(), 1), {.at = 32, .operand = 1, .op = AmoOp::kAdd});
  first.post(abi::proxy_put(1, 40, address(), 1));
  EXPECT_TRUE(carrier.turn());
  EXPECT_THAT(places(fabric), ElementsAre(10, 20));
  EXPECT_FALSE(carrier.turn());
  EXPECT_FALSE(carrier.has_requests()) << "what waits goes when another has ended";
  EXPECT_FALSE(carrier.is_idle());
  fabric.end(1);  // the data before its signal was posted
  EXPECT_TRUE(carrier.turn());
  carrier.turn();
  EXPECT_THAT(places(fabric), ElementsAre(10, 20, 32));
  fabric.end(0);
  fabric.end(2);
  carrier.turn();
  EXPECT_EQ(first.through(), 3u);
  carrier.turn();
  EXPECT_THAT(places(fabric), ElementsAre(10, 20, 32, 40));
  EXPECT_GE(counts.refused.get(), 2u);
}

TEST_F(CarrierTest, LetsNoFifoHaveMoreThanABatchAtATime) {
  Carrier carrier = carry(2);
  for (std::uint64_t i = 0; i < 5; ++i) first.post(abi::proxy_put(1, i, address(), 1));
  for (std::uint64_t i = 0; i < 3; ++i) second.post(abi::proxy_put(1, 100 + i, address(), 1));
  carrier.turn();
  EXPECT_THAT(places(fabric), ElementsAre(0, 1, 100, 101));
  carrier.turn();
  EXPECT_THAT(places(fabric), ElementsAre(0, 1, 100, 101, 102, 2, 3))
      << "another is first in each turn";
  EXPECT_EQ(counts.most_taken.get(), 2u);
  EXPECT_EQ(counts.most_under_way.get(), 7u);
  EXPECT_EQ(counts.requests.get(), 7u);
  EXPECT_EQ(counts.visits.get(), 4u);
  EXPECT_EQ(counts.turns.get(), 2u);
  EXPECT_EQ(counts.under_way.get(), 7u);
  fabric.end(0);
  carrier.turn();
  EXPECT_EQ(counts.under_way.get(), 7u) << "one has ended and one was taken";
}

// The wait of a poster whose FIFO is not polled takes so long.
TEST_F(CarrierTest, CountsTheLongestTimeWithoutAVisit) {
  Carrier carrier = carry();
  carrier.turn();
  std::this_thread::sleep_for(100ms);
  carrier.turn();
  EXPECT_GE(counts.longest_gap_ns.get(), 100'000'000u);
  const std::uint64_t longest = counts.longest_gap_ns.get();
  carrier.turn();
  EXPECT_EQ(counts.longest_gap_ns.get(), longest);
}

// Like an idle proxy for a while before it takes a turn.
TEST_F(CarrierTest, CountsALookForRequestsAsATurn) {
  Carrier carrier = carry();
  carrier.turn();
  EXPECT_FALSE(carrier.has_requests());
  EXPECT_FALSE(carrier.has_requests());
  EXPECT_EQ(counts.turns.get(), 3u);
}

// A FIFO of its full depth, many laps, ended out of order.
TEST_F(CarrierTest, GoesRoundManyTimes) {
  Carrier carrier = carry(64);
  for (int lap = 0; lap < 100; ++lap) {
    fabric.posted.clear();
    fabric.left = 100;
    for (std::uint64_t i = 0; i < 16; ++i) first.post(abi::proxy_put(1, i, address(), 1));
    carrier.turn();
    ASSERT_EQ(fabric.posted.size(), 16u) << "lap " << lap;
    for (std::size_t i = 16; i-- > 0;) fabric.end(i);
    carrier.turn();
    ASSERT_TRUE(carrier.is_idle());
  }
  EXPECT_EQ(first.through(), 1600u);
}

// Either of two parts, whichever ends first: the data is missing, or the signal was not set.
TEST_F(CarrierTest, ReportsAPutWhoseDataOrSignalFailed) {
  for (const std::size_t failing : {0u, 1u}) {
    for (const std::size_t first_to_end : {0u, 1u}) {
      FedFifo fed;
      fifos.clear();
      take(fed);
      fabric.posted.clear();
      Carrier carrier(fabric, fifos, {.heap_bytes = kHeap, .batch = 8}, counts);
      const auto put = fed.post(abi::proxy_put(2, 100, address(), 60),
                                {.at = 800, .operand = 3, .op = AmoOp::kSet});
      carrier.turn();
      ASSERT_EQ(fabric.posted.size(), 2u);
      for (const std::size_t part : {first_to_end, 1 - first_to_end}) {
        EXPECT_FALSE(fed.has_ended(put));
        fabric.end(part, part == failing ? CHIMEX_ERR_PEER_DEAD : CHIMEX_OK);
        carrier.turn();
      }
      EXPECT_TRUE(fed.has_failed(put)) << "part " << failing << ", first " << first_to_end;
      EXPECT_TRUE(fed.some_are_lost());
      EXPECT_EQ(fed.failure().status, CHIMEX_ERR_PEER_DEAD);
      EXPECT_EQ(fed.failure().pe, 2);
      EXPECT_EQ(fed.through(), 2u);
    }
  }
}

// Both fail, each with its own error: the first one is reported.
TEST_F(CarrierTest, ReportsTheFirstOfTwoPartsThatFail) {
  Carrier carrier = carry();
  first.post(abi::proxy_put(2, 100, address(), 60), {.at = 800, .operand = 3, .op = AmoOp::kSet});
  carrier.turn();
  fabric.end(1, CHIMEX_ERR_NETWORK);
  fabric.end(0, CHIMEX_ERR_PEER_DEAD);
  carrier.turn();
  EXPECT_EQ(first.failure().status, CHIMEX_ERR_NETWORK);
}

// Two peers: the one that does not answer, and the one that goes on.
struct SilentPeer : CarrierTest, testing::WithParamInterface<std::pair<int, int>> {
  const int silent = GetParam().first, other = GetParam().second;

  static abi::ProxySlot get(int pe) { return abi::proxy_get_value(pe, 0, 8); }
};

// Ten laps of a FIFO end, each by itself, while an earlier request has not.
TEST_P(SilentPeer, KeepsNoSlotAndNoEndFromOthers) {
  Carrier carrier = carry();
  const auto unanswered = first.post(get(silent));
  for (int i = 0; i < 160; ++i) {
    // not the answer of the silent one
    const auto index =
        first.posted() % 16 == 0 ? first.post(get(other), 1) : first.post(get(other));
    const std::uint32_t answer = index % 16 == 0 ? 1 : index % 16;
    ASSERT_FALSE(first.has_ended(index, answer));
    carrier.turn();
    ASSERT_GT(first.room(), 0u);
    fabric.end(fabric.posted.size() - 1);
    carrier.turn();
    ASSERT_TRUE(first.has_ended(index, answer)) << i;
    ASSERT_FALSE(first.has_ended(unanswered));
    ASSERT_EQ(first.through(), 0u) << "there is a gap";
  }
  fabric.end(0);
  carrier.turn();
  EXPECT_TRUE(first.has_ended(unanswered));
  EXPECT_EQ(first.through(), first.posted());
  EXPECT_TRUE(carrier.is_idle());
}

// The requests to one peer stay in order, however long they wait.
TEST_P(SilentPeer, LeavesOthersRoomInTheFabric) {
  Carrier carrier = carry(64);
  fabric.most = fabric.left = 8;
  Carrier of_little(fabric, fifos, {.heap_bytes = kHeap, .batch = 64}, counts);
  for (std::uint64_t i = 0; i < 10; ++i) first.post(abi::proxy_put(silent, i, address(), 1));
  of_little.turn();
  EXPECT_EQ(fabric.posted.size(), 4u) << "half of the room";
  for (std::uint64_t i = 0; i < 20; ++i) {
    first.post(abi::proxy_put(other, 100 + i, address(), 1));
    of_little.turn();
    ASSERT_EQ(fabric.posted.size(), 5u + i);
    ASSERT_EQ(fabric.posted.back().request.pe, other);
    fabric.end(fabric.posted.size() - 1);
    of_little.turn();
    ASSERT_EQ(fabric.posted.size(), 5u + i) << "the silent peer has its half already";
  }
  for (std::size_t ended = 0, at = 0; ended < 10; ++at) {
    if (fabric.posted.at(at).request.pe != silent) continue;
    EXPECT_EQ(fabric.posted[at].request.at, ended++);
    fabric.end(at);
    of_little.turn();
    of_little.turn();
  }
  EXPECT_EQ(first.through(), first.posted());
}

TEST_P(SilentPeer, ReachesItsLimitWithHalfOfTheSlots) {
  Carrier carrier = carry(64);
  for (int i = 0; i < 7; ++i) first.post(abi::proxy_put(silent, 0, address(), 1));
  for (int i = 0; i < 7; ++i) first.post(abi::proxy_put(other, 0, address(), 1));
  carrier.turn();
  EXPECT_FALSE(first.is_at_limit(silent));
  first.post(abi::proxy_put(silent, 0, address(), 1));
  carrier.turn();
  EXPECT_TRUE(first.is_at_limit(silent));
  EXPECT_FALSE(first.is_at_limit(other));
  for (const std::size_t index : {14u, 0u, 1u}) fabric.end(index);
  carrier.turn();
  EXPECT_TRUE(first.is_at_limit(silent)) << "5 of 16 are left: a quarter lets posters back";
  fabric.end(2);
  carrier.turn();
  EXPECT_FALSE(first.is_at_limit(silent));
}

INSTANTIATE_TEST_SUITE_P(Who, SilentPeer,
                         testing::Values(std::pair(1, 2), std::pair(2, 1), std::pair(3, 0)));

TEST_F(CarrierTest, EndsWhatFailsAndGoesOnWithOthers) {
  Carrier carrier = carry();
  first.post(abi::proxy_put(1, 0, address(), 1));
  first.post(abi::proxy_put(2, 8, address(), 1));
  carrier.turn();
  fabric.end(0, CHIMEX_ERR_PEER_DEAD);
  fabric.end(1);
  carrier.turn();
  EXPECT_EQ(first.through(), 2u);
  EXPECT_TRUE(first.some_are_lost());
  EXPECT_EQ(first.failure().status, CHIMEX_ERR_PEER_DEAD);
  EXPECT_EQ(first.failure().pe, 1);
}

TEST_F(CarrierTest, NotesEachRequestAndHowItEnds) {
  const auto file =
      std::filesystem::temp_directory_path() / ("carrier." + std::to_string(::getpid()) + ".part");
  // Lives for ever, as its file's memory does.
  auto& part = *new trace::PartFile(file, {.n_pes = 4, .first_pe = 0, .job = "job"}, 100);
  trace::begin_recording(part);
  take(first);
  Carrier carrier(fabric, fifos, {.heap_bytes = kHeap, .batch = 8, .my_pe = 3}, counts);
  first.post(abi::proxy_put(2, 96, address(), 60), abi::ProxySignal{});
  first.post(abi::proxy_put(1, 96, address(), 50));
  first.post(abi::proxy_get(1, 200, address(), 40));
  first.post(abi::proxy_atomic(ProxyKind::kFetchAtomic, AmoOp::kAdd, 1, 400, 8, 1));
  carrier.turn();
  for (std::size_t i = 0; i < fabric.posted.size(); ++i)
    if (fabric.posted[i].request.pe != 1 || fabric.posted[i].request.kind == Kind::kGet)
      fabric.end(i, fabric.posted[i].request.kind == Kind::kGet ? CHIMEX_ERR_NETWORK : CHIMEX_OK);
  carrier.turn();
  trace::end_recording();
  const trace::Part read(file);
  std::vector<std::string> events;
  for (const trace::Event& event : read.chunks().front().events) {
    if (event.kind == trace::EventKind::kNone) break;
    EXPECT_EQ(event.kind, trace::EventKind::kProxyRequest);
    EXPECT_EQ(event.my_pe, 3);
    events.push_back(read.name(event.name) + " " + std::to_string(event.bytes) + " to " +
                     std::to_string(event.pe) + (event.end_ns == 0 ? " open" : "") +
                     (event.has_failed ? " failed" : ""));
  }
  EXPECT_THAT(events, ElementsAre("put and signal 60 to 2", "put 50 to 1 open",
                                  "get 40 to 1 failed", "fetching atomic 8 to 1 open"));
  std::filesystem::remove(file);
}

// Beyond the heap, or a word at a misaligned offset.
TEST_F(CarrierTest, RefusesWhatIsNotInTheHeap) {
  const abi::ProxySlot wrong[] = {
      abi::proxy_put(1, kHeap - 8, address(), 9),
      abi::proxy_put(1, ~0ull >> 1, address(), 2),
      abi::proxy_get(1, kHeap + 1, address(), 0),
      abi::proxy_atomic(ProxyKind::kAtomic, AmoOp::kAdd, 1, kHeap - 4, 8, 1),
      abi::proxy_atomic(ProxyKind::kAtomic, AmoOp::kAdd, 1, 4, 8, 1),
      abi::proxy_atomic(ProxyKind::kAtomic, AmoOp::kAdd, 1, 8, 2, 1),
  };
  for (const abi::ProxySlot& slot : wrong) {
    FedFifo fed;
    fifos.clear();
    take(fed);
    Carrier carrier(fabric, fifos, {.heap_bytes = kHeap, .batch = 8}, counts);
    fed.post(slot);
    carrier.turn();
    EXPECT_TRUE(fabric.posted.empty());
    EXPECT_EQ(fed.through(), 1u);
    EXPECT_EQ(fed.failure().status, CHIMEX_ERR_INVALID);
    fed.post(abi::proxy_put(1, 8, address(), 8));
    carrier.turn();
    EXPECT_THAT(places(fabric), ElementsAre(8)) << "what is well goes to the same peer";
    fabric.posted.clear();
  }
  FedFifo fed;
  fifos.clear();
  take(fed);
  Carrier carrier(fabric, fifos, {.heap_bytes = kHeap, .batch = 8}, counts);
  fed.post(abi::proxy_put(1, kHeap - 8, address(), 8), {.at = 4, .operand = 1, .op = AmoOp::kSet});
  fed.post(abi::proxy_put(2, kHeap, address(), 0));
  carrier.turn();
  EXPECT_THAT(places(fabric), ElementsAre(kHeap));
  EXPECT_EQ(fed.failure().status, CHIMEX_ERR_INVALID);
}

}  // namespace
}  // namespace chime::proxy::tests
