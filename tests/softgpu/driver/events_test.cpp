// Events: the work that they wait for, their times, wrong uses.
#include "driver.hpp"

namespace {

using namespace softgpu::tests;

class Events : public Driver {
 protected:
  void SetUp() override {
    Driver::SetUp();
    for (CUstream& stream : streams_) NEED(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (CUevent& event : events_) NEED(cuEventCreate(&event, CU_EVENT_DEFAULT));
  }
  void TearDown() override {
    for (CUevent event : events_) cuEventDestroy(event);
    for (CUstream stream : streams_) cuStreamDestroy(stream);
    Driver::TearDown();
  }
  CUstream streams_[2] = {};
  CUevent events_[2] = {};
};

TEST_F(Events, AStreamWaitsForAnEventOfAnother) {
  Kernels kernels;
  Word gate, out;
  NEED(kernels.launch("wait_word", {.stream = streams_[0]}, gate.address(), 1u));
  NEED(cuEventRecord(events_[0], streams_[0]));
  EXPECT_CU(cuEventQuery(events_[0]), CUDA_ERROR_NOT_READY);
  NEED(cuStreamWaitEvent(streams_[1], events_[0], 0));
  NEED(kernels.launch("set_word", {.stream = streams_[1]}, out.address(), 7u));
  EXPECT_TRUE(stays([&] { return out.get() == 0; }));
  gate.set(1);
  NEED(cuEventSynchronize(events_[0]));
  EXPECT_CU(cuEventQuery(events_[0]), CUDA_SUCCESS);
  NEED(cuStreamSynchronize(streams_[1]));
  EXPECT_EQ(out.get(), 7u);
}

// The wait is for the record that the event had then, not for a later one.
TEST_F(Events, RecordingAgainMovesNoWait) {
  Kernels kernels;
  Word first, second, begin, out;
  NEED(kernels.launch("wait_word", {.stream = streams_[0]}, first.address(), 1u));
  NEED(cuEventRecord(events_[0], streams_[0]));
  NEED(kernels.launch("wait_word", {.stream = streams_[1]}, begin.address(), 1u));
  NEED(cuStreamWaitEvent(streams_[1], events_[0], 0));
  NEED(kernels.launch("wait_word", {.stream = streams_[0]}, second.address(), 1u));
  NEED(cuEventRecord(events_[0], streams_[0]));
  begin.set(1);  // the wait begins when the event has its second record
  NEED(kernels.launch("set_word", {.stream = streams_[1]}, out.address(), 7u));
  first.set(1);
  NEED(cuStreamSynchronize(streams_[1]));
  EXPECT_EQ(out.get(), 7u);
  EXPECT_CU(cuEventQuery(events_[0]), CUDA_ERROR_NOT_READY);
  second.set(1);
  NEED(cuEventSynchronize(events_[0]));
}

// In the null stream a record waits for the blocking streams, as a kernel does.
TEST_F(Events, ARecordInTheNullStreamWaitsForBlockingStreams) {
  Kernels kernels;
  Word gate;
  CUstream blocking;
  NEED(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
  NEED(kernels.launch("wait_word", {.stream = blocking}, gate.address(), 1u));
  NEED(cuEventRecord(events_[0], nullptr));
  EXPECT_TRUE(stays([&] { return cuEventQuery(events_[0]) == CUDA_ERROR_NOT_READY; }));
  gate.set(1);
  NEED(cuEventSynchronize(events_[0]));
  NEED(cuStreamDestroy(blocking));
}

TEST_F(Events, OneThatWasNeverRecordedIsDone) {
  EXPECT_CU(cuEventQuery(events_[0]), CUDA_SUCCESS);
  EXPECT_CU(cuEventSynchronize(events_[0]), CUDA_SUCCESS);
  EXPECT_CU(cuStreamWaitEvent(streams_[0], events_[0], 0), CUDA_SUCCESS);
}

TEST_F(Events, TimesGoForward) {
  NEED(cuEventRecord(events_[0], streams_[0]));
  NEED(cuLaunchHostFunc(
      streams_[0], [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(5)); },
      nullptr));
  NEED(cuEventRecord(events_[1], streams_[0]));
  NEED(cuEventSynchronize(events_[1]));
  float ms = 0;
  NEED(cuEventElapsedTime(&ms, events_[0], events_[1]));
  EXPECT_GE(ms, 4.9f);
  NEED(cuEventElapsedTime(&ms, events_[1], events_[0]));
  EXPECT_LE(ms, -4.9f);
}

TEST_F(Events, TimesNeedRecordsThatAreReached) {
  float ms = 0;
  EXPECT_CU(cuEventElapsedTime(&ms, events_[0], events_[1]), CUDA_ERROR_INVALID_HANDLE);
  Word gate;
  NEED(cuEventRecord(events_[0], streams_[0]));
  NEED(cuStreamWaitValue32(streams_[0], gate.address(), 1, CU_STREAM_WAIT_VALUE_EQ));
  NEED(cuEventRecord(events_[1], streams_[0]));
  EXPECT_CU(cuEventElapsedTime(&ms, events_[0], events_[1]), CUDA_ERROR_NOT_READY);
  gate.set(1);
  NEED(cuStreamSynchronize(streams_[0]));
  EXPECT_CU(cuEventElapsedTime(&ms, events_[0], events_[1]), CUDA_SUCCESS);
}

TEST_F(Events, OneWithoutTimingHasNone) {
  CUevent event;
  NEED(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  NEED(cuEventRecord(event, streams_[0]));
  NEED(cuEventSynchronize(event));
  float ms = 0;
  EXPECT_CU(cuEventElapsedTime(&ms, event, event), CUDA_ERROR_INVALID_HANDLE);
  NEED(cuEventDestroy(event));
}

TEST_F(Events, HandlesOfWhatIsGoneAreInvalid) {
  CUevent event;
  NEED(cuEventCreate(&event, CU_EVENT_DEFAULT));
  NEED(cuEventDestroy(event));
  EXPECT_CU(cuEventDestroy(event), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CU(cuEventRecord(event, streams_[0]), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CU(cuEventQuery(event), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CU(cuEventSynchronize(event), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CU(cuStreamWaitEvent(streams_[0], event, 0), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CU(cuEventQuery(nullptr), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(Events, AnEventIsRecordedInItsOwnContext) {
  CUcontext other;
  NEED(cuCtxCreate(&other, 0, 0));
  EXPECT_CU(cuEventRecord(events_[0], nullptr), CUDA_ERROR_INVALID_HANDLE);
  NEED(cuCtxDestroy(other));
}

TEST_F(Events, FlagsAreChecked) {
  CUevent event;
  EXPECT_CU(cuEventCreate(&event, 64), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuEventCreate(&event, CU_EVENT_INTERPROCESS), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuEventCreate(&event, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING),
            CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_CU(cuStreamWaitEvent(streams_[0], events_[0], 1), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace
