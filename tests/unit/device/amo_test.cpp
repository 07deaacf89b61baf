#include "chime/device/amo.cuh"

#include <gtest/gtest.h>

#include <limits>

#include "fake_job.hpp"

namespace chime::tests {
namespace {

template <class T>
class IntegerAmo : public testing::Test {
 protected:
  FakeJob job{2};
  T* const mine = job.data<T>(0);
  T& theirs = *job.data<T>(1);
};

using Integers = testing::Types<int, unsigned, long, unsigned long, long long, unsigned long long>;
TYPED_TEST_SUITE(IntegerAmo, Integers);

TYPED_TEST(IntegerAmo, EachDoesWhatItIsNamedAndReturnsTheOldValue) {
  using T = TypeParam;
  const Context& ctx = this->job.context();
  T* const word = this->mine;
  T& now = this->theirs;
  atomic_set(ctx, word, 40, 1);
  EXPECT_EQ(now, T{40});
  atomic_inc(ctx, word, 1);
  atomic_add(ctx, word, 3, 1);
  EXPECT_EQ(now, T{44});
  EXPECT_EQ(atomic_fetch_inc(ctx, word, 1), T{44});
  EXPECT_EQ(atomic_fetch_add(ctx, word, 5, 1), T{45});
  EXPECT_EQ(atomic_fetch(ctx, word, 1), T{50});
  EXPECT_EQ(atomic_swap(ctx, word, 0xF0, 1), T{50});
  EXPECT_EQ(atomic_compare_swap(ctx, word, 1, 2, 1), T{0xF0});
  EXPECT_EQ(now, T{0xF0});
  EXPECT_EQ(atomic_compare_swap(ctx, word, 0xF0, 0x3C, 1), T{0xF0});
  EXPECT_EQ(atomic_fetch_and(ctx, word, 0x1F, 1), T{0x3C});
  EXPECT_EQ(atomic_fetch_or(ctx, word, 0x03, 1), T{0x1C});
  EXPECT_EQ(atomic_fetch_xor(ctx, word, 0x0F, 1), T{0x1F});
  EXPECT_EQ(now, T{0x10});
  atomic_or(ctx, word, 0x11, 1);
  atomic_and(ctx, word, 0x01, 1);
  atomic_xor(ctx, word, 0x07, 1);
  EXPECT_EQ(now, T{0x06});
  EXPECT_EQ(*this->mine, T{0});
}

TYPED_TEST(IntegerAmo, AdditionWrapsAround) {
  using T = TypeParam;
  const Context& ctx = this->job.context();
  this->theirs = std::numeric_limits<T>::max();
  atomic_add(ctx, this->mine, T{1}, 1);
  EXPECT_EQ(this->theirs, std::numeric_limits<T>::min());
}

template <class T>
class FloatingAmo : public testing::Test {};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(FloatingAmo, Floats);

TYPED_TEST(FloatingAmo, IsFetchedSetAndSwapped) {
  using T = TypeParam;
  FakeJob job(2);
  const Context& ctx = job.context();
  atomic_set(ctx, job.data<T>(), T(-1.5), 1);
  EXPECT_EQ(atomic_fetch(ctx, job.data<T>(), 1), T(-1.5));
  EXPECT_EQ(atomic_swap(ctx, job.data<T>(), T(2.25), 1), T(-1.5));
  EXPECT_EQ(*job.data<T>(1), T(2.25));
}

CHIME_KERNEL void add_together(Context ctx, std::uint64_t* word, int pe) {
  for (int i = 0; i < 100; ++i) atomic_add(ctx, word, 1, pe);
  atomic_fetch_inc(ctx, word, pe);
}

TEST(Amo, LosesNoUpdateOfManyThreadsAndPes) {
  FakeJob job(3);
  job.run([&](int pe) {
    run_block(64, add_together, job.context(pe), job.data<std::uint64_t>(pe), 1);
  });
  EXPECT_EQ(*job.data<std::uint64_t>(1), 3u * 64 * 101);
}

}  // namespace
}  // namespace chime::tests
