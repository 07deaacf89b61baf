// Requests to the proxy: to slots and back, and laps in each word.
#include "chime/abi/proxy_request.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "chime/abi/proxy_fifo.h"

namespace chime::tests {
namespace {

using namespace abi;

constexpr std::uint64_t kAll = ~std::uint64_t{0};
constexpr std::uint64_t kMostAt = kAll >> 1;  // offsets and sizes have 63 bits
constexpr std::int32_t kMostPe = 0x7fffffff;

// As the proxy reads it, in a lap.
ProxyRequest there_and_back(const ProxySlot& first, const ProxySlot& second = {}) {
  for (const std::uint64_t lap : {std::uint64_t{0}, kProxyLap}) {
    const ProxySlot a = with_lap(first, lap), b = with_lap(second, lap);
    for (const ProxySlot& slot : {a, b})
      for (const std::uint64_t word : slot.word) EXPECT_TRUE(proxy_has_lap(word, lap));
  }
  const ProxyRequest request =
      proxy_request(with_lap(first, kProxyLap), with_lap(second, kProxyLap));
  EXPECT_EQ(proxy_slots_of(first.word[0]), request.has_signal ? 2u : 1u);
  return request;
}

TEST(ProxyRequest, KeepsAPut) {
  for (const std::int32_t pe : {0, 7, kMostPe})
    for (const std::uint64_t here : {std::uint64_t{1}, kAll, std::uint64_t{1} << 63})
      for (const std::uint64_t at : {std::uint64_t{0}, kMostAt}) {
        const ProxyRequest put = there_and_back(proxy_put(pe, at, here, kMostAt));
        EXPECT_EQ(put.kind, ProxyKind::kPut);
        EXPECT_EQ(put.pe, pe);
        EXPECT_EQ(put.at, at);
        EXPECT_EQ(put.here, here);
        EXPECT_EQ(put.bytes, kMostAt);
        EXPECT_FALSE(put.has_signal);
      }
}

TEST(ProxyRequest, KeepsAValueOfEverySize) {
  for (unsigned bytes = 1; bytes <= kProxyMostValue; ++bytes)
    for (const std::uint64_t low : {std::uint64_t{0}, kAll, std::uint64_t{1} << 63})
      for (const std::uint64_t high : {std::uint64_t{0}, kAll, std::uint64_t{1} << 63}) {
        const ProxyRequest put = there_and_back(proxy_put_value(kMostPe, 48, bytes, low, high));
        EXPECT_EQ(put.kind, ProxyKind::kPutValue);
        EXPECT_EQ(put.pe, kMostPe);
        EXPECT_EQ(put.at, 48u);
        EXPECT_EQ(put.bytes, bytes);
        EXPECT_EQ(put.value[0], low);
        EXPECT_EQ(put.value[1], high);
      }
}

TEST(ProxyRequest, KeepsAGet) {
  const ProxyRequest get = there_and_back(proxy_get(3, 4096, kAll - 15, 100'000));
  EXPECT_EQ(get.kind, ProxyKind::kGet);
  EXPECT_EQ(get.pe, 3);
  EXPECT_EQ(get.at, 4096u);
  EXPECT_EQ(get.here, kAll - 15);
  EXPECT_EQ(get.bytes, 100'000u);
  for (unsigned bytes = 1; bytes <= kProxyMostValue; ++bytes) {
    const ProxyRequest value = there_and_back(proxy_get_value(3, kMostAt, bytes));
    EXPECT_EQ(value.kind, ProxyKind::kGetValue);
    EXPECT_EQ(value.at, kMostAt);
    EXPECT_EQ(value.bytes, bytes);
  }
}

TEST(ProxyRequest, KeepsEveryAtomic) {
  for (const ProxyKind kind : {ProxyKind::kAtomic, ProxyKind::kFetchAtomic})
    for (const AmoOp op : {AmoOp::kFetch, AmoOp::kSet, AmoOp::kAdd, AmoOp::kAnd, AmoOp::kOr,
                           AmoOp::kXor, AmoOp::kCompareSwap})
      for (const unsigned bytes : {4u, 8u}) {
        const ProxyRequest amo =
            there_and_back(proxy_atomic(kind, op, 9, 24, bytes, std::uint64_t{1} << 63 | 5, kAll));
        EXPECT_EQ(amo.kind, kind);
        EXPECT_EQ(amo.op, op);
        EXPECT_EQ(amo.pe, 9);
        EXPECT_EQ(amo.at, 24u);
        EXPECT_EQ(amo.bytes, bytes);
        EXPECT_EQ(amo.operand, std::uint64_t{1} << 63 | 5);
        EXPECT_EQ(amo.compare, kAll);
      }
}

TEST(ProxyRequest, KeepsASignalBehindAPut) {
  for (const AmoOp op : {AmoOp::kSet, AmoOp::kAdd})
    for (const std::uint64_t operand : {std::uint64_t{0}, kAll, std::uint64_t{1} << 63}) {
      const ProxySlot signal = proxy_signal({kMostAt, operand, op});
      for (const ProxySlot& first :
           {proxy_put(2, 64, kAll, 12345), proxy_put_value(2, 64, 16, kAll, kAll)}) {
        const ProxyRequest both = there_and_back(with_signal(first), signal);
        EXPECT_EQ(both.pe, 2);
        EXPECT_EQ(both.at, 64u);
        ASSERT_TRUE(both.has_signal);
        EXPECT_EQ(both.signal.at, kMostAt);
        EXPECT_EQ(both.signal.operand, operand);
        EXPECT_EQ(both.signal.op, op);
      }
    }
}

// A wrong stride or pointer makes an offset of 64 bits. The proxy takes the request and refuses it:
// if its bits were taken for a lap, all later requests would wait for ever.
TEST(ProxyRequest, IsTakenWithAnOffsetBeforeTheHeap) {
  const std::uint64_t before = kAll - 63;
  EXPECT_EQ(there_and_back(proxy_put(1, before, 0, 8)).at, before & kMostAt);
  EXPECT_EQ(there_and_back(proxy_put_value(1, before, 8, 5)).at, before & kMostAt);
  EXPECT_EQ(there_and_back(proxy_get_value(1, before, 8)).at, before & kMostAt);
  const ProxyRequest both =
      there_and_back(with_signal(proxy_put(1, 0, 0, 8)), proxy_signal({before, 1, AmoOp::kSet}));
  EXPECT_EQ(both.signal.at, before & kMostAt);
}

TEST(ProxyLap, IsNoneOfFreshMemoryAndChangesEveryLap) {
  for (const std::uint64_t depth : {64u, 1024u}) {
    EXPECT_FALSE(proxy_has_lap(0, proxy_lap(0, depth))) << "the memory begins as zeros";
    for (std::uint64_t index = 0; index < 4 * depth; ++index)
      EXPECT_NE(proxy_lap(index, depth), proxy_lap(index + depth, depth));
    EXPECT_EQ(proxy_lap(0, depth), proxy_lap(depth - 1, depth));
  }
}

// Device and host code encode at compile time, too.
static_assert(proxy_request(proxy_put_value(1, 2, 8, kAll), {}).value[0] == kAll);

}  // namespace
}  // namespace chime::tests
