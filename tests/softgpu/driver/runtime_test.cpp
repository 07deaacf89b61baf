// The runtime's calls on top of the driver's, and the registration that LLVM writes into objects,
// made by hand here.
#include <cuda_runtime.h>

#include "driver.hpp"

inline void PrintTo(cudaError_t error, std::ostream* out) { *out << cudaGetErrorName(error); }

extern "C" {
void** __cudaRegisterFatBinary(void* wrapper);
void __cudaRegisterFatBinaryEnd(void** handle);
void __cudaUnregisterFatBinary(void** handle);
int __cudaRegisterFunction(void** handle, const char* stub, char*, const char* name, int, void*,
                           void*, void*, void*, int*);
void __cudaRegisterVar(void** handle, char* shadow, char*, const char* name, int, std::size_t, int,
                       int);
}

namespace {

using namespace softgpu::tests;

// The host's symbols of kernels and variables: only their addresses count.
char set_word_stub, traps_stub, has_shared_stub, no_kernel;
std::uint64_t counter_shadow;

class Runtime : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    static struct {
      int magic = 0x466243b1, version = 1;
      const void* image = kKernels;
      void* unused = nullptr;
    } wrapper;
    handle_ = __cudaRegisterFatBinary(&wrapper);
    const auto kernel = [](const char* stub, const char* name) {
      __cudaRegisterFunction(handle_, stub, nullptr, name, -1, nullptr, nullptr, nullptr, nullptr,
                             nullptr);
    };
    kernel(&set_word_stub, "set_word");
    kernel(&traps_stub, "traps");
    kernel(&has_shared_stub, "has_shared");
    __cudaRegisterVar(handle_, reinterpret_cast<char*>(&counter_shadow), nullptr, "counter", 0, 8,
                      0, 0);
    __cudaRegisterFatBinaryEnd(handle_);
  }
  static void TearDownTestSuite() { __cudaUnregisterFatBinary(handle_); }
  static void** handle_;
};
void** Runtime::handle_ = nullptr;

TEST_F(Runtime, MakesItsContextByItself) {
  std::thread([] {
    int* memory = nullptr;
    EXPECT_EQ(cudaMalloc(&memory, 4), cudaSuccess);
    int device = -1;
    EXPECT_EQ(cudaGetDevice(&device), cudaSuccess);
    EXPECT_EQ(device, 0);
    EXPECT_EQ(cudaFree(memory), cudaSuccess);
  }).join();
}

TEST_F(Runtime, CallsKernelsByTheHostsName) {
  unsigned* word = nullptr;
  unsigned value = 7, seen = 0;
  ASSERT_EQ(cudaMalloc(&word, 4), cudaSuccess);
  void* arguments[] = {&word, &value};
  ASSERT_EQ(cudaLaunchKernel(&set_word_stub, dim3(1), dim3(1), arguments, 0, nullptr), cudaSuccess);
  ASSERT_EQ(cudaMemcpy(&seen, word, 4, cudaMemcpyDefault), cudaSuccess);
  EXPECT_EQ(seen, 7u);
  cudaLaunchConfig_t config = {};
  cudaLaunchAttribute cooperative = {};
  cooperative.id = cudaLaunchAttributeCooperative;
  cooperative.val.cooperative = 1;
  config.attrs = &cooperative;
  config.numAttrs = 1;
  value = 8;
  ASSERT_EQ(cudaLaunchKernelExC(&config, &set_word_stub, arguments), cudaSuccess);
  ASSERT_EQ(cudaMemcpy(&seen, word, 4, cudaMemcpyDefault), cudaSuccess);
  EXPECT_EQ(seen, 8u);
  const cudaLaunchConfig_t too_large = {dim3(100000), dim3(1), 0, nullptr, &cooperative, 1};
  EXPECT_EQ(cudaLaunchKernelExC(&too_large, &set_word_stub, arguments),
            cudaErrorCooperativeLaunchTooLarge);
  EXPECT_EQ(cudaFree(word), cudaSuccess);
}

TEST_F(Runtime, AnErrorIsTheThreadsLastOneUntilItIsAskedFor) {
  cudaGetLastError();
  EXPECT_EQ(cudaLaunchKernel(&no_kernel, dim3(1), dim3(1), nullptr, 0, nullptr),
            cudaErrorInvalidDeviceFunction);
  std::thread([] { EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess); }).join();
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_F(Runtime, ConfigurationsAreChecked) {
  void* arguments[] = {nullptr};
  const auto launch = [&](dim3 grid, dim3 block) {
    return cudaLaunchKernel(&traps_stub, grid, block, arguments, 0, nullptr);
  };
  EXPECT_EQ(launch(dim3(0), dim3(1)), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch(dim3(1), dim3(1025)), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch(dim3(1, 65536), dim3(1)), cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  cudaGetLastError();
}

TEST_F(Runtime, VariablesAreFoundByTheHostsAddress) {
  void* address = nullptr;
  std::size_t bytes = 0;
  ASSERT_EQ(cudaGetSymbolAddress(&address, counter_shadow), cudaSuccess);
  ASSERT_EQ(cudaGetSymbolSize(&bytes, counter_shadow), cudaSuccess);
  EXPECT_EQ(bytes, 8u);
  std::uint64_t value = 12, seen = 0;
  ASSERT_EQ(cudaMemcpyToSymbol(counter_shadow, &value, 8), cudaSuccess);
  ASSERT_EQ(cudaMemcpyFromSymbol(&seen, counter_shadow, 8), cudaSuccess);
  EXPECT_EQ(seen, 12u);
  EXPECT_EQ(cudaMemcpyToSymbol(counter_shadow, &value, 8, 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyToSymbol(counter_shadow, &value, 8, 0, cudaMemcpyDeviceToHost),
            cudaErrorInvalidMemcpyDirection);
  EXPECT_EQ(cudaGetSymbolAddress(&address, no_kernel), cudaErrorInvalidSymbol);
  cudaGetLastError();
}

TEST_F(Runtime, CallConfigurationsNest) {
  dim3 grid, block;
  std::size_t shared = 0;
  void* stream = nullptr;
  EXPECT_EQ(__cudaPopCallConfiguration(&grid, &block, &shared, &stream),
            cudaErrorMissingConfiguration);
  __cudaPushCallConfiguration(dim3(1, 2, 3), dim3(4), 5, cudaStreamPerThread);
  __cudaPushCallConfiguration(dim3(9), dim3(9), 9, nullptr);
  EXPECT_EQ(__cudaPopCallConfiguration(&grid, &block, &shared, &stream), cudaSuccess);
  EXPECT_EQ(grid.x, 9u);
  EXPECT_EQ(__cudaPopCallConfiguration(&grid, &block, &shared, &stream), cudaSuccess);
  EXPECT_EQ(grid.z, 3u);
  EXPECT_EQ(block.x, 4u);
  EXPECT_EQ(shared, 5u);
  EXPECT_EQ(stream, cudaStreamPerThread);
}

TEST_F(Runtime, AttributesAndOccupancy) {
  cudaFuncAttributes attributes = {};
  ASSERT_EQ(cudaFuncGetAttributes(&attributes, &has_shared_stub), cudaSuccess);
  EXPECT_EQ(attributes.sharedSizeBytes, 1024u);
  EXPECT_EQ(attributes.maxThreadsPerBlock, 1024);
  ASSERT_EQ(cudaFuncSetAttribute(&has_shared_stub, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 100 * 1024),
            cudaSuccess);
  ASSERT_EQ(cudaFuncGetAttributes(&attributes, &has_shared_stub), cudaSuccess);
  EXPECT_EQ(attributes.maxDynamicSharedSizeBytes, 100 * 1024);
  int blocks = 0;
  ASSERT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &has_shared_stub, 64, 0),
            cudaSuccess);
  EXPECT_GE(blocks, 1);
  const char* name = nullptr;
  ASSERT_EQ(cudaFuncGetName(&name, &has_shared_stub), cudaSuccess);
  EXPECT_STREQ(name, "has_shared");
}

TEST_F(Runtime, PropertiesAreTheDrivers) {
  cudaDeviceProp p = {};
  ASSERT_EQ(cudaGetDeviceProperties(&p, 0), cudaSuccess);
  EXPECT_NE(std::string(p.name).find("softgpu"), std::string::npos);
  EXPECT_EQ(p.maxThreadsPerBlock, 1024);
  EXPECT_EQ(p.warpSize, 32);
  EXPECT_EQ(p.major, 9);
  EXPECT_EQ(p.pciBusID, 0xf0);
  EXPECT_EQ(cudaGetDeviceProperties(&p, 3), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaSetDevice(3), cudaErrorInvalidDevice);
  int count = 0;
  EXPECT_EQ(cudaGetDeviceCount(&count), cudaSuccess);
  EXPECT_EQ(count, 1);
  cudaGetLastError();
}

TEST_F(Runtime, UnknownMemoryIsUnregistered) {
  int on_host = 0;
  cudaPointerAttributes attributes = {};
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, &on_host), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeUnregistered);
  EXPECT_EQ(attributes.hostPointer, &on_host);
  void* memory = nullptr;
  ASSERT_EQ(cudaMalloc(&memory, 4), cudaSuccess);
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, memory), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeDevice);
  EXPECT_EQ(attributes.hostPointer, nullptr);
  ASSERT_EQ(cudaFree(memory), cudaSuccess);
  EXPECT_EQ(cudaFree(memory), cudaErrorInvalidValue);
  cudaGetLastError();
}

TEST_F(Runtime, ErrorsHaveNames) {
  EXPECT_STREQ(cudaGetErrorName(cudaErrorInvalidConfiguration), "cudaErrorInvalidConfiguration");
  EXPECT_STREQ(cudaGetErrorName(cudaErrorMemoryAllocation), "cudaErrorMemoryAllocation");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory");
  EXPECT_STREQ(cudaGetErrorName(static_cast<cudaError_t>(4321)), "unrecognized error code");
}

TEST_F(Runtime, DriverCallsAreFoundByName) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
  ASSERT_EQ(cudaGetDriverEntryPointByVersion("cuStreamWriteValue64", &function, 11070,
                                             cudaEnableDefault, &found),
            cudaSuccess);
  EXPECT_EQ(found, cudaDriverEntryPointSuccess);
  EXPECT_EQ(function, reinterpret_cast<void*>(&cuStreamWriteValue64));
}

// Last: it loses the primary context, until a reset.
TEST_F(Runtime, ZZ_ATrapIsEveryCallsErrorUntilTheDeviceIsReset) {
  ASSERT_EQ(cudaLaunchKernel(&traps_stub, dim3(1), dim3(1), nullptr, 0, nullptr), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
  void* memory = nullptr;
  EXPECT_EQ(cudaMalloc(&memory, 4), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaGetLastError(), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&memory, 4), cudaSuccess);
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
}

}  // namespace
