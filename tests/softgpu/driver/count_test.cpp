// CHIME_SOFTGPU_COUNT: a line for each launch, complete when the stream was synchronized, with the
// kind of memory that the driver finds at each address.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "driver.hpp"

namespace {

using namespace softgpu::tests;

std::vector<std::string> lines() {
  std::ifstream file(std::getenv("CHIME_SOFTGPU_COUNT"));
  std::vector<std::string> all;
  for (std::string line; std::getline(file, line);) all.push_back(line);
  return all;
}

class Count : public Driver {
 protected:
  void SetUp() override {
    Driver::SetUp();
    ::unlink(std::getenv("CHIME_SOFTGPU_COUNT"));
  }
  // The reported stores of set_word.
  std::string stored_to(CUdeviceptr address) {
    Kernels kernels;
    EXPECT_CU(kernels.launch("set_word", {}, address, 7u), CUDA_SUCCESS);
    EXPECT_CU(cuStreamSynchronize(nullptr), CUDA_SUCCESS);
    const std::string line = lines().empty() ? "" : lines().back();
    const std::string store = "\"st.release.sys.global.u32\": {\"executed\": 1, ";
    const std::size_t at = line.find(store);
    if (at == std::string::npos) return line;
    return line.substr(at + store.size(), line.find('}', at) - at - store.size());
  }
};

TEST_F(Count, DistinguishesDevicePinnedRegisteredAndOtherMemory) {
  CUdeviceptr device = 0;
  NEED(cuMemAlloc(&device, 4));
  EXPECT_EQ(stored_to(device), "\"device\": 1");
  const Word pinned;
  EXPECT_EQ(stored_to(pinned.address()), "\"host\": 1");
  constexpr std::size_t kPage = 4096;
  void* const pages =
      ::mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  const auto page = reinterpret_cast<CUdeviceptr>(pages);
  EXPECT_EQ(stored_to(page), "\"other\": 1");
  NEED(cuMemHostRegister(pages, kPage, CU_MEMHOSTREGISTER_DEVICEMAP));
  EXPECT_EQ(stored_to(page), "\"host\": 1");
  NEED(cuMemHostUnregister(pages));
  NEED(cuMemFree(device));
}

TEST_F(Count, AddsTheThreadsOfALaunchUp) {
  Kernels kernels;
  const Word sum;
  NEED(kernels.launch("count_threads", {.grid = 3, .block = 20}, sum.address()));
  NEED(cuCtxSynchronize());
  ASSERT_EQ(lines().size(), 1u);
  const std::string line = lines()[0],
                    process = "{\"process\": " + std::to_string(::getpid()) + ", ";
  EXPECT_EQ(
      line,
      process +
          "\"kernel\": \"count_threads\", \"blocks\": 3, \"threads\": 20, \"instructions\": 240, "
          "\"forms\": {\"ld.param.u64\": {\"executed\": 60, \"param\": 60}, "
          "\"cvta.to.global.u64\": {\"executed\": 60}, "
          "\"atom.relaxed.sys.global.add.u32\": {\"executed\": 60, \"host\": 60}, "
          "\"ret\": {\"executed\": 60}}}");
  EXPECT_EQ(sum.get(), 60u);
}

// The counts of a kernel that trapped are written, too, but no call can wait for them.
TEST_F(Count, CountsALaunchThatFailed) {
  Kernels kernels;
  NEED(kernels.launch("traps", {}));
  EXPECT_CU(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
  for (int i = 0; i < 500 && lines().empty(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  ASSERT_EQ(lines().size(), 1u);
  EXPECT_NE(lines()[0].find("\"instructions\": 1, \"forms\": {\"trap\": {\"executed\": 1}}"),
            std::string::npos)
      << lines()[0];
}

}  // namespace
