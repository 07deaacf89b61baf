// CUDA_MODULE_LOADING=LAZY: when a kernel counts as loaded, and that its first launch waits for all
// that runs.
#include <atomic>
#include <chrono>
#include <future>

#include "driver.hpp"

namespace {

using namespace softgpu::tests;
using namespace std::chrono_literals;

using LateLoading = Driver;

bool is_loaded(CUfunction function) {
  CUfunctionLoadingState state{};
  EXPECT_CU(cuFuncIsLoaded(&state, function), CUDA_SUCCESS);
  return state == CU_FUNCTION_LOADING_STATE_LOADED;
}

TEST_F(LateLoading, AKernelIsLoadedByItsFirstLaunchOrAQuery) {
  Kernels kernels;
  CUmoduleLoadingMode mode{};
  NEED(cuModuleGetLoadingMode(&mode));
  EXPECT_EQ(mode, CU_MODULE_LAZY_LOADING);
  EXPECT_FALSE(is_loaded(kernels["bounded"]));
  NEED(kernels.launch("bounded", {}));
  EXPECT_TRUE(is_loaded(kernels["bounded"]));
  EXPECT_FALSE(is_loaded(kernels["traps"]));
  NEED(cuFuncLoad(kernels["traps"]));
  EXPECT_TRUE(is_loaded(kernels["traps"]));
  int registers = 0;
  NEED(cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, kernels["misaligned"]));
  EXPECT_TRUE(is_loaded(kernels["misaligned"]));
}

TEST_F(LateLoading, AModuleNamesItsKernels) {
  Kernels kernels;
  unsigned count = 0;
  NEED(cuModuleGetFunctionCount(&count, kernels.module()));
  std::vector<CUfunction> all(count + 1, nullptr);
  NEED(cuModuleEnumerateFunctions(all.data(), count, kernels.module()));
  EXPECT_EQ(all.back(), nullptr);
  all.pop_back();
  for (const char* name : {"set_word", "bounded", "traps"})
    EXPECT_EQ(std::count(all.begin(), all.end(), kernels[name]), 1) << name;
  std::vector<CUfunction> one(2, nullptr);
  NEED(cuModuleEnumerateFunctions(one.data(), 1, kernels.module()));
  EXPECT_EQ(one[0], all[0]);
  EXPECT_EQ(one[1], nullptr);
  EXPECT_CU(cuModuleGetFunctionCount(nullptr, kernels.module()), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuModuleEnumerateFunctions(nullptr, 1, kernels.module()), CUDA_ERROR_INVALID_VALUE);
}

// The two streams are independent.
TEST_F(LateLoading, TheFirstLaunchWaitsForAllThatRuns) {
  static std::atomic<bool> may_end;
  Kernels kernels;
  const auto expect_launch_to_wait = [&](bool waits) {
    may_end = false;
    CUstream busy, other;
    NEED(cuStreamCreate(&busy, CU_STREAM_NON_BLOCKING));
    NEED(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    NEED(cuLaunchHostFunc(
        busy,
        [](void*) {
          for (int i = 0; !may_end && i < 100'000; ++i) std::this_thread::sleep_for(1ms);
        },
        nullptr));
    CUcontext context = nullptr;
    NEED(cuCtxGetCurrent(&context));
    auto launched = std::async(std::launch::async, [&] {
      NEED(cuCtxSetCurrent(context));
      NEED(kernels.launch("bounded", {.stream = other}));
    });
    if (waits)
      EXPECT_EQ(launched.wait_for(200ms), std::future_status::timeout);
    else
      EXPECT_EQ(launched.wait_for(60s), std::future_status::ready);
    may_end = true;
    launched.get();
    NEED(cuStreamSynchronize(other));
    NEED(cuStreamDestroy(busy));
    NEED(cuStreamDestroy(other));
  };
  expect_launch_to_wait(true);
  expect_launch_to_wait(false);
}

}  // namespace
