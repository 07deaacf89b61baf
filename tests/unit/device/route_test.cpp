// The outcome of an operation that cannot reach its target.
#include "chime/device/route.cuh"

#include <gtest/gtest.h>

#include "chime/device/amo.cuh"
#include "chime/device/rma.cuh"
#include "chime/device/signal.cuh"
#include "fake_job.hpp"

namespace chime::tests {
namespace {

TEST(PeerPtr, IsTheSameOffsetInThePeersHeap) {
  FakeJob job(3);
  EXPECT_EQ(ptr(job.context(0), job.data<int>(0, 40), 2), job.data<int>(2, 40));
  EXPECT_EQ(ptr(job.context(1), job.data<int>(1, 40), 1), job.data<int>(1, 40));
}

TEST(PeerPtr, IsNullForWhatIsNotThere) {
  FakeJob job(2);
  int outside = 0;
  EXPECT_EQ(ptr(job.context(), &outside, 1), nullptr);
  EXPECT_EQ(ptr(job.context(), job.context().pe.heap + kFakeHeapBytes, 1), nullptr);
  EXPECT_EQ(ptr(job.context(), job.data<int>(), 2), nullptr);
  EXPECT_EQ(ptr(job.context(), job.data<int>(), -1), nullptr);
  job.unmap(1);
  EXPECT_EQ(ptr(job.context(), job.data<int>(), 1), nullptr);
}

// Whether the kernel's threads went on after the operation.
CHIME_KERNEL void put_and_go_on(Context ctx, int* dst, std::size_t n, int pe, int* went_on) {
  const int value[4] = {1, 2, 3, 4};
  put(ctx, Thread{}, dst, value, n, pe);
  *went_on = 1;
}

struct Outcome {
  abi::ErrorRecord record;
  bool went_on;
};

Outcome put_to(FakeJob& job, int* dst, std::size_t n, int pe) {
  int went_on = 0;
  run_block(1, put_and_go_on, job.context(), dst, n, pe, &went_on);
  return {job.error(), went_on != 0};
}

TEST(Put, ToAPeThatDoesNotExistIsRecordedAndEndsTheThread) {
  FakeJob job(2);
  const Outcome out = put_to(job, job.data<int>(), 4, 5);
  EXPECT_EQ(out.record.claimed, 2u);
  EXPECT_EQ(out.record.status, CHIMEX_ERR_INVALID);
  EXPECT_EQ(out.record.pe, 5);
  EXPECT_EQ(out.record.operation, static_cast<unsigned>(Operation::kPut));
  EXPECT_EQ(out.record.fault, static_cast<unsigned>(Fault::kPlace));
  EXPECT_EQ(out.record.address, reinterpret_cast<std::uint64_t>(job.data<int>()));
  EXPECT_EQ(out.record.expected, 16u);
  EXPECT_FALSE(out.went_on);
}

TEST(Put, ToAnAddressOutsideTheHeapIsRecorded) {
  FakeJob job(2);
  static int outside[4];
  const Outcome out = put_to(job, outside, 4, 1);
  EXPECT_EQ(out.record.status, CHIMEX_ERR_INVALID);
  EXPECT_EQ(out.record.address, reinterpret_cast<std::uint64_t>(outside));
}

TEST(Put, ToAPeerThatIsNotMappedIsUnreachable) {
  FakeJob job(2);
  job.unmap(1);
  const Outcome out = put_to(job, job.data<int>(), 4, 1);
  EXPECT_EQ(out.record.status, CHIMEX_ERR_UNREACHABLE);
  EXPECT_EQ(out.record.pe, 1);
}

TEST(Put, BeyondTheEndIsFoundInACheckedJob) {
  FakeJob job(2);
  job.context().pe.checked = 1;
  int* const last = reinterpret_cast<int*>(job.context().pe.heap + kFakeHeapBytes) - 2;
  EXPECT_EQ(put_to(job, last, 2, 1).record.claimed, 0u);
  const Outcome out = put_to(job, last, 3, 1);
  EXPECT_EQ(out.record.status, CHIMEX_ERR_INVALID);
  EXPECT_EQ(out.record.expected, 12u);
}

TEST(Put, OfNothingTouchesNothing) {
  FakeJob job(1);
  const Outcome out = put_to(job, nullptr, 0, 99);
  EXPECT_EQ(out.record.claimed, 0u);
  EXPECT_TRUE(out.went_on);
}

TEST(Failure, WithReturnPolicyGoesOn) {
  FakeJob job(1);
  job.context().pe.on_error = OnError::kReturn;
  EXPECT_TRUE(put_to(job, job.data<int>(), 1, 7).went_on);
}

TEST(Failure, KeepsTheFirst) {
  FakeJob job(1);
  job.context().pe.on_error = OnError::kReturn;
  put_to(job, job.data<int>(), 1, 7);
  EXPECT_EQ(put_to(job, job.data<int>(), 1, 8).record.pe, 7);
}

TEST(Failure, OnAHostThreadComesBack) {
  FakeJob job(1);
  int value = 3;
  put(job.context(), Thread{}, job.data<int>(), &value, 1, 9);
  EXPECT_EQ(job.error().pe, 9);
}

CHIME_KERNEL void signal_block(Context ctx, int* dst, const int* src, std::uint64_t* sig, int pe) {
  put_signal(ctx, Block{}, dst, src, 4, SignalUpdate{sig, 1}, pe);
}

// Otherwise the receiver would take the old bytes for the data.
TEST(PutSignal, OfDataThatCannotBePutSendsNoSignal) {
  FakeJob job(2);
  job.context().pe.on_error = OnError::kReturn;
  static int outside[4];
  run_block(64, signal_block, job.context(), outside, job.data<int>(0, 64),
            job.data<std::uint64_t>(0, 128), 1);
  EXPECT_EQ(job.error().address, reinterpret_cast<std::uint64_t>(outside));
  put_signal(job.context(), Thread{}, outside, job.data<int>(), 4,
             SignalUpdate{job.data<std::uint64_t>(0, 128), 1, SignalOp::kAdd}, 1);
  EXPECT_EQ(*job.data<std::uint64_t>(1, 128), 0u);
}

TEST(PutSignal, OfAnUnreachablePeEndsEveryMember) {
  FakeJob job(2);
  job.unmap(1);
  run_block(64, signal_block, job.context(), job.data<int>(), job.data<int>(0, 64),
            job.data<std::uint64_t>(0, 128), 1);
  EXPECT_EQ(job.error().status, CHIMEX_ERR_UNREACHABLE);
}

TEST(Amo, OnAMisalignedWordIsFoundInACheckedJob) {
  FakeJob job(1);
  job.context().pe.checked = 1;
  atomic_add(job.context(), reinterpret_cast<int*>(job.data<char>(0, 2)), 1, 0);
  EXPECT_EQ(job.error().status, CHIMEX_ERR_INVALID);
  EXPECT_EQ(job.error().expected, sizeof(int));
}

TEST(Amo, OfAJobWhoseOwnersMakeThemIsNotDoneByStores) {
  FakeJob job(2);
  job.context().pe.amo_path = Path::kProxy;
  atomic_add(job.context(), job.data<int>(), 1, 1);
  EXPECT_EQ(job.error().status, CHIMEX_ERR_UNREACHABLE);
  EXPECT_EQ(*job.data<int>(1), 0);
}

}  // namespace
}  // namespace chime::tests
