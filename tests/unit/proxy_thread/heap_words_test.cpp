// Updates of this PE's words that others request are correct, touch only the width of the word, and
// are atomic.
#include "proxy/heap_words.hpp"

#include <gtest/gtest.h>
#include <signal.h>

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

// Written by hand. A word of four bytes must keep the upper half of each.
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

// Any size at any address, without its neighbours.
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

// Polled words among other bytes, read after every instruction of the write, because a reader on
// another processor meets a torn word only by chance.
struct Watched {
  std::size_t at, bytes;
  unsigned torn = 0, changes = 0, instructions = 0;
  std::array<std::byte, 8> last{};
};
struct Watch {
  const std::byte* heap = nullptr;
  std::array<Watched, 5> words;
  std::byte fresh;
};
Watch* watch = nullptr;

void look() {
  for (Watched& word : watch->words) {
    ++word.instructions;
    const std::byte* const now = watch->heap + word.at;
    if (std::memcmp(now, word.last.data(), word.bytes) == 0) continue;
    ++word.changes;
    word.torn += !std::all_of(now, now + word.bytes, [](std::byte b) { return b == watch->fresh; });
    std::memcpy(word.last.data(), now, word.bytes);
  }
}

#if defined(__x86_64__) && !defined(CHIME_TSAN)  // TSan takes no signal after each instruction
constexpr std::uint64_t kTrapFlag = 0x100;
void step_by_step(bool on) {
  std::uint64_t flags = __builtin_ia32_readeflags_u64();
  __builtin_ia32_writeeflags_u64(on ? flags | kTrapFlag : flags & ~kTrapFlag);
}

TEST(HeapWords, WriteEachAlignedWordByOneInstruction) {
  alignas(8) std::array<std::byte, 40> heap{};
  HeapWords words(heap);
  // From 5: a byte, two bytes at 6, words of eight at 8 and 16, four bytes at 24, a byte at 28.
  constexpr std::size_t kAt = 5, kBytes = 24;
  Watch all{.heap = heap.data(),
            .words = {{{.at = 6, .bytes = 2},
                       {.at = 8, .bytes = 8},
                       {.at = 16, .bytes = 8},
                       {.at = 24, .bytes = 4},
                       {.at = 28, .bytes = 1}}},
            .fresh = std::byte{0x5a}};
  std::array<std::byte, kBytes> data;
  data.fill(all.fresh);
  watch = &all;
  struct sigaction stepping = {}, before = {};
  stepping.sa_handler = [](int) { look(); };
  ASSERT_EQ(sigaction(SIGTRAP, &stepping, &before), 0);
  step_by_step(true);
  words.write(kAt, data);
  step_by_step(false);
  sigaction(SIGTRAP, &before, nullptr);
  for (const Watched& word : all.words) {
    EXPECT_EQ(word.changes, 1u) << "of the word at " << word.at;
    EXPECT_EQ(word.torn, 0u) << "the word at " << word.at << " was seen half written";
    EXPECT_GT(word.instructions, 20u);
  }
  EXPECT_EQ(heap[4], std::byte{0});
  EXPECT_EQ(heap[29], std::byte{0});
}
#endif

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
