// What others ask of this PE's words is done as the operation says, at the width of the word alone,
// and by atomics.
#include "proxy/heap_words.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

namespace chime::proxy::tests {
namespace {

struct Row {
  AmoOp op;
  std::uint64_t operand, compare, before, after;
};

// Written out by hand. The upper half of each is what a word of four bytes must not touch.
constexpr std::uint64_t kWord = 0xf0f0'1234'8000'00ff;
constexpr Row kRows8[] = {
    {AmoOp::kFetch, 9, 9, kWord, kWord},
    {AmoOp::kSet, 7, 0, kWord, 7},
    {AmoOp::kAdd, 0x8000'0001, 0, kWord, 0xf0f0'1235'0000'0100},
    {AmoOp::kAnd, 0xff00'0000'0000'000f, 0, kWord, 0xf000'0000'0000'000f},
    {AmoOp::kOr, 0x000f'0000'0000'0f00, 0, kWord, 0xf0ff'1234'8000'0fff},
    {AmoOp::kXor, 0xffff'ffff'ffff'ffff, 0, kWord, 0x0f0f'edcb'7fff'ff00},
    {AmoOp::kCompareSwap, 5, kWord, kWord, 5},
    {AmoOp::kCompareSwap, 5, kWord ^ 1ull << 63, kWord, kWord},
};
constexpr std::uint64_t kUpper = 0xf0f0'1234'0000'0000;
constexpr Row kRows4[] = {
    {AmoOp::kFetch, 9, 9, 0x8000'00ff, kWord},
    {AmoOp::kSet, 7, 0, 0x8000'00ff, kUpper | 7},
    {AmoOp::kAdd, 0x8000'0001, 0, 0x8000'00ff, kUpper | 0x100},
    {AmoOp::kAnd, 0x0000'000f, 0, 0x8000'00ff, kUpper | 0xf},
    {AmoOp::kOr, 0x0000'0f00, 0, 0x8000'00ff, kUpper | 0x8000'0fff},
    {AmoOp::kXor, 0xffff'ffff, 0, 0x8000'00ff, kUpper | 0x7fff'ff00},
    {AmoOp::kCompareSwap, 5, 0x8000'00ff, 0x8000'00ff, kUpper | 5},
    {AmoOp::kCompareSwap, 5, 0xff, 0x8000'00ff, kWord},
};

void check(const Row& row, std::uint32_t bytes) {
  std::array<std::uint64_t, 3> heap = {~0ull, kWord, ~0ull};
  HeapWords words(std::as_writable_bytes(std::span(heap)));
  const std::uint64_t before = words.update(8, {row.op, bytes, row.operand, row.compare});
  EXPECT_EQ(before, row.before) << "operation " << int(row.op) << " of " << bytes;
  EXPECT_EQ(heap[1], row.after) << "operation " << int(row.op) << " of " << bytes;
  EXPECT_EQ(heap[0] & heap[2], ~0ull);
}

TEST(HeapWords, DoWhatTheOperationSays) {
  for (const Row& row : kRows8) check(row, 8);
  for (const Row& row : kRows4) check(row, 4);
}

// Any size at any place, and nothing beside it.
TEST(HeapWords, WriteWhatTheyAreGiven) {
  for (std::size_t at = 0; at < 16; ++at)
    for (std::size_t size = 0; size <= 40; ++size) {
      alignas(8) std::array<std::byte, 64> heap, expected;
      heap.fill(std::byte{0xee});
      expected = heap;
      std::vector<std::byte> data;
      for (std::size_t i = 0; i < size; ++i) data.push_back(static_cast<std::byte>(i + 1));
      std::ranges::copy(data, expected.begin() + static_cast<long>(at));
      HeapWords(heap).write(at, data);
      ASSERT_EQ(heap, expected) << size << " bytes at " << at;
    }
}

// A word among other bytes, that somebody polls for.
TEST(HeapWords, WriteEachAlignedWordAtOnce) {
  alignas(8) std::array<std::byte, 32> heap{};
  HeapWords words(heap);
  std::atomic<bool> is_over{false};
  std::thread writer([&] {
    std::array<std::byte, 13> data;  // from 7: a byte, a word, four bytes
    for (int i = 0; i < 200'000; ++i) {
      data.fill(static_cast<std::byte>(i));
      words.write(7, data);
    }
    is_over = true;
  });
  std::uint64_t torn = 0;
  const std::atomic_ref word(*reinterpret_cast<std::uint64_t*>(&heap[8]));
  while (!is_over) {
    const std::uint64_t seen = word.load(std::memory_order_acquire);
    torn += seen != (seen & 0xff) * 0x0101'0101'0101'0101;
  }
  writer.join();
  EXPECT_EQ(torn, 0u);
}

TEST(HeapWords, LoseNoUpdateToAThreadThatAddsToo) {
  alignas(8) std::array<std::uint64_t, 1> heap = {};
  HeapWords words(std::as_writable_bytes(std::span(heap)));
  constexpr int kTimes = 20000;
  std::thread other([&] {
    for (int i = 0; i < kTimes; ++i) std::atomic_ref(heap[0]).fetch_add(1u << 20);
  });
  for (int i = 0; i < kTimes; ++i) words.update(0, {AmoOp::kAdd, 8, 1, 0});
  other.join();
  EXPECT_EQ(heap[0], kTimes + (std::uint64_t{kTimes} << 20));
}

}  // namespace
}  // namespace chime::proxy::tests
