// Streams, above all the order between the null stream and others.
#include "driver.hpp"

namespace {

using namespace softgpu::tests;

class Streams : public Driver {
 protected:
  void SetUp() override {
    Driver::SetUp();
    NEED(cuStreamCreate(&blocking_, CU_STREAM_DEFAULT));
    NEED(cuStreamCreate(&other_, CU_STREAM_DEFAULT));
    NEED(cuStreamCreate(&free_, CU_STREAM_NON_BLOCKING));
  }
  void TearDown() override {
    for (CUstream stream : {blocking_, other_, free_}) cuStreamDestroy(stream);
    Driver::TearDown();
  }
  // A kernel in `first` that ends when gate_ is 1.
  void hold(CUstream first) {
    NEED(kernels_->launch("wait_word", {.stream = first}, gate_->address(), 1u));
  }
  void write(CUstream second) {
    NEED(kernels_->launch("set_word", {.stream = second}, out_->address(), 7u));
  }
  void expect_second_waits(CUstream first, CUstream second) {
    hold(first);
    write(second);
    EXPECT_TRUE(stays([&] { return out_->get() == 0; }));
    EXPECT_CU(cuStreamQuery(second), CUDA_ERROR_NOT_READY);
    gate_->set(1);
    NEED(cuStreamSynchronize(second));
    EXPECT_EQ(out_->get(), 7u);
  }
  void expect_second_runs(CUstream first, CUstream second) {
    hold(first);
    write(second);
    NEED(cuStreamSynchronize(second));
    EXPECT_EQ(out_->get(), 7u);
    EXPECT_CU(cuStreamQuery(first), CUDA_ERROR_NOT_READY);
    gate_->set(1);
    NEED(cuStreamSynchronize(first));
  }

  struct Context {
    Context() { cuInit(0), cuDevicePrimaryCtxRetain(&context, 0), cuCtxSetCurrent(context); }
    CUcontext context = nullptr;
  } before_members_;
  std::unique_ptr<Kernels> kernels_ = std::make_unique<Kernels>();
  std::unique_ptr<Word> gate_ = std::make_unique<Word>(), out_ = std::make_unique<Word>();
  CUstream blocking_ = nullptr, other_ = nullptr, free_ = nullptr;
};

// ---- The legacy null stream -------------------------------------------------------------------

TEST_F(Streams, ABlockingStreamWaitsForTheNullStream) { expect_second_waits(nullptr, blocking_); }
TEST_F(Streams, TheNullStreamWaitsForBlockingStreams) { expect_second_waits(blocking_, nullptr); }
TEST_F(Streams, TheNullStreamWaitsForTheSecondBlockingStreamToo) {
  expect_second_waits(other_, nullptr);
}
TEST_F(Streams, TheLegacyHandleIsTheNullStream) {
  expect_second_waits(blocking_, CU_STREAM_LEGACY);
}
TEST_F(Streams, TheThreadsStreamWaitsForTheNullStream) {
  expect_second_waits(nullptr, CU_STREAM_PER_THREAD);
}
TEST_F(Streams, TheNullStreamWaitsForTheThreadsStream) {
  expect_second_waits(CU_STREAM_PER_THREAD, nullptr);
}
TEST_F(Streams, ANonBlockingStreamWaitsForNone) { expect_second_runs(nullptr, free_); }
TEST_F(Streams, TheNullStreamWaitsForNoNonBlockingStream) { expect_second_runs(free_, nullptr); }
TEST_F(Streams, BlockingStreamsDoNotWaitForEachOther) { expect_second_runs(blocking_, other_); }

TEST_F(Streams, ABlockingStreamWaitsForOthersThroughTheNullStream) {
  hold(blocking_);
  NEED(kernels_->launch("set_word", {}, out_->address(), 3u));
  write(other_);
  EXPECT_TRUE(stays([&] { return out_->get() == 0; }));
  gate_->set(1);
  NEED(cuStreamSynchronize(other_));
  EXPECT_EQ(out_->get(), 7u);
}

// Two threads, as two PEs of one process may be: their null stream is one.
TEST_F(Streams, TwoThreadsShareTheNullStream) {
  hold(nullptr);
  std::thread([&] {
    EXPECT_CU(cuCtxSetCurrent(context_), CUDA_SUCCESS);
    write(nullptr);
    EXPECT_TRUE(stays([&] { return out_->get() == 0; }));
  }).join();
  gate_->set(1);
  NEED(cuCtxSynchronize());
  EXPECT_EQ(out_->get(), 7u);
}

TEST_F(Streams, ThreadsStreamsDoNotWaitForEachOther) {
  hold(CU_STREAM_PER_THREAD);
  std::thread([&] {
    EXPECT_CU(cuCtxSetCurrent(context_), CUDA_SUCCESS);
    write(CU_STREAM_PER_THREAD);
    EXPECT_CU(cuStreamSynchronize(CU_STREAM_PER_THREAD), CUDA_SUCCESS);
  }).join();
  EXPECT_EQ(out_->get(), 7u);
  gate_->set(1);
  NEED(cuCtxSynchronize());
}

TEST_F(Streams, TheNullStreamWaitsForADestroyedStreamsWork) {
  CUstream ended;
  NEED(cuStreamCreate(&ended, CU_STREAM_DEFAULT));
  hold(ended);
  NEED(cuStreamDestroy(ended));
  write(nullptr);
  EXPECT_TRUE(stays([&] { return out_->get() == 0; }));
  gate_->set(1);
  NEED(cuStreamSynchronize(nullptr));
  EXPECT_EQ(out_->get(), 7u);
}

TEST_F(Streams, CopiesAndHostFunctionsHaveTheirTurnToo) {
  hold(nullptr);
  NEED(cuLaunchHostFunc(
      blocking_, [](void* out) { static_cast<Word*>(out)->set(7); }, out_.get()));
  EXPECT_TRUE(stays([&] { return out_->get() == 0; }));
  gate_->set(1);
  NEED(cuStreamSynchronize(blocking_));
  EXPECT_EQ(out_->get(), 7u);
}

TEST_F(Streams, ContextSynchronizeWaitsForAll) {
  for (CUstream stream : {CUstream{nullptr}, blocking_, other_, free_}) {
    gate_->set(0);
    hold(stream);
    std::atomic<bool> ended{false};
    std::thread waiter([&] {
      EXPECT_CU(cuCtxSetCurrent(context_), CUDA_SUCCESS);
      EXPECT_CU(cuCtxSynchronize(), CUDA_SUCCESS);
      ended = true;
    });
    EXPECT_TRUE(stays([&] { return !ended; }));
    gate_->set(1);
    waiter.join();
  }
}

// ---- Wrong uses -------------------------------------------------------------------------------

TEST_F(Streams, HandlesOfWhatIsGoneAreInvalid) {
  CUstream stream;
  NEED(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
  NEED(cuStreamDestroy(stream));
  EXPECT_CU(cuStreamSynchronize(stream), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CU(cuStreamQuery(stream), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CU(cuStreamDestroy(stream), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CU(kernels_->launch("set_word", {.stream = stream}, out_->address(), 1u),
            CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(Streams, TheNullStreamCannotBeDestroyed) {
  EXPECT_CU(cuStreamDestroy(nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CU(cuStreamDestroy(CU_STREAM_LEGACY), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CU(cuStreamDestroy(CU_STREAM_PER_THREAD), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(Streams, UnknownFlagsAreInvalid) {
  CUstream stream;
  EXPECT_CU(cuStreamCreate(&stream, 2), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuStreamCreate(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
}

// devices_test.cpp has the answer of each call.
TEST_F(Streams, AStreamOfAnotherContextTakesNoWork) {
  CUcontext other;
  NEED(cuCtxCreate(&other, 0, 0));
  EXPECT_CU(cuLaunchHostFunc(
                blocking_, [](void*) {}, nullptr),
            CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CU(cuStreamSynchronize(blocking_), CUDA_SUCCESS);
  NEED(cuCtxDestroy(other));
}

TEST_F(Streams, FlagsAndContextAreReported) {
  unsigned flags = 99;
  NEED(cuStreamGetFlags(free_, &flags));
  EXPECT_EQ(flags, CU_STREAM_NON_BLOCKING);
  NEED(cuStreamGetFlags(nullptr, &flags));
  EXPECT_EQ(flags, CU_STREAM_DEFAULT);
  CUcontext of = nullptr;
  NEED(cuStreamGetCtx(blocking_, &of));
  EXPECT_EQ(of, context_);
  CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_ACTIVE;
  NEED(cuStreamIsCapturing(blocking_, &capture));
  EXPECT_EQ(capture, CU_STREAM_CAPTURE_STATUS_NONE);
}

TEST_F(Streams, HostFunctionsMayNotCallTheDriver) {
  CUresult seen = CUDA_SUCCESS;
  NEED(cuLaunchHostFunc(
      free_,
      [](void* result) {
        CUdeviceptr memory;
        *static_cast<CUresult*>(result) = cuMemAlloc(&memory, 4);
      },
      &seen));
  NEED(cuStreamSynchronize(free_));
  EXPECT_CU(seen, CUDA_ERROR_NOT_PERMITTED);
  EXPECT_CU(cuLaunchHostFunc(free_, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace
