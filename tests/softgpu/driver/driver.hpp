// Shared code of tests of the driver: results by name, a context, words that host and kernels see,
// and hand-written kernels.
#pragma once

#include <cuda.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <ostream>
#include <string>
#include <thread>

inline void PrintTo(CUresult result, std::ostream* out) {
  const char* name = nullptr;
  *out << (cuGetErrorName(result, &name) == CUDA_SUCCESS ? name : "no CUresult");
}

#define EXPECT_CU(call, result) EXPECT_EQ(call, result)
#define NEED(call) ASSERT_EQ(call, CUDA_SUCCESS)

namespace softgpu::tests {

// The primary context of device 0 is current.
class Driver : public testing::Test {
 protected:
  void SetUp() override {
    NEED(cuInit(0));
    NEED(cuDevicePrimaryCtxRetain(&context_, 0));
    NEED(cuCtxSetCurrent(context_));
  }
  void TearDown() override {
    cuCtxSetCurrent(nullptr);
    cuDevicePrimaryCtxRelease(0);
  }
  CUcontext context_ = nullptr;
};

// A word of pinned memory: kernels, streams and the host see it.
class Word {
 public:
  Word() { EXPECT_CU(cuMemHostAlloc(&address_, sizeof(std::uint64_t), 0), CUDA_SUCCESS), set(0); }
  Word(const Word&) = delete;
  ~Word() { cuMemFreeHost(address_); }

  void set(unsigned value) { word().store(value, std::memory_order_release); }
  unsigned get() const { return word().load(std::memory_order_acquire); }
  CUdeviceptr address() const { return reinterpret_cast<CUdeviceptr>(address_); }

 private:
  std::atomic_ref<unsigned> word() const {
    return std::atomic_ref(*static_cast<unsigned*>(address_));
  }
  void* address_ = nullptr;
};

// Whether `is_so` holds for a while: long enough to see an action that must not happen.
template <class Predicate>
bool stays(Predicate is_so) {
  for (int turn = 0; turn < 30; ++turn) {
    if (!is_so()) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

inline constexpr char kKernels[] = R"(
.version 8.3
.target sm_90
.address_size 64

.visible .global .align 8 .u64 counter = 5;
.visible .const .align 4 .b8 table[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

// *to = value
.visible .entry set_word(.param .u64 to, .param .u32 value)
{
  .reg .b64 %rd<3>;
  .reg .b32 %r<2>;
  ld.param.u64 %rd1, [to];
  ld.param.u32 %r1, [value];
  cvta.to.global.u64 %rd2, %rd1;
  st.release.sys.global.u32 [%rd2], %r1;
  ret;
}

// Ends when *at == value.
.visible .entry wait_word(.param .u64 at, .param .u32 value)
{
  .reg .pred %p<2>;
  .reg .b64 %rd<3>;
  .reg .b32 %r<3>;
  ld.param.u64 %rd1, [at];
  ld.param.u32 %r1, [value];
  cvta.to.global.u64 %rd2, %rd1;
again:
  ld.acquire.sys.global.u32 %r2, [%rd2];
  setp.ne.u32 %p1, %r2, %r1;
  @%p1 bra again;
  ret;
}

// *sum += one for each thread
.visible .entry count_threads(.param .u64 sum)
{
  .reg .b64 %rd<3>;
  .reg .b32 %r<2>;
  ld.param.u64 %rd1, [sum];
  cvta.to.global.u64 %rd2, %rd1;
  atom.relaxed.sys.global.add.u32 %r1, [%rd2], 1;
  ret;
}

.visible .entry bounded() .maxntid 64, 1, 1
{
  ret;
}

.visible .entry has_shared(.param .u64 to)
{
  .reg .b64 %rd<3>;
  .reg .b32 %r<3>;
  .shared .align 4 .b8 room[1024];
  ld.param.u64 %rd1, [to];
  cvta.to.global.u64 %rd2, %rd1;
  mov.u32 %r1, 77;
  st.shared.u32 [room+1020], %r1;
  ld.shared.u32 %r2, [room+1020];
  st.release.sys.global.u32 [%rd2], %r2;
  ret;
}

// Ends with a fault: a word at 2 bytes beyond a multiple of 4.
.visible .entry misaligned(.param .u64 at)
{
  .reg .b64 %rd<2>;
  .reg .b32 %r<2>;
  ld.param.u64 %rd1, [at];
  ld.u32 %r1, [%rd1+2];
  ret;
}

.visible .entry traps()
{
  trap;
  ret;
}
)";

struct Dimensions {
  unsigned grid = 1, block = 1, shared = 0;
  CUstream stream = nullptr;
};

// The module with the kernels above, in the current context.
class Kernels {
 public:
  Kernels() { EXPECT_CU(cuModuleLoadData(&module_, kKernels), CUDA_SUCCESS); }
  Kernels(const Kernels&) = delete;
  ~Kernels() { cuModuleUnload(module_); }

  CUmodule module() const { return module_; }
  CUfunction operator[](const char* name) const {
    CUfunction function = nullptr;
    EXPECT_CU(cuModuleGetFunction(&function, module_, name), CUDA_SUCCESS);
    return function;
  }

  template <class... A>
  CUresult launch(const char* name, const Dimensions& d, A... arguments) const {
    void* addresses[] = {&arguments..., nullptr};
    return cuLaunchKernel((*this)[name], d.grid, 1, 1, d.block, 1, 1, d.shared, d.stream, addresses,
                          nullptr);
  }

 private:
  CUmodule module_ = nullptr;
};

// The driver maps and binds whole units of so many bytes.
inline constexpr std::size_t kGranule = std::size_t{2} << 20;

// The beginning of a mapping of one unit that device 0 may use.
inline CUdeviceptr mapped(CUmemGenericAllocationHandle handle) {
  CUdeviceptr at = 0;
  const CUmemAccessDesc access{{CU_MEM_LOCATION_TYPE_DEVICE, 0},
                               CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  EXPECT_CU(cuMemAddressReserve(&at, kGranule, 0, 0, 0), CUDA_SUCCESS);
  EXPECT_CU(cuMemMap(at, kGranule, 0, handle, 0), CUDA_SUCCESS);
  EXPECT_CU(cuMemSetAccess(at, kGranule, &access, 1), CUDA_SUCCESS);
  return at;
}

}  // namespace softgpu::tests
