// Launches: which run, and which configurations are valid.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "chime/device/simt/launch/options.hpp"
#include "driver.hpp"

namespace {

using namespace softgpu::tests;

unsigned number_of(const char* variable, unsigned otherwise) {
  const char* const value = std::getenv(variable);
  return value ? static_cast<unsigned>(std::atoi(value)) : otherwise;
}

class Launches : public Driver {
 protected:
  CUresult launch(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                  unsigned bz, unsigned shared = 0) {
    return cuLaunchKernel(f, gx, gy, gz, bx, by, bz, shared, nullptr, nullptr, nullptr);
  }
};

TEST_F(Launches, EveryThreadOfEveryBlockRuns) {
  Kernels kernels;
  Word sum;
  NEED(kernels.launch("count_threads", {.grid = 7, .block = 130}, sum.address()));
  NEED(cuCtxSynchronize());
  EXPECT_EQ(sum.get(), 7u * 130u);
}

TEST_F(Launches, SharedVariablesHaveRoom) {
  Kernels kernels;
  Word out;
  NEED(kernels.launch("has_shared", {.block = 1, .shared = 512}, out.address()));
  NEED(cuCtxSynchronize());
  EXPECT_EQ(out.get(), 77u);
}

TEST_F(Launches, ArgumentsMayComeInOneBuffer) {
  Kernels kernels;
  Word out;
  struct {
    CUdeviceptr to;
    unsigned value;
  } arguments{out.address(), 9};
  std::size_t bytes = 12;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &arguments, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                   CU_LAUNCH_PARAM_END};
  NEED(cuLaunchKernel(kernels["set_word"], 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra));
  NEED(cuCtxSynchronize());
  EXPECT_EQ(out.get(), 9u);
  bytes = 8;
  EXPECT_CU(cuLaunchKernel(kernels["set_word"], 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Launches, MissingArgumentsAreInvalid) {
  Kernels kernels;
  EXPECT_CU(launch(kernels["set_word"], 1, 1, 1, 1, 1, 1), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Launches, ImpossibleDimensionsAreInvalid) {
  Kernels kernels;
  const CUfunction f = kernels["traps"];
  EXPECT_CU(launch(f, 0, 1, 1, 1, 1, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(launch(f, 1, 0, 1, 1, 1, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(launch(f, 1, 65536, 1, 1, 1, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(launch(f, 1, 1, 65536, 1, 1, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(launch(f, 1, 1, 1, 0, 1, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(launch(f, 1, 1, 1, 1025, 1, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(launch(f, 1, 1, 1, 1, 1, 65), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(launch(f, 1, 1, 1, 64, 32, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuCtxSynchronize(), CUDA_SUCCESS);  // nothing has run
}

TEST_F(Launches, LaunchBoundsBindTheBlock) {
  Kernels kernels;
  EXPECT_CU(launch(kernels["bounded"], 1, 1, 1, 64, 1, 1), CUDA_SUCCESS);
  EXPECT_CU(launch(kernels["bounded"], 1, 1, 1, 65, 1, 1), CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
  int threads = 0;
  NEED(cuFuncGetAttribute(&threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kernels["bounded"]));
  EXPECT_EQ(threads, 64);
}

// 48 KiB of shared memory in all, more where the kernel's attribute says so.
TEST_F(Launches, MoreSharedMemoryIsToBeAskedFor) {
  Kernels kernels;
  Word out;
  const CUfunction f = kernels["has_shared"];
  constexpr unsigned kFree = 48 * 1024 - 1024;
  int bytes = 0;
  NEED(cuFuncGetAttribute(&bytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, f));
  EXPECT_EQ(bytes, 1024);
  NEED(cuFuncGetAttribute(&bytes, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, f));
  EXPECT_EQ(bytes, static_cast<int>(kFree));
  EXPECT_CU(kernels.launch("has_shared", {.shared = kFree}, out.address()), CUDA_SUCCESS);
  EXPECT_CU(kernels.launch("has_shared", {.shared = kFree + 1}, out.address()),
            CUDA_ERROR_INVALID_VALUE);
  NEED(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100 * 1024));
  EXPECT_CU(kernels.launch("has_shared", {.shared = 100 * 1024}, out.address()), CUDA_SUCCESS);
  EXPECT_CU(
      cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 227 * 1024 - 1023),
      CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_NUM_REGS, 8), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Launches, ACooperativeGridFitsTheOccupancy) {
  Kernels kernels;
  Word sum;
  int per_multiprocessor = 0, multiprocessors = 0;
  const CUfunction f = kernels["count_threads"];
  NEED(cuOccupancyMaxActiveBlocksPerMultiprocessor(&per_multiprocessor, f, 32, 0));
  NEED(cuDeviceGetAttribute(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
  const auto most = static_cast<unsigned>(per_multiprocessor * multiprocessors);
  ASSERT_GE(most, 2u);
  CUdeviceptr address = sum.address();
  void* arguments[] = {&address};
  EXPECT_CU(cuLaunchCooperativeKernel(f, most, 1, 1, 32, 1, 1, 0, nullptr, arguments),
            CUDA_SUCCESS);
  EXPECT_CU(cuLaunchCooperativeKernel(f, most + 1, 1, 1, 32, 1, 1, 0, nullptr, arguments),
            CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
  NEED(cuCtxSynchronize());
  EXPECT_EQ(sum.get(), most * 32);
}

// A request of a program for a large GPU on a small machine: the numbers and the variables are
// printed unasked, and the grid runs with these settings.
TEST_F(Launches, ACooperativeGridThatIsTooLargeIsReportedWithTheLimits) {
  Kernels kernels;
  Word sum;
  const unsigned multiprocessors = [] {
    int n = 0;
    EXPECT_CU(cuDeviceGetAttribute(&n, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0), CUDA_SUCCESS);
    return static_cast<unsigned>(n);
  }();
  CUdeviceptr address = sum.address();
  void* arguments[] = {&address};
  const auto refused = [&](unsigned blocks) {
    testing::internal::CaptureStderr();
    EXPECT_CU(cuLaunchCooperativeKernel(kernels["count_threads"], blocks, 1, 1, 512, 1, 1, 0,
                                        nullptr, arguments),
              CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
    return testing::internal::GetCapturedStderr();
  };
  const unsigned each = number_of("CHIME_SOFTGPU_BLOCKS", 2);
  const unsigned executor = chime::simt::options().resident_blocks / multiprocessors;
  const unsigned most = std::min(each, executor) * multiprocessors;
  const auto contains = [](const std::string& text, const std::string& part) {
    return text.find(part) != text.npos;
  };

  std::string told = refused(most + 1);
  EXPECT_TRUE(contains(told, "launch of " + std::to_string(most + 1) + " blocks of count_threads"))
      << told;
  EXPECT_TRUE(contains(told, std::to_string(most) + " can be resident")) << told;
  EXPECT_EQ(contains(told, "CHIME_SOFTGPU_BLOCKS="), each <= executor) << told;
  EXPECT_EQ(contains(told, "CHIME_SIMT_RESIDENT="), executor <= each) << told;

  const unsigned both = std::max(each, executor) + 1;
  told = refused(both * multiprocessors);
  EXPECT_TRUE(contains(told, " CHIME_SOFTGPU_BLOCKS=" + std::to_string(both) +
                                 " CHIME_SIMT_RESIDENT=" + std::to_string(both * multiprocessors)))
      << told;
}

TEST_F(Launches, OccupancyIsNoneWhereABlockDoesNotFit) {
  Kernels kernels;
  int blocks = 99;
  NEED(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernels["bounded"], 65, 0));
  EXPECT_EQ(blocks, 0);
  NEED(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernels["bounded"], 64, 1 << 20));
  EXPECT_EQ(blocks, 0);
  EXPECT_CU(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernels["bounded"], 0, 0),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Launches, AFunctionRunsInItsOwnContext) {
  Kernels kernels;
  const CUfunction f = kernels["bounded"];
  CUcontext other;
  NEED(cuCtxCreate(&other, 0, 0));
  EXPECT_CU(launch(f, 1, 1, 1, 1, 1, 1), CUDA_ERROR_INVALID_HANDLE);
  NEED(cuCtxDestroy(other));
  EXPECT_CU(launch(nullptr, 1, 1, 1, 1, 1, 1), CUDA_ERROR_INVALID_HANDLE);
}

// A kernel that is queued keeps its module.
TEST_F(Launches, UnloadingAModuleLetsItsKernelsEnd) {
  auto kernels = std::make_unique<Kernels>();
  Word out;
  NEED(kernels->launch("set_word", {}, out.address(), 7u));
  const CUfunction f = (*kernels)["set_word"];
  kernels.reset();
  EXPECT_EQ(out.get(), 7u);
  EXPECT_CU(launch(f, 1, 1, 1, 1, 1, 1), CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace
