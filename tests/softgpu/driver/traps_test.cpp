// A trap in a kernel loses its context: every call fails from then on, the process lives.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

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

// stderr as a pipe that is full: what is written there waits for a reader.
class FullStderr {
 public:
  FullStderr() {
    if (::pipe2(ends_, O_CLOEXEC) != 0) ADD_FAILURE() << "no pipe: " << std::strerror(errno);
    ::fcntl(ends_[1], F_SETFL, O_NONBLOCK);
    const std::vector<char> page(4096, '.');
    while (::write(ends_[1], page.data(), page.size()) > 0) ++pages_;
    ::fcntl(ends_[1], F_SETFL, 0);
    ::dup2(ends_[1], STDERR_FILENO);
  }
  ~FullStderr() {
    ::dup2(before_, STDERR_FILENO);
    for (const int fd : {before_, ends_[0], ends_[1]}) ::close(fd);
  }
  FullStderr(const FullStderr&) = delete;

  // Takes what filled it out, and returns the line behind.
  std::string line() {
    std::string text(pages_ * 4096, ' ');
    for (std::size_t done = 0; done < text.size();) done += take(&text[done], text.size() - done);
    text.clear();
    for (char c = 0; c != '\n'; text += c) take(&c, 1);
    return text;
  }

 private:
  std::size_t take(char* to, std::size_t bytes) {
    return static_cast<std::size_t>(std::max<ssize_t>(::read(ends_[0], to, bytes), 0));
  }

  const int before_ = ::dup(STDERR_FILENO);
  int ends_[2] = {-1, -1};
  std::size_t pages_ = 0;
};

// A program that ends at the first error still leaves the cause behind.
TEST_F(Traps, NoCallFailsBeforeTheCauseIsOnStderr) {
  Kernels kernels;
  FullStderr full;
  NEED(kernels.launch("traps", {}));
  for (int looks = 0; looks < 100 && !HasFailure(); ++looks) {
    EXPECT_CU(cuStreamQuery(nullptr), CUDA_ERROR_NOT_READY);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  EXPECT_NE(full.line().find("kernel traps: thread (0,0,0)"), std::string::npos);
  EXPECT_CU(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
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
