// Captures: the calls that they forbid to each thread, and the effect of a forbidden call.
#include "driver.hpp"

namespace {

using namespace softgpu::tests;

class Captures : public Driver {
 protected:
  void SetUp() override {
    Driver::SetUp();
    NEED(cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING));
    NEED(cuEventCreate(&event_, CU_EVENT_DISABLE_TIMING));
  }
  void TearDown() override {
    cuEventDestroy(event_);
    cuStreamDestroy(stream_);
    Driver::TearDown();
  }
  void begin(CUstreamCaptureMode mode) { NEED(cuStreamBeginCapture(stream_, mode)); }
  CUresult end() {
    CUgraph graph = nullptr;
    return cuStreamEndCapture(stream_, &graph);
  }
  // In another thread with this mode.
  CUresult ask_elsewhere(CUstreamCaptureMode mode) {
    CUresult result = CUDA_ERROR_UNKNOWN;
    std::thread([&] {
      cuCtxSetCurrent(context_);
      EXPECT_CU(cuThreadExchangeStreamCaptureMode(&mode), CUDA_SUCCESS);
      EXPECT_EQ(mode, CU_STREAM_CAPTURE_MODE_GLOBAL) << "a thread's at first";
      result = cuEventQuery(event_);
    }).join();
    return result;
  }
  void expect_spoilt() {
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    EXPECT_CU(cuStreamIsCapturing(stream_, &status), CUDA_SUCCESS);
    EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_INVALIDATED);
    EXPECT_CU(end(), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  }

  CUstream stream_ = nullptr;
  CUevent event_ = nullptr;
};

TEST_F(Captures, AGlobalOneForbidsThreadsOfGlobalMode) {
  begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
  EXPECT_CU(ask_elsewhere(CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  expect_spoilt();
}

TEST_F(Captures, AGlobalOneForbidsNoOtherThread) {
  begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
  EXPECT_CU(ask_elsewhere(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), CUDA_SUCCESS);
  EXPECT_CU(ask_elsewhere(CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
  EXPECT_CU(end(), CUDA_SUCCESS);
}

TEST_F(Captures, AThreadsOneForbidsThatThreadAlone) {
  begin(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  EXPECT_CU(ask_elsewhere(CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
  EXPECT_CU(cuEventQuery(event_), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  expect_spoilt();
}

TEST_F(Captures, ARelaxedOneForbidsNothing) {
  begin(CU_STREAM_CAPTURE_MODE_RELAXED);
  EXPECT_CU(ask_elsewhere(CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
  EXPECT_CU(cuEventQuery(event_), CUDA_SUCCESS);
  EXPECT_CU(end(), CUDA_SUCCESS);
}

TEST_F(Captures, WhatMayAllocateFreeOrWaitIsForbidden) {
  CUdeviceptr memory = 0;
  void* pinned = nullptr;
  CUmodule module = nullptr;
  int host = 0;
  CUdeviceptr kept = 0;
  NEED(cuMemAlloc(&kept, 4096));
  const std::function<CUresult()> calls[] = {
      [&] { return cuMemAlloc(&memory, 4096); },
      [&] { return cuMemFree(kept); },
      [&] { return cuMemHostAlloc(&pinned, 4096, 0); },
      [&] { return cuModuleLoadData(&module, kKernels); },
      [&] { return cuMemcpyHtoD(kept, &host, sizeof host); },
      [&] { return cuMemsetD8(kept, 0, 1); },
      [&] { return cuStreamSynchronize(CU_STREAM_PER_THREAD); },
      [&] { return cuStreamQuery(CU_STREAM_PER_THREAD); },
      [&] { return cuEventSynchronize(event_); },
      [&] { return cuCtxSynchronize(); },
  };
  for (const auto& call : calls) {
    begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
    EXPECT_CU(call(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    expect_spoilt();
  }
  EXPECT_CU(cuMemFree(kept), CUDA_SUCCESS);
}

TEST_F(Captures, NoModePermitsToWaitForTheStreamItself) {
  begin(CU_STREAM_CAPTURE_MODE_RELAXED);
  EXPECT_CU(cuStreamSynchronize(stream_), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  expect_spoilt();
}

TEST_F(Captures, WrongUsesAreRefused) {
  EXPECT_CU(end(), CUDA_ERROR_ILLEGAL_STATE);
  EXPECT_CU(cuStreamBeginCapture(CU_STREAM_LEGACY, CU_STREAM_CAPTURE_MODE_GLOBAL),
            CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  CUstreamCaptureMode none = static_cast<CUstreamCaptureMode>(3);
  EXPECT_CU(cuStreamBeginCapture(stream_, none), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuThreadExchangeStreamCaptureMode(&none), CUDA_ERROR_INVALID_VALUE);
  begin(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  EXPECT_CU(cuStreamBeginCapture(stream_, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_ERROR_ILLEGAL_STATE);
  EXPECT_CU(cuEventRecord(event_, stream_), CUDA_ERROR_NOT_SUPPORTED) << "there are no graphs";
  std::thread([&] {
    cuCtxSetCurrent(context_);
    EXPECT_CU(end(), CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
  }).join();
  EXPECT_CU(end(), CUDA_SUCCESS);
}

// With its stream, which may be destroyed with its context.
TEST_F(Captures, AreGoneWithTheirContext) {
  CUcontext other;
  NEED(cuCtxCreate(&other, 0, 0));
  CUstream stream;
  NEED(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  NEED(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  NEED(cuCtxDestroy(other));
  EXPECT_CU(cuEventQuery(event_), CUDA_SUCCESS);
  EXPECT_CU(ask_elsewhere(CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
}

}  // namespace
