// Multicast objects: devices, memory, mappings, and what multimem instructions do at their
// addresses. Two of three devices. CHIME_SOFTGPU_DEVICES=3.
#include <unistd.h>

#include <cstdint>
#include <string>

#include "driver.hpp"

namespace {

using namespace softgpu::tests;

constexpr int kDevices = 2;

constexpr char kMultimem[] = R"(
.version 8.3
.target sm_90
.address_size 64

.visible .entry load_sum(.param .u64 at, .param .u64 to)
{
  .reg .b64 %rd<3>;
  .reg .b32 %r<2>;
  ld.param.u64 %rd1, [at];
  ld.param.u64 %rd2, [to];
  multimem.ld_reduce.relaxed.sys.global.add.u32 %r1, [%rd1];
  st.global.u32 [%rd2], %r1;
  ret;
}
.visible .entry load_least(.param .u64 at, .param .u64 to)
{
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [at];
  ld.param.u64 %rd2, [to];
  multimem.ld_reduce.relaxed.sys.global.min.s64 %rd3, [%rd1];
  st.global.u64 [%rd2], %rd3;
  ret;
}
.visible .entry store_four(.param .u64 at)
{
  .reg .b64 %rd<2>;
  .reg .b32 %r<5>;
  ld.param.u64 %rd1, [at];
  mov.b32 %r1, 0x7fa00001;
  mov.b32 %r2, 2;
  mov.b32 %r3, 3;
  mov.b32 %r4, 4;
  multimem.st.relaxed.sys.global.v4.f32 [%rd1], {%r1, %r2, %r3, %r4};
  ret;
}
.visible .entry add_five(.param .u64 at)
{
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [at];
  multimem.red.relaxed.sys.global.add.u64 [%rd1], 5;
  ret;
}
)";

CUmulticastObjectProp properties(unsigned devices = kDevices, std::size_t bytes = kGranule) {
  CUmulticastObjectProp prop{};
  prop.numDevices = devices;
  prop.size = bytes;
  prop.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  return prop;
}

CUmemGenericAllocationHandle memory_of(int device, bool is_shareable = true) {
  CUmemAllocationProp prop{};
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
  prop.requestedHandleTypes =
      is_shareable ? CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR : CU_MEM_HANDLE_TYPE_NONE;
  CUmemGenericAllocationHandle handle = 0;
  EXPECT_CU(cuMemCreate(&handle, kGranule, &prop, 0), CUDA_SUCCESS);
  return handle;
}

// An object of devices 0 and 1, with memory of each, which is mapped by itself as well.
class Multicast : public Driver {
 protected:
  void SetUp() override {
    Driver::SetUp();
    const CUmulticastObjectProp prop = properties();
    NEED(cuMulticastCreate(&object_, &prop));
    for (int device = 0; device < kDevices; ++device) NEED(cuMulticastAddDevice(object_, device));
    for (int device = 0; device < kDevices; ++device) {
      memory_[device] = memory_of(device);
      NEED(cuMulticastBindMem(object_, 0, memory_[device], 0, kGranule, 0));
      own_[device] = mapped(memory_[device]);
      NEED(cuMemsetD32(own_[device], 0, kGranule / 4));
    }
    all_ = mapped(object_);
    NEED(cuModuleLoadData(&module_, kMultimem));
  }

  template <class... A>
  CUresult run(const char* name, A... arguments) {
    CUfunction kernel = nullptr;
    EXPECT_CU(cuModuleGetFunction(&kernel, module_, name), CUDA_SUCCESS);
    void* addresses[] = {&arguments..., nullptr};
    const CUresult result =
        cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, addresses, nullptr);
    return result == CUDA_SUCCESS ? cuCtxSynchronize() : result;
  }
  template <class T>
  T read(CUdeviceptr at) {
    T value{};
    EXPECT_CU(cuMemcpyDtoH(&value, at, sizeof value), CUDA_SUCCESS);
    return value;
  }
  template <class T>
  void write(CUdeviceptr at, T value) {
    EXPECT_CU(cuMemcpyHtoD(at, &value, sizeof value), CUDA_SUCCESS);
  }

  CUmemGenericAllocationHandle object_ = 0, memory_[kDevices] = {};
  CUdeviceptr own_[kDevices] = {}, all_ = 0;
  CUmodule module_ = nullptr;
};

TEST_F(Multicast, LoadsCombineTheMemoryOfAllDevices) {
  write<std::uint32_t>(own_[0] + 64, 40);
  write<std::uint32_t>(own_[1] + 64, 2);
  NEED(run("load_sum", all_ + 64, own_[0]));
  EXPECT_EQ(read<std::uint32_t>(own_[0]), 42u);
  write<std::int64_t>(own_[0] + 128, 7);
  write<std::int64_t>(own_[1] + 128, -7);
  NEED(run("load_least", all_ + 128, own_[0]));
  EXPECT_EQ(read<std::int64_t>(own_[0]), -7);
}

TEST_F(Multicast, StoresAndUpdatesReachTheMemoryOfAllDevices) {
  NEED(run("store_four", all_ + 256));
  write<std::uint64_t>(own_[1] + 512, 100);
  NEED(run("add_five", all_ + 512));
  for (int device = 0; device < kDevices; ++device) {
    // The first one is a NaN that signals: a store changes no bit.
    EXPECT_EQ(read<std::uint32_t>(own_[device] + 256), 0x7fa00001u) << device;
    EXPECT_EQ(read<std::uint32_t>(own_[device] + 268), 4u) << device;
    EXPECT_EQ(read<std::uint32_t>(own_[device] + 272), 0u) << device;
    EXPECT_EQ(read<std::uint64_t>(own_[device] + 512), device == 1 ? 105u : 5u);
  }
}

TEST_F(Multicast, IsWhatItsDescriptorNames) {
  int fd = -1;
  NEED(cuMemExportToShareableHandle(&fd, object_, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  CUmemGenericAllocationHandle same = 0;
  NEED(cuMemImportFromShareableHandle(&same,
                                      reinterpret_cast<void*>(static_cast<std::intptr_t>(fd)),
                                      CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
  EXPECT_CU(cuMulticastAddDevice(same, 2), CUDA_ERROR_INVALID_VALUE);  // it has its two devices
  write<std::uint32_t>(own_[1] + 4, 9);
  NEED(run("load_sum", mapped(same) + 4, own_[0]));
  EXPECT_EQ(read<std::uint32_t>(own_[0]), 9u);
  ::close(fd);
}

TEST_F(Multicast, GivesAccessToNothingButMultimem) {
  std::uint32_t word = 0;
  EXPECT_CU(cuMemcpyDtoH(&word, all_, sizeof word), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuMemsetD32(all_, 0, 1), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Multicast, HasOneMemoryOfEachOfItsDevices) {
  EXPECT_CU(cuMulticastAddDevice(object_, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuMulticastBindMem(object_, 0, memory_of(2), 0, kGranule, 0),
            CUDA_ERROR_INVALID_DEVICE);
  EXPECT_CU(cuMulticastUnbind(object_, 2, 0, kGranule), CUDA_ERROR_INVALID_VALUE);
  NEED(cuMulticastUnbind(object_, 1, 0, kGranule));
  EXPECT_CU(cuMulticastUnbind(object_, 1, 0, kGranule), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuMulticastBindMem(object_, 0, memory_of(1, false), 0, kGranule, 0),
            CUDA_ERROR_INVALID_VALUE);
  const CUmemGenericAllocationHandle other = memory_of(1);
  NEED(cuMulticastBindMem(object_, 0, other, 0, kGranule, 0));
  const CUdeviceptr own = mapped(other);
  write<std::uint32_t>(own + 64, 11);
  write<std::uint32_t>(own_[0] + 64, 1);
  NEED(run("load_sum", all_ + 64, own_[0]));
  EXPECT_EQ(read<std::uint32_t>(own_[0]), 12u);
}

TEST_F(Multicast, RefusesWhatItCannotBe) {
  CUmemGenericAllocationHandle none = 0;
  CUmulticastObjectProp prop = properties(0);
  EXPECT_CU(cuMulticastCreate(&none, &prop), CUDA_ERROR_INVALID_VALUE);
  prop = properties(kDevices, kGranule / 2);
  EXPECT_CU(cuMulticastCreate(&none, &prop), CUDA_ERROR_INVALID_VALUE);
  prop = properties();
  prop.handleTypes = CU_MEM_HANDLE_TYPE_FABRIC;
  EXPECT_CU(cuMulticastCreate(&none, &prop), CUDA_ERROR_NOT_SUPPORTED);
  prop = properties();
  EXPECT_CU(cuMulticastCreate(&none, nullptr), CUDA_ERROR_INVALID_VALUE);
  std::size_t granularity = 0;
  EXPECT_CU(cuMulticastGetGranularity(&granularity, &prop, CU_MULTICAST_GRANULARITY_MINIMUM),
            CUDA_SUCCESS);
  EXPECT_EQ(granularity, kGranule);
  EXPECT_CU(cuMulticastAddDevice(memory_[0], 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuMulticastBindMem(object_, 0, object_, 0, kGranule, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuMulticastBindMem(object_, 0, memory_[0], 0, 2 * kGranule, 0),
            CUDA_ERROR_INVALID_VALUE);
  NEED(cuMemRelease(object_));
  EXPECT_CU(cuMulticastAddDevice(object_, 0), CUDA_ERROR_INVALID_VALUE);
}

// Last: no call of the context succeeds any more.
TEST_F(Multicast, MultimemNeedsAMulticastAddress) {
  EXPECT_CU(run("load_sum", own_[0], own_[0]), CUDA_ERROR_LAUNCH_FAILED);
}

}  // namespace
