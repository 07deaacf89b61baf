// A poller's guarantee while the NIC writes: an aligned word of 2, 4 or 8 bytes inside of the
// written bytes is never seen half written, wherever the write begins and ends.
#include "softnic/engine/dma.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

namespace softnic {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kLong{40};

struct alignas(64) Memory {
  std::array<std::byte, 64> bytes{};
};

template <class Word>
bool is_whole(const std::byte* at) {
  const Word seen = __atomic_load_n(reinterpret_cast<const Word*>(at), __ATOMIC_ACQUIRE);
  return seen == Word{0} || seen == static_cast<Word>(~Word{0});
}

bool is_whole(const std::byte* at, std::size_t width) {
  if (width == 2) return is_whole<std::uint16_t>(at);
  return width == 4 ? is_whole<std::uint32_t>(at) : is_whole<std::uint64_t>(at);
}

// [at, at + bytes) is written with zeros and ones alternately, while the word at `word` is polled.
void expect_whole(std::size_t at, std::size_t bytes, std::size_t word, std::size_t width) {
  Memory memory;
  std::atomic<bool> is_over = false;
  std::thread nic([&] {
    for (
        Memory zeros, ones =
                          [] {
                            Memory m;
                            return m.bytes.fill(std::byte{0xff}), m;
                          }();
        !is_over;) {
      dma_write(&memory.bytes[at], ones.bytes.data(), bytes);
      dma_write(&memory.bytes[at], zeros.bytes.data(), bytes);
    }
  });
  std::size_t torn = 0, looks = 0;
  for (const auto end = Clock::now() + kLong; Clock::now() < end; ++looks)
    torn += !is_whole(&memory.bytes[word], width);
  is_over = true;
  nic.join();
  EXPECT_EQ(torn, 0u) << "of " << looks << " looks at the " << width << " bytes at " << word
                      << ", while " << bytes << " bytes at " << at << " were written";
}

TEST(Dma, AWordThatIsWrittenAloneIsNeverSeenInPart) {
  for (const std::size_t width : {2u, 4u, 8u})
    for (std::size_t at = 0; at < 16; at += width) expect_whole(at, width, at, width);
}

TEST(Dma, AWordAtTheEndOfAWriteIsNeverSeenInPart) {
  expect_whole(0, 12, 8, 4);
  expect_whole(0, 14, 8, 4);
  expect_whole(0, 14, 12, 2);
  expect_whole(0, 35, 32, 2);
}

TEST(Dma, AWordAtTheBeginningOfAWriteIsNeverSeenInPart) {
  expect_whole(4, 20, 4, 4);
  expect_whole(2, 30, 2, 2);
  expect_whole(2, 30, 4, 4);
  expect_whole(1, 31, 4, 4);
}

// A payload of any length at any address arrives, and no neighbouring byte changes.
TEST(Dma, EveryByteArrivesAndNoOther) {
  std::array<std::byte, 48> source;
  for (std::size_t i = 0; i < source.size(); ++i) source[i] = std::byte(i + 1);
  for (std::size_t at = 0; at < 9; ++at)
    for (std::size_t bytes = 0; bytes <= 40; ++bytes) {
      Memory memory, expected;
      std::memcpy(&expected.bytes[at], source.data(), bytes);
      dma_write(&memory.bytes[at], source.data(), bytes);
      EXPECT_EQ(memory.bytes, expected.bytes) << bytes << " bytes at " << at;
    }
}

}  // namespace
}  // namespace softnic
