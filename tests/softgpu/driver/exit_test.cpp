// Programs call the driver from exit handlers that run after the library's destructors, and leave
// while kernels run.
#include <cuda_runtime.h>

#include <cstdlib>

#include "driver.hpp"

namespace {

using namespace softgpu::tests;

CUdeviceptr memory = 0;

// Registered before the library is first used, and so run last.
void at_exit() {
  unsigned seen = 0;
  CUstream stream = nullptr;
  const bool all_well =
      cuMemcpyDtoH(&seen, memory, 4) == CUDA_ERROR_INVALID_CONTEXT &&
      cudaMemcpy(&seen, reinterpret_cast<void*>(memory), 4, cudaMemcpyDefault) == cudaSuccess &&
      seen == 0x07070707 && cuStreamCreate(&stream, 0) == CUDA_SUCCESS &&
      cuStreamDestroy(stream) == CUDA_SUCCESS && cuMemFree(memory) == CUDA_SUCCESS;
  std::_Exit(all_well ? 0 : 1);
}

void use_at_exit() {
  std::atexit(at_exit);
  cudaMalloc(reinterpret_cast<void**>(&memory), 4);
  cudaMemset(reinterpret_cast<void*>(memory), 7, 4);
  std::exit(3);
}

TEST(Exit, HandlersMayCallTheDriver) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(use_at_exit(), testing::ExitedWithCode(0), "");
}

TEST(Exit, AKernelThatRunsDelaysNoExit) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        CUcontext context;
        cuInit(0);
        cuDevicePrimaryCtxRetain(&context, 0);
        cuCtxSetCurrent(context);
        static Kernels kernels;
        static Word never;
        kernels.launch("wait_word", {}, never.address(), 1u);
        std::_Exit(0);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
