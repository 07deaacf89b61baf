// Physical memory, addresses, mappings, access.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <vector>

#include "chime/device/simt/faults/sanitizers.hpp"
#include "driver.hpp"

namespace {

using namespace softgpu::tests;

CUmemAllocationProp properties(
    CUmemAllocationHandleType handles = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) {
  CUmemAllocationProp prop{};
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  prop.requestedHandleTypes = handles;
  return prop;
}

class VirtualMemory : public Driver {
 protected:
  void SetUp() override {
    Driver::SetUp();
    const CUmemAllocationProp prop = properties();
    NEED(cuMemCreate(&handle_, 2 * kGranule, &prop, 0));
    NEED(cuMemAddressReserve(&at_, 4 * kGranule, 0, 0, 0));
  }
  void TearDown() override {
    for (int i = 0; i < 4; ++i) cuMemUnmap(at_ + i * kGranule, kGranule);
    for (int i = 0; i < 3; ++i) cuMemUnmap(at_ + i * kGranule, 2 * kGranule);
    EXPECT_CU(cuMemAddressFree(at_, 4 * kGranule), CUDA_SUCCESS);
    cuMemRelease(handle_);
    Driver::TearDown();
  }
  CUresult allow(CUmemAccess_flags flags, std::size_t bytes = 2 * kGranule, int device = 0) {
    const CUmemAccessDesc access{{CU_MEM_LOCATION_TYPE_DEVICE, device}, flags};
    return cuMemSetAccess(at_, bytes, &access, 1);
  }
  CUmemGenericAllocationHandle handle_ = 0;
  CUdeviceptr at_ = 0;
};

TEST_F(VirtualMemory, IsReachedOnceItIsMappedAndAllowed) {
  unsigned word = 7, seen = 0;
  EXPECT_CU(cuMemcpyHtoD(at_, &word, 4), CUDA_ERROR_INVALID_VALUE);  // nothing is mapped
  NEED(cuMemMap(at_, 2 * kGranule, 0, handle_, 0));
  EXPECT_CU(cuMemcpyHtoD(at_, &word, 4), CUDA_ERROR_INVALID_VALUE);  // without access
  NEED(allow(CU_MEM_ACCESS_FLAGS_PROT_READ));
  EXPECT_CU(cuMemcpyHtoD(at_, &word, 4), CUDA_ERROR_INVALID_VALUE);  // may be read alone
  EXPECT_CU(cuMemcpyDtoH(&seen, at_, 4), CUDA_SUCCESS);
  NEED(allow(CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
  NEED(cuMemcpyHtoD(at_ + 2 * kGranule - 4, &word, 4));
  NEED(cuMemcpyDtoH(&seen, at_ + 2 * kGranule - 4, 4));
  EXPECT_EQ(seen, 7u);
  EXPECT_CU(cuMemcpyHtoD(at_ + 2 * kGranule - 2, &word, 4), CUDA_ERROR_INVALID_VALUE);
  NEED(cuMemUnmap(at_, 2 * kGranule));
  EXPECT_CU(cuMemcpyDtoH(&seen, at_, 4), CUDA_ERROR_INVALID_VALUE);
}

// A program that forgets to clear its memory sees no zeros.
TEST_F(VirtualMemory, IsNotCleared) {
  unsigned seen = 0;
  NEED(cuMemMap(at_, 2 * kGranule, 0, handle_, 0));
  NEED(allow(CU_MEM_ACCESS_FLAGS_PROT_READ));
  NEED(cuMemcpyDtoH(&seen, at_, 4));
  EXPECT_NE(seen, 0u);
}

TEST_F(VirtualMemory, AKernelWithoutAccessFaults) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  Kernels kernels;
  NEED(cuMemMap(at_, 2 * kGranule, 0, handle_, 0));
  EXPECT_DEATH(
      {
        kernels.launch("set_word", {}, at_, 1u);
        cuCtxSynchronize();
      },
      chime::simt::kAsan ? "softgpu_kernel" : "set_word");
}

TEST_F(VirtualMemory, AccessIsReported) {
  unsigned long long flags = 99;
  const CUmemLocation device{CU_MEM_LOCATION_TYPE_DEVICE, 0};
  EXPECT_CU(cuMemGetAccess(&flags, &device, at_), CUDA_ERROR_INVALID_VALUE);
  NEED(cuMemMap(at_, 2 * kGranule, 0, handle_, 0));
  NEED(cuMemGetAccess(&flags, &device, at_));
  EXPECT_EQ(flags, CU_MEM_ACCESS_FLAGS_PROT_NONE);
  NEED(allow(CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
  NEED(cuMemGetAccess(&flags, &device, at_ + kGranule));
  EXPECT_EQ(flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
}

TEST_F(VirtualMemory, AccessIsOfWholeMappings) {
  EXPECT_CU(allow(CU_MEM_ACCESS_FLAGS_PROT_READWRITE), CUDA_ERROR_INVALID_VALUE);
  NEED(cuMemMap(at_, 2 * kGranule, 0, handle_, 0));
  EXPECT_CU(allow(CU_MEM_ACCESS_FLAGS_PROT_READWRITE, kGranule), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(allow(CU_MEM_ACCESS_FLAGS_PROT_READWRITE, 4 * kGranule), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(allow(CU_MEM_ACCESS_FLAGS_PROT_READWRITE, 2 * kGranule, 3), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_CU(cuMemSetAccess(at_, 2 * kGranule, nullptr, 1), CUDA_ERROR_INVALID_VALUE);
}

// A heap may be mapped in parts, which differ.
TEST_F(VirtualMemory, AccessIsGivenToEachOfSeveralMappings) {
  NEED(cuMemMap(at_, kGranule, 0, handle_, 0));
  NEED(cuMemMap(at_ + kGranule, 2 * kGranule, 0, handle_, 0));
  NEED(allow(CU_MEM_ACCESS_FLAGS_PROT_READWRITE, 3 * kGranule));
  const CUmemLocation device{CU_MEM_LOCATION_TYPE_DEVICE, 0};
  unsigned long long flags = 99;
  NEED(cuMemGetAccess(&flags, &device, at_ + kGranule));
  EXPECT_EQ(flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  std::vector<unsigned char> data(64, 7);
  EXPECT_CU(cuMemcpyHtoD(at_ + kGranule - 32, data.data(), data.size()), CUDA_SUCCESS);
  NEED(allow(CU_MEM_ACCESS_FLAGS_PROT_READWRITE, kGranule));
  const CUmemAccessDesc read{device, CU_MEM_ACCESS_FLAGS_PROT_READ};
  NEED(cuMemSetAccess(at_ + kGranule, 2 * kGranule, &read, 1));
  EXPECT_CU(cuMemcpyHtoD(at_ + kGranule - 32, data.data(), 32), CUDA_SUCCESS);
  EXPECT_CU(cuMemcpyHtoD(at_ + kGranule - 32, data.data(), data.size()), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuMemcpyDtoH(data.data(), at_ + kGranule - 32, data.size()), CUDA_SUCCESS);
}

TEST_F(VirtualMemory, AddressesThatAreUnmappedInPartsAreOneAgain) {
  for (const bool forwards : {true, false}) {
    NEED(cuMemMap(at_, kGranule, 0, handle_, 0));
    NEED(cuMemMap(at_ + kGranule, kGranule, 0, handle_, 0));
    NEED(cuMemUnmap(at_ + (forwards ? 0 : kGranule), kGranule));
    NEED(cuMemUnmap(at_ + (forwards ? kGranule : 0), kGranule));
    EXPECT_CU(cuMemMap(at_, 2 * kGranule, 0, handle_, 0), CUDA_SUCCESS) << forwards;
    NEED(cuMemUnmap(at_, 2 * kGranule));
  }
}

TEST_F(VirtualMemory, IsMappedInWholeUnitsAtReservedAddresses) {
  EXPECT_CU(cuMemMap(at_ + 4096, kGranule, 0, handle_, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuMemMap(at_, 4096, 0, handle_, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuMemMap(at_, 0, 0, handle_, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuMemMap(at_, kGranule, kGranule, handle_, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuMemMap(at_, 3 * kGranule, 0, handle_, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuMemMap(at_ + 3 * kGranule, 2 * kGranule, 0, handle_, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuMemMap(at_, kGranule, 0, handle_ + 1, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuMemMap(at_, kGranule, 0, handle_, 1), CUDA_ERROR_INVALID_VALUE);
  NEED(cuMemMap(at_, 2 * kGranule, 0, handle_, 0));
  EXPECT_CU(cuMemMap(at_, kGranule, 0, handle_, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuMemMap(at_ + kGranule, 2 * kGranule, 0, handle_, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(VirtualMemory, TheSameMemoryAtTwoAddressesIsOne) {
  NEED(cuMemMap(at_, 2 * kGranule, 0, handle_, 0));
  NEED(cuMemMap(at_ + 2 * kGranule, 2 * kGranule, 0, handle_, 0));
  NEED(allow(CU_MEM_ACCESS_FLAGS_PROT_READWRITE, 4 * kGranule));
  NEED(cuMemsetD8(at_ + kGranule, 0x5a, 1));
  unsigned char seen = 0;
  NEED(cuMemcpyDtoH(&seen, at_ + 3 * kGranule, 1));
  EXPECT_EQ(seen, 0x5a);
  // Both mappings at once, without a gap; a copy may cross from one to the other.
  NEED(cuMemsetD8(at_ + 2 * kGranule - 8, 0x11, 16));
  EXPECT_CU(cuMemUnmap(at_, 3 * kGranule), CUDA_ERROR_INVALID_VALUE);
  NEED(cuMemUnmap(at_, 4 * kGranule));
  EXPECT_CU(cuMemUnmap(at_, 2 * kGranule), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(VirtualMemory, StaysMappedWhenItsHandleIsReleased) {
  NEED(cuMemMap(at_, 2 * kGranule, 0, handle_, 0));
  NEED(allow(CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
  std::size_t free_before = 0, free_after = 0, total = 0;
  NEED(cuMemRelease(handle_));
  EXPECT_CU(cuMemRelease(handle_), CUDA_ERROR_INVALID_VALUE);
  NEED(cuMemGetInfo(&free_before, &total));
  NEED(cuMemsetD8(at_, 1, kGranule));
  NEED(cuMemUnmap(at_, 2 * kGranule));
  NEED(cuMemGetInfo(&free_after, &total));
  EXPECT_EQ(free_after - free_before, 2 * kGranule);
}

TEST_F(VirtualMemory, IsMadeInWholeUnits) {
  CUmemAllocationProp prop = properties();
  CUmemGenericAllocationHandle handle;
  std::size_t granule = 0, free = 0, total = 0;
  NEED(cuMemGetAllocationGranularity(&granule, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  EXPECT_EQ(granule, kGranule);
  EXPECT_CU(cuMemCreate(&handle, kGranule / 2, &prop, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuMemCreate(&handle, 0, &prop, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuMemCreate(&handle, kGranule, nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuMemCreate(&handle, kGranule, &prop, 1), CUDA_ERROR_INVALID_VALUE);
  NEED(cuMemGetInfo(&free, &total));
  EXPECT_CU(cuMemCreate(&handle, total + kGranule, &prop, 0), CUDA_ERROR_OUT_OF_MEMORY);
  prop.location.id = 4;
  EXPECT_CU(cuMemCreate(&handle, kGranule, &prop, 0), CUDA_ERROR_INVALID_DEVICE);
  prop = properties(CU_MEM_HANDLE_TYPE_FABRIC);
  EXPECT_CU(cuMemCreate(&handle, kGranule, &prop, 0), CUDA_ERROR_NOT_SUPPORTED);
  prop.type = static_cast<CUmemAllocationType>(0);
  EXPECT_CU(cuMemCreate(&handle, kGranule, &prop, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(VirtualMemory, AddressesAreReservedAndFreedWhole) {
  CUdeviceptr at = 0;
  EXPECT_CU(cuMemAddressReserve(&at, 4096, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuMemAddressReserve(&at, kGranule, 3, 0, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuMemAddressReserve(&at, kGranule, 0, 0, 1), CUDA_ERROR_INVALID_VALUE);
  NEED(cuMemAddressReserve(&at, 2 * kGranule, 64 * kGranule, 0, 0));
  EXPECT_EQ(at % (64 * kGranule), 0u);
  EXPECT_CU(cuMemAddressFree(at, kGranule), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuMemAddressFree(at + kGranule, kGranule), CUDA_ERROR_INVALID_VALUE);
  NEED(cuMemMap(at, kGranule, 0, handle_, 0));
  EXPECT_CU(cuMemAddressFree(at, 2 * kGranule), CUDA_ERROR_INVALID_VALUE);
  NEED(cuMemUnmap(at, kGranule));
  NEED(cuMemAddressFree(at, 2 * kGranule));
  EXPECT_CU(cuMemAddressFree(at, 2 * kGranule), CUDA_ERROR_INVALID_VALUE);
}

// ---- Shared handles ---------------------------------------------------------------------------

TEST_F(VirtualMemory, AnImportedDescriptorIsTheSameMemory) {
  int fd = -1;
  NEED(cuMemExportToShareableHandle(&fd, handle_, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  CUmemGenericAllocationHandle twin;
  NEED(cuMemImportFromShareableHandle(&twin, reinterpret_cast<void*>(static_cast<long>(fd)),
                                      CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
  ::close(fd);
  NEED(cuMemMap(at_, 2 * kGranule, 0, handle_, 0));
  NEED(cuMemMap(at_ + 2 * kGranule, 2 * kGranule, 0, twin, 0));
  NEED(allow(CU_MEM_ACCESS_FLAGS_PROT_READWRITE, 4 * kGranule));
  NEED(cuMemsetD8(at_, 0x77, 1));
  unsigned char seen = 0;
  NEED(cuMemcpyDtoH(&seen, at_ + 2 * kGranule, 1));
  EXPECT_EQ(seen, 0x77);
  EXPECT_CU(cuMemExportToShareableHandle(&fd, twin, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
            CUDA_ERROR_INVALID_VALUE);
  NEED(cuMemRelease(twin));
}

TEST_F(VirtualMemory, OnlyWhatWasMadeForItIsExported) {
  const CUmemAllocationProp prop = properties(CU_MEM_HANDLE_TYPE_NONE);
  CUmemGenericAllocationHandle own;
  int fd = -1;
  NEED(cuMemCreate(&own, kGranule, &prop, 0));
  EXPECT_CU(cuMemExportToShareableHandle(&fd, own, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuMemExportToShareableHandle(&fd, handle_, CU_MEM_HANDLE_TYPE_FABRIC, 0),
            CUDA_ERROR_INVALID_VALUE);
  NEED(cuMemRelease(own));
}

TEST_F(VirtualMemory, ADescriptorOfAnythingElseIsRefused) {
  const int fd = ::memfd_create("something-else", MFD_CLOEXEC);
  ASSERT_EQ(::ftruncate(fd, kGranule), 0);
  CUmemGenericAllocationHandle handle;
  for (int wrong : {fd, STDIN_FILENO, 987, -1})
    EXPECT_CU(
        cuMemImportFromShareableHandle(&handle, reinterpret_cast<void*>(static_cast<long>(wrong)),
                                       CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
        CUDA_ERROR_INVALID_VALUE)
        << wrong;
  ::close(fd);
}

// ---- dma-bufs ---------------------------------------------------------------------------------

// Another device maps it: the range begins at the position of its file.
void expect_dma_buf(CUdeviceptr address, std::size_t bytes) {
  int fd = -1;
  NEED(cuMemsetD8(address, 0x21, bytes));
  NEED(cuMemGetHandleForAddressRange(&fd, address, bytes, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0));
  const off_t start = ::lseek(fd, 0, SEEK_CUR);
  auto* const seen = static_cast<unsigned char*>(
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, start));
  ASSERT_NE(seen, MAP_FAILED);
  EXPECT_EQ(seen[bytes - 1], 0x21);
  seen[0] = 0x42;
  unsigned char back = 0;
  NEED(cuMemcpyDtoH(&back, address, 1));
  EXPECT_EQ(back, 0x42);
  ::munmap(seen, bytes);
  ::close(fd);
}

TEST_F(VirtualMemory, ADmaBufIsAnyPartOfAllocatedOrMappedMemory) {
  CUdeviceptr memory, before;
  NEED(cuMemAlloc(&before, 12 * 4096));
  NEED(cuMemAlloc(&memory, 4 * 4096 - 100));
  expect_dma_buf(memory, 3 * 4096);
  expect_dma_buf(memory + 4096, 4096);
  NEED(cuMemMap(at_, 2 * kGranule, 0, handle_, 0));
  NEED(allow(CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
  expect_dma_buf(at_, 2 * kGranule);
  expect_dma_buf(at_ + kGranule + 8192, 4096);
  int fd = -1;
  const auto get = [&](CUdeviceptr address, std::size_t bytes) {
    return cuMemGetHandleForAddressRange(&fd, address, bytes, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD,
                                         0);
  };
  EXPECT_CU(get(memory + 8, 4096), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(get(memory, 100), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(get(memory, 5 * 4096), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(get(at_, 3 * kGranule), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(get(at_ + 2 * kGranule, 4096), CUDA_ERROR_INVALID_VALUE);
  NEED(cuMemFree(memory));
  NEED(cuMemFree(before));
}

}  // namespace
