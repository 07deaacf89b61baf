#include "chime/device/wait.cuh"

#include <gtest/gtest.h>

#include <limits>

#include "chime/device/sync.cuh"
#include "fake_job.hpp"

namespace chime::tests {
namespace {

constexpr std::uint64_t kShortNs = 20'000'000;

TEST(Compare, SignedTypesAsSignedAndUnsignedAsUnsigned) {
  EXPECT_TRUE(compare(-1, Cmp::kLt, 1));
  EXPECT_FALSE(compare(~0u, Cmp::kLt, 1u));
  EXPECT_TRUE(compare<short>(-5, Cmp::kLe, -5));
  EXPECT_TRUE(compare<std::uint64_t>(1ull << 63, Cmp::kGt, 5));
  EXPECT_FALSE(compare(std::numeric_limits<std::int64_t>::min(), Cmp::kGe, std::int64_t{0}));
  EXPECT_TRUE(compare(3, Cmp::kNe, 4));
  EXPECT_TRUE(compare(3, Cmp::kEq, 3));
}

CHIME_KERNEL void answer(Context ctx, int* ping, int* pong) {
  if (exec::block_rank() == 0) {
    wait_until(ctx, ping, Cmp::kEq, 1);
    exec::st<exec::Order::kRelease, exec::Scope::kSystem>(pong, 1);
  } else {
    exec::st<exec::Order::kRelease, exec::Scope::kSystem>(ping, 1);
    wait_until(ctx, pong, Cmp::kEq, 1);
  }
}

TEST(WaitUntil, SeesAnotherBlock) {
  FakeJob job(1);
  exec::LaunchConfig config;
  config.grid = 2;
  config.cooperative = true;
  ASSERT_EQ(exec::launch(config, answer, job.context(), job.data<int>(), job.data<int>(0, 64)),
            CHIMEX_OK);
  ASSERT_EQ(exec::stream_synchronize({}), CHIMEX_OK);
  EXPECT_EQ(*job.data<int>(0, 64), 1);
}

CHIME_KERNEL void wait_for_ever(Context ctx, std::uint64_t* sig, int* went_on) {
  signal_wait_until(ctx, Block{}, sig, Cmp::kGe, 5);
  went_on[exec::thread_rank()] = 1;
}

// Aborts the job while a block waits; returns how many of its threads went on.
int waiters_that_go_on(FakeJob& job) {
  *job.data<std::uint64_t>() = 3;
  int went_on[32] = {};
  exec::LaunchConfig config;
  config.block = 32;
  EXPECT_EQ(exec::launch(config, wait_for_ever, job.context(), job.data<std::uint64_t>(), went_on),
            CHIMEX_OK);
  job.raise_abort(0, CHIMEX_ERR_PEER_DEAD, 4);
  EXPECT_EQ(exec::stream_synchronize({}), CHIMEX_OK);
  int n = 0;
  for (const int one : went_on) n += one;
  return n;
}

TEST(SignalWait, EndsWithTheJobAndSaysWhatItWaitedFor) {
  FakeJob job(1);
  EXPECT_EQ(waiters_that_go_on(job), 0);
  const abi::ErrorRecord& record = job.error();
  EXPECT_EQ(record.claimed, 2u);
  EXPECT_EQ(record.status, CHIMEX_ERR_PEER_DEAD);
  EXPECT_EQ(record.pe, 4);
  EXPECT_EQ(record.operation, static_cast<unsigned>(Operation::kSignalWaitUntil));
  EXPECT_EQ(record.fault, static_cast<unsigned>(Fault::kWait));
  EXPECT_EQ(record.address, reinterpret_cast<std::uint64_t>(job.data<std::uint64_t>()));
  EXPECT_EQ(record.expected, 5u);
  EXPECT_EQ(record.seen, 3u);
}

TEST(SignalWait, ReturnsAfterAnAbortIfThatIsThePolicy) {
  FakeJob job(1);
  job.context().pe.on_error = OnError::kReturn;
  EXPECT_EQ(waiters_that_go_on(job), 32);
}

TEST(SignalWait, WithABoundReturnsItsStatusAndRecordsNothing) {
  FakeJob job(1);
  std::uint64_t* const sig = job.data<std::uint64_t>();
  *sig = 2;
  std::uint64_t seen = 0;
  EXPECT_EQ(signal_wait_until_timeout(job.context(), sig, Cmp::kEq, 3, kShortNs, &seen),
            CHIMEX_ERR_TIMEOUT);
  EXPECT_EQ(seen, 2u);
  EXPECT_EQ(signal_wait_until_timeout(job.context(), sig, Cmp::kEq, 2, kShortNs, &seen), CHIMEX_OK);
  job.raise_abort(0, CHIMEX_ERR_ABORTED, 0);
  EXPECT_EQ(signal_wait_until_timeout(job.context(), sig, Cmp::kEq, 3, 0, &seen),
            CHIMEX_ERR_ABORTED);
  EXPECT_EQ(job.error().claimed, 0u);
}

TEST(WaitUntil, WithABoundReturnsItsStatus) {
  FakeJob job(1);
  short* const word = job.data<short>();
  *word = -3;
  EXPECT_EQ(wait_until_timeout(job.context(), word, Cmp::kGt, 0, kShortNs), CHIMEX_ERR_TIMEOUT);
  EXPECT_EQ(wait_until_timeout(job.context(), word, Cmp::kLt, 0, kShortNs), CHIMEX_OK);
}

TEST(WaitUntil, OfAComparisonThatDoesNotExistIsAnError) {
  FakeJob job(1);
  wait_until(job.context(), job.data<int>(), static_cast<Cmp>(17), 0);
  EXPECT_EQ(job.error().status, CHIMEX_ERR_INVALID);
}

class Sets : public testing::Test {
 protected:
  FakeJob job{1};
  Context& ctx = job.context();
  int* const e = job.data<int>();
  const int skip_odd[6] = {0, 1, 0, 1, 0, 1};
  const int skip_all[6] = {1, 1, 1, 1, 1, 1};
  std::size_t indices[6] = {};

  void SetUp() override {
    for (int i = 0; i < 6; ++i) e[i] = 10 * i;
  }
};

TEST_F(Sets, TestAll) {
  EXPECT_TRUE(test_all(ctx, e, 6, nullptr, Cmp::kGe, 0));
  EXPECT_FALSE(test_all(ctx, e, 6, nullptr, Cmp::kGe, 10));
  EXPECT_TRUE(test_all(ctx, e + 1, 5, nullptr, Cmp::kGe, 10));
  EXPECT_TRUE(test_all(ctx, e, 6, skip_all, Cmp::kEq, 77));
  const int values[6] = {0, -1, 20, -1, 40, -1};
  EXPECT_TRUE(test_all_vector(ctx, e, 6, skip_odd, Cmp::kEq, values));
  EXPECT_FALSE(test_all_vector(ctx, e, 6, nullptr, Cmp::kEq, values));
}

TEST_F(Sets, TestAny) {
  EXPECT_EQ(test_any(ctx, e, 6, nullptr, Cmp::kGe, 25), 3u);
  EXPECT_EQ(test_any(ctx, e, 6, skip_odd, Cmp::kGe, 25), 4u);
  EXPECT_EQ(test_any(ctx, e, 6, nullptr, Cmp::kEq, 77), SIZE_MAX);
  const int values[6] = {1, 1, 1, 30, 1, 1};
  EXPECT_EQ(test_any_vector(ctx, e, 6, nullptr, Cmp::kEq, values), 3u);
}

TEST_F(Sets, TestSome) {
  EXPECT_EQ(test_some(ctx, e, 6, indices, nullptr, Cmp::kGt, 25), 3u);
  EXPECT_EQ(indices[0], 3u);
  EXPECT_EQ(indices[2], 5u);
  EXPECT_EQ(test_some(ctx, e, 6, indices, skip_odd, Cmp::kGt, 25), 1u);
  EXPECT_EQ(indices[0], 4u);
  EXPECT_EQ(test_some(ctx, e, 6, indices, skip_all, Cmp::kGt, 25), 0u);
  const int values[6] = {0, 0, 0, 0, 40, 50};
  EXPECT_EQ(test_some_vector(ctx, e, 6, indices, nullptr, Cmp::kEq, values), 3u);
}

TEST_F(Sets, WaitsThatHoldReturnAtOnce) {
  wait_until_all(ctx, e, 6, nullptr, Cmp::kGe, 0);
  EXPECT_EQ(wait_until_any(ctx, e, 6, nullptr, Cmp::kGe, 25), 3u);
  EXPECT_EQ(wait_until_some(ctx, e, 6, indices, nullptr, Cmp::kLt, 25), 3u);
  const int values[6] = {0, 10, 20, 30, 40, 50};
  wait_until_all_vector(ctx, e, 6, nullptr, Cmp::kEq, values);
  EXPECT_EQ(wait_until_any_vector(ctx, e, 6, nullptr, Cmp::kEq, values), 0u);
  EXPECT_EQ(wait_until_some_vector(ctx, e, 6, indices, nullptr, Cmp::kEq, values), 6u);
  EXPECT_EQ(job.error().claimed, 0u);
}

TEST_F(Sets, WaitsForNothingReturnAtOnce) {
  wait_until_all(ctx, e, 6, skip_all, Cmp::kEq, 77);
  wait_until_all(ctx, e, 0, nullptr, Cmp::kEq, 77);
  EXPECT_EQ(wait_until_any(ctx, e, 6, skip_all, Cmp::kEq, 77), SIZE_MAX);
  EXPECT_EQ(wait_until_any(ctx, e, 0, nullptr, Cmp::kEq, 77), SIZE_MAX);
  EXPECT_EQ(wait_until_some(ctx, e, 6, indices, skip_all, Cmp::kEq, 77), 0u);
}

TEST_F(Sets, AWaitThatTheAbortEndsNamesItsElement) {
  job.raise_abort(0, CHIMEX_ERR_ABORTED, 2);
  wait_until_all(ctx, e, 6, nullptr, Cmp::kNe, 30);
  EXPECT_EQ(job.error().address, reinterpret_cast<std::uint64_t>(e + 3));
  EXPECT_EQ(job.error().operation, static_cast<unsigned>(Operation::kWaitUntilAll));
  EXPECT_EQ(job.error().fault, static_cast<unsigned>(Fault::kWait));
  EXPECT_EQ(job.error().seen, 30u);
}

}  // namespace
}  // namespace chime::tests
