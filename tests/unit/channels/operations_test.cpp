// Every operation once, with memory of every kind, whenever and in whatever order requests end.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "any_job.hpp"
#include "chime/device/amo.cuh"
#include "chime/device/coll/barrier.cuh"
#include "chime/device/rma.cuh"
#include "chime/device/signal.cuh"

namespace chime::tests {
namespace {

class Operations : public EachKind {
 protected:
  AnyJob job{GetParam(), 3};

  const Context& ctx() { return job.context(); }
};

std::vector<std::byte> pattern(std::size_t bytes) {
  std::vector<std::byte> data(bytes);
  for (std::size_t i = 0; i < bytes; ++i) data[i] = std::byte(i * 7 + 1);
  return data;
}

// The memory of a put's source or a get's destination.
enum class Where { kHeap, kBuffer, kElsewhere };
constexpr Where kEverywhere[] = {Where::kHeap, Where::kBuffer, Where::kElsewhere};

std::byte* memory(AnyJob& job, Where where, std::vector<std::byte>& elsewhere) {
  switch (where) {
    case Where::kHeap:
      return job.data<std::byte>(0, 0);
    case Where::kBuffer:
      return job.buffer() + 128;
    case Where::kElsewhere:
      break;
  }
  return elsewhere.data();
}

// Around the bytes that a request carries (NIC: 12 and 28, proxy: 8 and 16), and a staging slot.
constexpr std::size_t kSizes[] = {1,  3,  8,  9,   12,  13,  15,   16,   17,
                                  28, 29, 64, 511, 512, 513, 1024, 1500, 5000};
constexpr std::size_t kThere = 64 * 1024;  // offset at the peer

TEST_P(Operations, PutBringsEveryByteFromEverywhere) {
  for (const Where where : kEverywhere)
    for (const std::size_t bytes : kSizes) {
      const std::vector<std::byte> data = pattern(bytes);
      std::vector<std::byte> elsewhere(bytes);
      std::byte* const source = memory(job, where, elsewhere);
      std::memcpy(source, data.data(), bytes);
      std::memset(job.data<std::byte>(1, kThere), 0, bytes + 1);
      run_threads(1, [&] {
        putmem(ctx(), Thread{}, job.data<std::byte>(0, kThere), source, bytes, 1);
        std::memset(source, 0, bytes);
        job.quiet();
      });
      EXPECT_EQ(std::memcmp(job.data<std::byte>(1, kThere), data.data(), bytes), 0)
          << bytes << " bytes";
      EXPECT_EQ(*job.data<std::byte>(1, kThere + bytes), std::byte{0});
    }
}

TEST_P(Operations, GetBringsEveryByteToEverywhere) {
  for (const Where where : kEverywhere)
    for (const std::size_t bytes : kSizes) {
      const std::vector<std::byte> data = pattern(bytes);
      std::memcpy(job.data<std::byte>(2, kThere), data.data(), bytes);
      std::vector<std::byte> elsewhere(bytes + 1);
      std::byte* const target = memory(job, where, elsewhere);
      std::memset(target, 0, bytes + 1);
      run_threads(
          1, [&] { getmem(ctx(), Thread{}, target, job.data<std::byte>(0, kThere), bytes, 2); });
      EXPECT_EQ(std::memcmp(target, data.data(), bytes), 0) << bytes << " bytes";
      EXPECT_EQ(target[bytes], std::byte{0});
    }
}

TEST_P(Operations, NbiIsCompleteAfterQuiet) {
  const std::vector<std::byte> data = pattern(4096);
  std::memcpy(job.data<std::byte>(0), data.data(), 4096);
  std::memcpy(job.data<std::byte>(2, kThere), data.data(), 4096);
  run_threads(1, [&] {
    putmem_nbi(ctx(), Thread{}, job.data<std::byte>(0, kThere), job.data<std::byte>(0), 4096, 1);
    getmem_nbi(ctx(), Thread{}, job.data<std::byte>(0, 8192), job.data<std::byte>(0, kThere), 4096,
               2);
    job.quiet();
  });
  EXPECT_EQ(std::memcmp(job.data<std::byte>(1, kThere), data.data(), 4096), 0);
  EXPECT_EQ(std::memcmp(job.data<std::byte>(0, 8192), data.data(), 4096), 0);
}

TEST_P(Operations, GroupsPostOnce) {
  const std::vector<std::byte> data = pattern(2000);
  std::memcpy(job.data<std::byte>(0), data.data(), 2000);
  run_threads(96, [&] {
    putmem(ctx(), Block{}, job.data<std::byte>(0, kThere), job.data<std::byte>(0), 2000, 1);
    if (exec::warp_id() == 1)
      putmem(ctx(), Warp{}, job.data<std::byte>(0, kThere), job.data<std::byte>(0), 2000, 2);
  });
  EXPECT_EQ(std::memcmp(job.data<std::byte>(1, kThere), data.data(), 2000), 0);
  EXPECT_EQ(std::memcmp(job.data<std::byte>(2, kThere), data.data(), 2000), 0);
  EXPECT_EQ(job.requests(), 2u);
}

struct Sixteen {
  std::uint64_t a, b;
};

TEST_P(Operations, ElementsOfEverySize) {
  run_threads(1, [&] {
    p(ctx(), job.data<std::uint8_t>(0, 0), std::uint8_t{0x92}, 1);
    p(ctx(), job.data<std::uint16_t>(0, 2), std::uint16_t{0xb456}, 1);
    p(ctx(), job.data<float>(0, 4), -1.5f, 1);
    p(ctx(), job.data<double>(0, 8), -2.5, 1);
    p(ctx(), job.data<Sixteen>(0, 16), Sixteen{~std::uint64_t{3}, std::uint64_t{1} << 63}, 1);
    job.quiet();
    EXPECT_EQ(g(ctx(), job.data<std::uint8_t>(0, 0), 1), 0x92);
    EXPECT_EQ(g(ctx(), job.data<std::uint16_t>(0, 2), 1), 0xb456);
    EXPECT_EQ(g(ctx(), job.data<float>(0, 4), 1), -1.5f);
    EXPECT_EQ(g(ctx(), job.data<double>(0, 8), 1), -2.5);
    const auto both = g(ctx(), job.data<Sixteen>(0, 16), 1);
    EXPECT_EQ(both.a, ~std::uint64_t{3});
    EXPECT_EQ(both.b, std::uint64_t{1} << 63);
  });
  EXPECT_EQ(*job.data<std::uint8_t>(1, 0), 0x92);
  EXPECT_EQ(*job.data<std::uint8_t>(1, 1), 0) << "one byte was put";
  EXPECT_EQ(*job.data<std::uint16_t>(1, 2), 0xb456);
  EXPECT_EQ(*job.data<float>(1, 4), -1.5f);
  EXPECT_EQ(*job.data<double>(1, 8), -2.5);
  EXPECT_EQ(job.data<std::uint64_t>(1, 16)[1], std::uint64_t{1} << 63);
  EXPECT_EQ(job.data<std::uint64_t>(1, 32)[0], 0u);
  // A NIC reads 16 bytes by two requests.
  EXPECT_EQ(job.requests(), is_of_proxy(GetParam()) ? 10u : 11u);
}

// By a thread and by a warp.
template <class Group>
void strided(AnyJob& job, Group group, unsigned threads) {
  constexpr int kCount = 10;
  int source[2 * kCount], back[2 * kCount] = {};
  std::iota(std::begin(source), std::end(source), 100);
  std::fill_n(job.data<int>(1), 3 * kCount, 0);
  run_threads(threads, [&] {
    iput(job.context(), group, job.data<int>(0), source, 3, 2, kCount, 1);
    group.sync();
    if (group.is_leader()) job.quiet();
    group.sync();
    iget(job.context(), group, back, job.data<int>(0), 2, 3, kCount, 1);
  });
  for (int i = 0; i < 3 * kCount; ++i)
    EXPECT_EQ(job.data<int>(1)[i], i % 3 == 0 ? 100 + 2 * (i / 3) : 0) << "there, " << i;
  for (int i = 0; i < 2 * kCount; ++i)
    EXPECT_EQ(back[i], i % 2 == 0 ? 100 + i : 0) << "here, " << i;
}
TEST_P(Operations, StridedElementsOfAThread) { strided(job, Thread{}, 1); }
TEST_P(Operations, StridedElementsOfAWarp) { strided(job, Warp{}, 32); }

// Each is one request with its own word, and keeps the words beside it.
template <class T>
void every_atomic(AnyJob& job) {
  constexpr T kBase = static_cast<T>(0xf0e1'd2c3'b4a5'9687);
  // Both halves of a word differ from kBase's; the sum carries into the upper half.
  constexpr T operand = static_cast<T>(0x0ff0'f00f'9ff0'f00f);
  const Context& ctx = job.context();
  T* const words = job.data<T>();
  for (int i = 0; i < 32; ++i) job.data<T>(1)[i] = i % 2 == 0 ? kBase : T{77};
  T before[9] = {};
  run_threads(1, [&] {
    atomic_set(ctx, words + 0, operand, 1);
    atomic_add(ctx, words + 2, operand, 1);
    atomic_and(ctx, words + 4, operand, 1);
    atomic_or(ctx, words + 6, operand, 1);
    atomic_xor(ctx, words + 8, operand, 1);
    atomic_inc(ctx, words + 10, 1);
    before[0] = atomic_fetch(ctx, words + 12, 1);
    before[1] = atomic_swap(ctx, words + 14, operand, 1);
    before[2] = atomic_fetch_add(ctx, words + 16, operand, 1);
    before[3] = atomic_fetch_and(ctx, words + 18, operand, 1);
    before[4] = atomic_fetch_or(ctx, words + 20, operand, 1);
    before[5] = atomic_fetch_xor(ctx, words + 22, operand, 1);
    before[6] = atomic_compare_swap(ctx, words + 24, kBase, operand, 1);
    before[7] = atomic_compare_swap(ctx, words + 26, T{1}, operand, 1);
    before[8] = atomic_fetch_add(ctx, words + 28, static_cast<T>(-kBase), 1);
    job.quiet();
  });
  const T sum = static_cast<T>(kBase + operand);
  const T after[] = {operand,
                     sum,
                     static_cast<T>(kBase & operand),
                     static_cast<T>(kBase | operand),
                     static_cast<T>(kBase ^ operand),
                     static_cast<T>(kBase + 1),
                     kBase,
                     operand,
                     sum,
                     static_cast<T>(kBase & operand),
                     static_cast<T>(kBase | operand),
                     static_cast<T>(kBase ^ operand),
                     operand,
                     kBase,
                     T{0}};
  for (std::size_t i = 0; i < std::size(after); ++i) {
    EXPECT_EQ(job.data<T>(1)[2 * i], after[i]) << "operation " << i;
    EXPECT_EQ(job.data<T>(1)[2 * i + 1], T{77}) << "beside operation " << i;
  }
  for (const T was : before) EXPECT_EQ(was, kBase);
}
TEST_P(Operations, EveryAtomicOfFourBytes) { every_atomic<std::uint32_t>(job); }
TEST_P(Operations, EveryAtomicOfEightBytes) { every_atomic<std::uint64_t>(job); }

TEST_P(Operations, PutSignalBringsDataAndSignal) {
  constexpr std::size_t kSignal = 128 * 1024;  // offset
  std::uint64_t* const signal = job.data<std::uint64_t>(2, kSignal);
  for (const SignalOp op : {SignalOp::kSet, SignalOp::kAdd})
    for (const Where where : kEverywhere)
      for (const std::size_t bytes : {0, 1, 8, 16, 17, 28, 100, 3000}) {
        const std::vector<std::byte> data = pattern(bytes);
        std::vector<std::byte> elsewhere(bytes);
        std::byte* const source = memory(job, where, elsewhere);
        std::copy(data.begin(), data.end(), source);
        std::byte* const there = job.data<std::byte>(2, kThere);
        std::memset(there, 0, bytes + 1);
        *signal = 5;
        const std::uint64_t expected = op == SignalOp::kAdd ? 5 + 37 : 37;
        const auto data_is_there = [&] { return std::equal(data.begin(), data.end(), there); };
        bool early = false;
        job.watch([&] { early |= *signal == expected && !data_is_there(); });
        run_threads(1, [&] {
          putmem_signal(ctx(), Thread{}, job.data<std::byte>(0, kThere), source, bytes,
                        {job.data<std::uint64_t>(0, kSignal), 37, op}, 2);
          std::fill_n(source, bytes, std::byte{0});
          while (exec::ld<exec::Order::kAcquire>(signal) != expected) exec::pause();
          EXPECT_TRUE(data_is_there()) << bytes << " bytes";
        });
        job.watch({});
        EXPECT_FALSE(early) << "a signal came before its " << bytes << " bytes";
        EXPECT_EQ(there[bytes], std::byte{0});
      }
}

// Announcements of meetings are no operations: a quiet waits for those before the last operation.
TEST_P(Operations, AQuietEndsWithTheLastOperation) {
  constexpr std::size_t kWord = 8;  // offset
  const abi::Channel& channel = job.channel_to(1);
  run_threads(1, [&] {
    const auto announce = [&](std::uint64_t epoch) {
      std::uint64_t* const word = job.data<std::uint64_t>(0, kWord);
      go(ctx(), Traffic::kMeeting, detail::target_of_arrival(word), 1, [&](const auto& path) {
        path.announce({word, epoch});
      });
    };
    for (std::uint64_t epoch = 1; epoch < 600; epoch += 3) {
      p(ctx(), job.data<std::uint64_t>(0, 2 * kWord), epoch, 1);
      const std::uint64_t operations = channel::target(channel);
      EXPECT_EQ(channel::target_of_operations(channel), operations);
      for (const int more : {0, 1, 2}) {
        announce(epoch + static_cast<std::uint64_t>(more));
        EXPECT_EQ(channel::target_of_operations(channel), operations);
      }
    }
    for (std::uint64_t epoch = 600; epoch < 900; ++epoch) announce(epoch);
    EXPECT_EQ(channel::target_of_operations(channel), channel::target(channel) - 255);
    channel::settle(ctx());
  });
  EXPECT_EQ(*job.data<std::uint64_t>(1, kWord), 899u);
}

// By threads of the host, which use the same templates.
TEST_P(Operations, TheHostOperatesToo) {
#ifdef CHIME_TSAN
  if (!is_of_proxy(GetParam()))
    GTEST_SKIP() << "TSan does not see what fences of a host thread order";
#endif
  p(ctx(), job.data<std::uint64_t>(0, 8), std::uint64_t{5}, 1);
  job.quiet();
  EXPECT_EQ(g(ctx(), job.data<std::uint64_t>(0, 8), 1), 5u);
  EXPECT_EQ(atomic_fetch_add(ctx(), job.data<std::uint64_t>(0, 8), std::uint64_t{2}, 1), 5u);
  EXPECT_EQ(g(ctx(), job.data<std::uint64_t>(0, 8), 1), 7u);
  const std::vector<std::byte> data = pattern(3000);
  std::vector<std::byte> back(3000);
  put(ctx(), Thread{}, job.data<std::byte>(0, kThere), data.data(), data.size(), 2);
  job.quiet();
  get(ctx(), Thread{}, back.data(), job.data<std::byte>(0, kThere), back.size(), 2);
  EXPECT_EQ(data, back);
}

IN_EACH_KIND(Operations);

}  // namespace
}  // namespace chime::tests
