// CHIME_SOFTGPU_DEFAULT_STREAM=thread: each thread has its own null stream.
#include "driver.hpp"

namespace {

using namespace softgpu::tests;

using ThreadStreams = Driver;

TEST_F(ThreadStreams, NullStreamsOfThreadsDoNotWaitForEachOther) {
  Kernels kernels;
  Word gate, out;
  NEED(kernels.launch("wait_word", {}, gate.address(), 1u));
  std::thread([&] {
    EXPECT_CU(cuCtxSetCurrent(context_), CUDA_SUCCESS);
    EXPECT_CU(kernels.launch("set_word", {}, out.address(), 7u), CUDA_SUCCESS);
    EXPECT_CU(cuStreamSynchronize(nullptr), CUDA_SUCCESS);
    EXPECT_EQ(out.get(), 7u);
  }).join();
  EXPECT_CU(cuStreamQuery(nullptr), CUDA_ERROR_NOT_READY);
  gate.set(1);
  NEED(cuStreamSynchronize(nullptr));
}

TEST_F(ThreadStreams, TheLegacyHandleStillNamesTheOneOfAll) {
  Kernels kernels;
  Word gate, out;
  NEED(kernels.launch("wait_word", {.stream = CU_STREAM_LEGACY}, gate.address(), 1u));
  std::thread([&] {
    EXPECT_CU(cuCtxSetCurrent(context_), CUDA_SUCCESS);
    EXPECT_CU(kernels.launch("set_word", {}, out.address(), 7u), CUDA_SUCCESS);
    EXPECT_TRUE(stays([&] { return out.get() == 0; }));
  }).join();
  gate.set(1);
  NEED(cuCtxSynchronize());
  EXPECT_EQ(out.get(), 7u);
}

}  // namespace
