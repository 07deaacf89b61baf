// Every operation once, through memory of every kind, whenever and in whatever order requests end.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "chime/device/amo.cuh"
#include "chime/device/rma.cuh"
#include "chime/device/signal.cuh"
#include "chime/device/sync.cuh"
#include "proxy_job.hpp"

namespace chime::tests {
namespace {

class Operations : public EachPace {
 protected:
  ProxyJob job{3, plan()};
};

std::vector<std::byte> pattern(std::size_t bytes) {
  std::vector<std::byte> data(bytes);
  for (std::size_t i = 0; i < bytes; ++i) data[i] = std::byte(i * 7 + 1);
  return data;
}

// Where a put's source or a get's destination may lie.
enum class Where { kHeap, kBuffer, kElsewhere };

std::byte* memory(ProxyJob& job, Where where, std::vector<std::byte>& elsewhere) {
  switch (where) {
    case Where::kHeap:
      return job.data<std::byte>(0, 0);
    case Where::kBuffer:
      return job.proxy.buffer() + 128;
    case Where::kElsewhere:
      break;
  }
  return elsewhere.data();
}

constexpr std::size_t kSizes[] = {1, 3, 8, 9, 15, 16, 17, 64, 511, 512, 513, 1024, 1500, 5000};
constexpr std::size_t kThere = 64 * 1024;  // offset at the peer

TEST_P(Operations, PutBringsEveryByteFromEverywhere) {
  for (const Where where : {Where::kHeap, Where::kBuffer, Where::kElsewhere})
    for (const std::size_t bytes : kSizes) {
      const std::vector<std::byte> data = pattern(bytes);
      std::vector<std::byte> elsewhere(bytes);
      std::byte* const source = memory(job, where, elsewhere);
      std::memcpy(source, data.data(), bytes);
      std::memset(job.data<std::byte>(1, kThere), 0, bytes + 1);
      run_threads(1, [&] {
        job.to(1).put<1>(Thread{}, {job.data<std::byte>(0, kThere), source, bytes, Until::kLocal});
        std::memset(source, 0, bytes);
        job.quiet();
      });
      EXPECT_EQ(std::memcmp(job.data<std::byte>(1, kThere), data.data(), bytes), 0)
          << bytes << " bytes";
      EXPECT_EQ(*job.data<std::byte>(1, kThere + bytes), std::byte{0});
    }
}

TEST_P(Operations, GetBringsEveryByteToEverywhere) {
  for (const Where where : {Where::kHeap, Where::kBuffer, Where::kElsewhere})
    for (const std::size_t bytes : kSizes) {
      const std::vector<std::byte> data = pattern(bytes);
      std::memcpy(job.data<std::byte>(2, kThere), data.data(), bytes);
      std::vector<std::byte> elsewhere(bytes + 1);
      std::byte* const target = memory(job, where, elsewhere);
      std::memset(target, 0, bytes + 1);
      run_threads(1, [&] {
        job.to(2).get<1>(Thread{}, {target, job.data<std::byte>(0, kThere), bytes, Until::kLocal});
      });
      EXPECT_EQ(std::memcmp(target, data.data(), bytes), 0) << bytes << " bytes";
      EXPECT_EQ(target[bytes], std::byte{0});
    }
}

TEST_P(Operations, NbiIsCompleteAfterQuiet) {
  const std::vector<std::byte> data = pattern(4096);
  std::memcpy(job.data<std::byte>(0), data.data(), 4096);
  std::memcpy(job.data<std::byte>(2, kThere), data.data(), 4096);
  run_threads(1, [&] {
    job.to(1).put<1>(
        Thread{}, {job.data<std::byte>(0, kThere), job.data<std::byte>(0), 4096, Until::kPosted});
    job.to(2).get<1>(Thread{}, {job.data<std::byte>(0, 8192), job.data<std::byte>(0, kThere), 4096,
                                Until::kPosted});
    job.quiet();
  });
  EXPECT_EQ(std::memcmp(job.data<std::byte>(1, kThere), data.data(), 4096), 0);
  EXPECT_EQ(std::memcmp(job.data<std::byte>(0, 8192), data.data(), 4096), 0);
}

TEST_P(Operations, GroupsPostOnce) {
  const std::vector<std::byte> data = pattern(2000);
  std::memcpy(job.data<std::byte>(0), data.data(), 2000);
  run_threads(96, [&] {
    job.to(1).put<1>(Block{},
                     {job.data<std::byte>(0, kThere), job.data<std::byte>(0), 2000, Until::kLocal});
    if (exec::warp_id() == 1) {
      job.to(2).put<1>(
          Warp{}, {job.data<std::byte>(0, kThere), job.data<std::byte>(0), 2000, Until::kLocal});
    }
  });
  EXPECT_EQ(std::memcmp(job.data<std::byte>(1, kThere), data.data(), 2000), 0);
  EXPECT_EQ(std::memcmp(job.data<std::byte>(2, kThere), data.data(), 2000), 0);
  EXPECT_EQ(job.proxy.slots_taken(), 2u);
}

struct Sixteen {
  std::uint64_t a, b;
};

TEST_P(Operations, ElementsOfEverySize) {
  run_threads(1, [&] {
    const Context& ctx = job.context();
    p(ctx, job.data<std::uint8_t>(0, 0), std::uint8_t{0x92}, 1);
    p(ctx, job.data<std::uint16_t>(0, 2), std::uint16_t{0xb456}, 1);
    p(ctx, job.data<float>(0, 4), -1.5f, 1);
    p(ctx, job.data<double>(0, 8), -2.5, 1);
    p(ctx, job.data<Sixteen>(0, 16), Sixteen{~std::uint64_t{3}, std::uint64_t{1} << 63}, 1);
    quiet(ctx);
    EXPECT_EQ(g(ctx, job.data<std::uint8_t>(0, 0), 1), 0x92);
    EXPECT_EQ(g(ctx, job.data<std::uint16_t>(0, 2), 1), 0xb456);
    EXPECT_EQ(g(ctx, job.data<float>(0, 4), 1), -1.5f);
    EXPECT_EQ(g(ctx, job.data<double>(0, 8), 1), -2.5);
    const auto both = g(ctx, job.data<Sixteen>(0, 16), 1);
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
  EXPECT_EQ(job.proxy.slots_taken(), 10u) << "each is one slot";
}

TEST_P(Operations, StridedElements) {
  const std::uint32_t here[] = {1, 2, 3, 4, 5, 6};
  std::uint32_t back[6] = {};
  run_threads(1, [&] {
    iput(job.context(), Thread{}, job.data<std::uint32_t>(), here, 3, 2, 3, 1);
    quiet(job.context());
    iget(job.context(), Thread{}, back, job.data<std::uint32_t>(), 2, 3, 3, 1);
  });
  const std::uint32_t there[] = {1, 0, 0, 3, 0, 0, 5, 0};
  EXPECT_EQ(std::memcmp(job.data<std::uint32_t>(1), there, sizeof there), 0);
  const std::uint32_t is_back[] = {1, 0, 3, 0, 5, 0};
  EXPECT_EQ(std::memcmp(back, is_back, sizeof back), 0);
}

// Each is one request with its own word, and leaves the words beside it alone.
template <class T>
void every_atomic(ProxyJob& job) {
  constexpr T kBase = static_cast<T>(0xf0e1'd2c3'b4a5'9687);
  const T operand = static_cast<T>(kBase ^ T{0x3c5a});
  const Context& ctx = job.context();
  T* const words = job.data<T>();
  for (int i = 0; i < 30; ++i) job.data<T>(1)[i] = i % 2 == 0 ? kBase : T{77};
  T before[8] = {};
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
    quiet(ctx);
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
                     kBase};
  for (int i = 0; i < 14; ++i) {
    EXPECT_EQ(job.data<T>(1)[2 * i], after[i]) << "operation " << i;
    EXPECT_EQ(job.data<T>(1)[2 * i + 1], T{77}) << "beside operation " << i;
  }
  for (const T was : before) EXPECT_EQ(was, kBase);
}
TEST_P(Operations, EveryAtomicOfFourBytes) { every_atomic<std::uint32_t>(job); }
TEST_P(Operations, EveryAtomicOfEightBytes) { every_atomic<std::uint64_t>(job); }

TEST_P(Operations, SignalsAloneAndBehindData) {
  const Context& ctx = job.context();
  std::uint64_t* const signal = job.data<std::uint64_t>(0, kThere - 8);
  std::uint64_t expected = 0;
  for (const Where where : {Where::kHeap, Where::kBuffer, Where::kElsewhere})
    for (const std::size_t bytes : {0ul, 1ul, 16ul, 17ul, 3000ul})
      for (const SignalOp op : {SignalOp::kSet, SignalOp::kAdd}) {
        const std::vector<std::byte> data = pattern(bytes);
        std::vector<std::byte> elsewhere(bytes);
        std::byte* const source = memory(job, where, elsewhere);
        std::copy(data.begin(), data.end(), source);
        std::byte* const there = job.data<std::byte>(2, kThere);
        std::memset(there, 0, bytes + 1);
        const std::uint64_t value = 1000 + bytes;
        expected = op == SignalOp::kSet ? value : expected + value;
        run_threads(1, [&] {
          put_signal(ctx, Thread{}, job.data<std::byte>(0, kThere), source, bytes,
                     {signal, value, op}, 2);
          std::fill_n(source, bytes, std::byte{0});
          job.quiet();
        });
        EXPECT_TRUE(std::equal(data.begin(), data.end(), there)) << bytes;
        EXPECT_EQ(there[bytes], std::byte{0});
        EXPECT_EQ(*job.data<std::uint64_t>(2, kThere - 8), expected) << bytes << " bytes";
      }
}

// Registered memory needs no slots, and put_signal no second request.
TEST_P(Operations, PutSignalIsOneRequest) {
  run_threads(1, [&] {
    put_signal(job.context(), Thread{}, job.data<std::byte>(0, kThere), job.data<std::byte>(), 3000,
               {job.data<std::uint64_t>(0, 0), 1}, 1);
    put_signal(job.context(), Thread{}, job.data<std::byte>(0, kThere), job.data<std::byte>(), 16,
               {job.data<std::uint64_t>(0, 0), 1}, 1);
    job.quiet();
  });
  const std::vector<abi::ProxyRequest> taken = job.proxy.taken();
  ASSERT_EQ(taken.size(), 2u);
  EXPECT_EQ(taken[0].kind, abi::ProxyKind::kPut);
  EXPECT_EQ(taken[1].kind, abi::ProxyKind::kPutValue);
  for (const abi::ProxyRequest& request : taken) EXPECT_TRUE(request.has_signal);
  EXPECT_EQ(job.proxy.slots_taken(), 4u);
}

// By threads of the host, which use the same templates.
TEST_P(Operations, OfAHostThread) {
  const Context& ctx = job.context();
  p(ctx, job.data<std::uint64_t>(0, 8), std::uint64_t{5}, 1);
  quiet(ctx);
  EXPECT_EQ(g(ctx, job.data<std::uint64_t>(0, 8), 1), 5u);
  EXPECT_EQ(atomic_fetch_add(ctx, job.data<std::uint64_t>(0, 8), std::uint64_t{2}, 1), 5u);
  std::vector<std::byte> data = pattern(3000), back(3000);
  put(ctx, Thread{}, job.data<std::byte>(0, kThere), data.data(), data.size(), 2);
  quiet(ctx);
  get(ctx, Thread{}, back.data(), job.data<std::byte>(0, kThere), back.size(), 2);
  EXPECT_EQ(data, back);
}

AT_EACH_PACE(Operations);

}  // namespace
}  // namespace chime::tests
