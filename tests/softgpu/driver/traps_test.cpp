// A trap in a kernel loses its context: every call fails from then on, the process lives.
#include "chime/device/simt/faults/sanitizers.hpp"
#include "driver.hpp"

namespace {

using namespace softgpu::tests;

class Traps : public testing::Test {
 protected:
  void SetUp() override {
    NEED(cuInit(0));
    NEED(cuCtxCreate(&context_, 0, 0));
  }
  void TearDown() override { EXPECT_CU(cuCtxDestroy(context_), CUDA_SUCCESS); }
  CUcontext context_ = nullptr;
};

TEST_F(Traps, EveryCallFailsAfterOne) {
  Kernels kernels;
  Word word;
  CUstream stream;
  CUevent event;
  CUdeviceptr memory;
  NEED(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  NEED(cuEventCreate(&event, CU_EVENT_DEFAULT));
  NEED(kernels.launch("traps", {}));
  EXPECT_CU(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_CU(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_CU(cuStreamSynchronize(stream), CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_CU(cuStreamQuery(nullptr), CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_CU(cuEventRecord(event, stream), CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_CU(cuMemAlloc(&memory, 4), CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_CU(cuMemcpy(word.address(), word.address(), 4), CUDA_ERROR_LAUNCH_FAILED);
  void* arguments[] = {nullptr};
  EXPECT_CU(cuLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr),
            CUDA_ERROR_LAUNCH_FAILED);
}

TEST_F(Traps, WhatWasQueuedBehindItDoesNotRun) {
  Kernels kernels;
  static Word out, gate;  // longer than the context
  NEED(kernels.launch("wait_word", {}, gate.address(), 1u));
  NEED(kernels.launch("traps", {.block = 40}));
  NEED(kernels.launch("set_word", {}, out.address(), 7u));
  NEED(cuLaunchHostFunc(
      nullptr, [](void* word) { static_cast<Word*>(word)->set(8); }, &out));
  gate.set(1);
  EXPECT_CU(cuStreamSynchronize(nullptr), CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_EQ(out.get(), 0u);
}

TEST_F(Traps, AnotherContextGoesOn) {
  {
    Kernels kernels;
    NEED(kernels.launch("traps", {}));
    EXPECT_CU(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
  }
  CUcontext other;
  NEED(cuCtxCreate(&other, 0, 0));
  {
    Kernels kernels;
    Word out;
    NEED(kernels.launch("set_word", {}, out.address(), 7u));
    NEED(cuCtxSynchronize());
    EXPECT_EQ(out.get(), 7u);
  }
  NEED(cuCtxDestroy(other));
}

// Whichever context is current, though the event itself was reached.
TEST_F(Traps, AnEventReportsTheFailureOfItsOwnContext) {
  CUevent event;
  NEED(cuEventCreate(&event, CU_EVENT_DEFAULT));
  NEED(cuEventRecord(event, nullptr));
  {
    Kernels kernels;
    NEED(kernels.launch("traps", {}));
    EXPECT_CU(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
  }
  CUcontext other;
  NEED(cuCtxCreate(&other, 0, 0));
  EXPECT_CU(cuEventQuery(event), CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_CU(cuEventSynchronize(event), CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_CU(cuCtxSynchronize(), CUDA_SUCCESS);
  NEED(cuCtxDestroy(other));
}

TEST_F(Traps, StderrNamesKernelThreadAndBlock) {
  Kernels kernels;
  testing::internal::CaptureStderr();
  NEED(kernels.launch("traps", {}));
  EXPECT_CU(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
  const std::string told = testing::internal::GetCapturedStderr();
  EXPECT_NE(told.find("kernel traps: thread (0,0,0) of block (0,0,0): trap"), std::string::npos)
      << told;
}

TEST_F(Traps, AMisalignedAddressIsOneOfItsOwnName) {
  Kernels kernels;
  static Word word;
  testing::internal::CaptureStderr();
  NEED(kernels.launch("misaligned", {}, word.address()));
  EXPECT_CU(cuCtxSynchronize(), CUDA_ERROR_MISALIGNED_ADDRESS);
  const std::string told = testing::internal::GetCapturedStderr();
  char address[24];
  std::snprintf(address, sizeof address, "%#llx", word.address() + 2);
  for (const std::string& part :
       {std::string("kernel misaligned: thread (0,0,0) of block (0,0,0)"), std::string(address),
        std::string("PTX line "), std::string(": ld.u32 %r1, [%rd1+2];")})
    EXPECT_NE(told.find(part), told.npos) << part << " in: " << told;
}

// A memory fault ends the process, with a report: a stand-in reports the place, a GPU would not.
TEST_F(Traps, AReportOfTheExecutorNamesTheKernel) {
  if (chime::simt::kAsan || chime::simt::kTsan) GTEST_SKIP() << "a sanitizer reports faults itself";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  Kernels kernels;
  EXPECT_DEATH(
      {
        kernels.launch("set_word", {}, CUdeviceptr{0}, 7u);
        cuCtxSynchronize();
      },
      "kernel set_word");
}

}  // namespace
