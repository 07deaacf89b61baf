// Device memory, pinned memory, copies, and the driver's information about an address.
#include <sys/mman.h>

#include <algorithm>
#include <vector>

#include "chime/device/simt/faults/sanitizers.hpp"
#include "driver.hpp"

namespace {

using namespace softgpu::tests;

using Memory = Driver;

CUdeviceptr address_of(const void* p) { return reinterpret_cast<CUdeviceptr>(p); }

// The call waits for nothing: the caller itself may have to end the stream's wait.
TEST_F(Memory, IsFreedInAStreamsOrder) {
  CUdeviceptr memory = 0, flag = 0;
  CUstream stream = nullptr;
  NEED(cuMemAlloc(&memory, 1000));
  NEED(cuMemAlloc(&flag, 4));
  NEED(cuMemsetD8(flag, 0, 4));
  NEED(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  EXPECT_CU(cuMemFreeAsync(memory + 8, stream), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuMemFreeAsync(0, stream), CUDA_SUCCESS);
  NEED(cuStreamWaitValue32(stream, flag, 1, CU_STREAM_WAIT_VALUE_EQ));
  EXPECT_CU(cuMemFreeAsync(memory, stream), CUDA_SUCCESS);
  EXPECT_CU(cuMemGetAddressRange(nullptr, nullptr, memory), CUDA_SUCCESS);
  NEED(cuMemsetD8(flag, 1, 1));
  NEED(cuStreamSynchronize(stream));
  EXPECT_CU(cuMemGetAddressRange(nullptr, nullptr, memory), CUDA_ERROR_NOT_FOUND);
  EXPECT_CU(cuMemFreeAsync(memory, stream), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuMemFree(flag), CUDA_SUCCESS);
  NEED(cuStreamDestroy(stream));
}

TEST_F(Memory, IsAllocatedAndFreedOnce) {
  CUdeviceptr memory = 0;
  NEED(cuMemAlloc(&memory, 1000));
  EXPECT_EQ(memory % 256, 0u);
  EXPECT_CU(cuMemFree(memory + 8), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuMemFree(memory), CUDA_SUCCESS);
  EXPECT_CU(cuMemFree(memory), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuMemFree(0), CUDA_SUCCESS);
  int on_host = 0;
  EXPECT_CU(cuMemFree(address_of(&on_host)), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuMemAlloc(&memory, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuMemAlloc(nullptr, 4), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Memory, MoreThanThereIsIsOutOfMemory) {
  std::size_t total = 0, free = 0;
  CUdeviceptr memory = 0;
  NEED(cuMemGetInfo(&free, &total));
  EXPECT_CU(cuMemAlloc(&memory, total + 1), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_CU(cuMemAlloc(&memory, ~std::size_t{0}), CUDA_ERROR_OUT_OF_MEMORY);
  std::size_t left = 0;
  NEED(cuMemGetInfo(&left, &total));
  EXPECT_EQ(left, free);
}

TEST_F(Memory, HolesAreUsedAgain) {
  std::vector<CUdeviceptr> pieces(64);
  std::size_t before = 0, after = 0, total = 0;
  NEED(cuMemGetInfo(&before, &total));
  for (int round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < pieces.size(); ++i) NEED(cuMemAlloc(&pieces[i], 4096 * (i + 1)));
    for (std::size_t i = 0; i < pieces.size(); i += 2) NEED(cuMemFree(pieces[i]));
    for (std::size_t i = 1; i < pieces.size(); i += 2) NEED(cuMemFree(pieces[i]));
  }
  NEED(cuMemGetInfo(&after, &total));
  EXPECT_EQ(before, after);
  CUdeviceptr all = 0;
  NEED(cuMemAlloc(&all, after));  // in one piece
  NEED(cuMemFree(all));
}

// A program that forgets to clear its memory sees no zeros.
TEST_F(Memory, IsNotCleared) {
  CUdeviceptr memory;
  unsigned seen = 0;
  NEED(cuMemAlloc(&memory, 4));
  NEED(cuMemcpyDtoH(&seen, memory, 4));
  EXPECT_NE(seen, 0u);
  NEED(cuMemFree(memory));
}

TEST_F(Memory, AKernelBeyondItsEndFaults) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  Kernels kernels;
  CUdeviceptr memory;
  NEED(cuMemAlloc(&memory, 4096));
  EXPECT_DEATH(
      {
        kernels.launch("set_word", {}, memory + 4096, 1u);
        cuCtxSynchronize();
      },
      chime::simt::kAsan ? "softgpu_kernel" : "set_word");
  NEED(cuMemFree(memory));
}

TEST_F(Memory, FreeWaitsForKernels) {
  Kernels kernels;
  Word gate;
  CUdeviceptr memory;
  CUstream stream;
  NEED(cuMemAlloc(&memory, 4));
  NEED(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  NEED(kernels.launch("wait_word", {.stream = stream}, gate.address(), 1u));
  std::atomic<bool> freed{false};
  std::thread freeing([&] {
    EXPECT_CU(cuCtxSetCurrent(context_), CUDA_SUCCESS);
    EXPECT_CU(cuMemFree(memory), CUDA_SUCCESS);
    freed = true;
  });
  EXPECT_TRUE(stays([&] { return !freed; }));
  gate.set(1);
  freeing.join();
  NEED(cuStreamDestroy(stream));
}

// ---- Copies -----------------------------------------------------------------------------------

TEST_F(Memory, CopiesAndFills) {
  constexpr std::size_t kWords = 1000;
  CUdeviceptr a, b;
  NEED(cuMemAlloc(&a, kWords * 4));
  NEED(cuMemAlloc(&b, kWords * 4));
  std::vector<unsigned> words(kWords), seen(kWords);
  for (std::size_t i = 0; i < kWords; ++i) words[i] = static_cast<unsigned>(i * 7);
  NEED(cuMemcpyHtoD(a, words.data(), kWords * 4));
  NEED(cuMemcpyDtoD(b, a, kWords * 4));
  NEED(cuMemcpyDtoH(seen.data(), b, kWords * 4));
  EXPECT_EQ(seen, words);
  NEED(cuMemsetD32(b + 4, 0xabcd1234, 2));
  NEED(cuMemcpy(address_of(seen.data()), b, kWords * 4));
  EXPECT_EQ(seen[0], words[0]);
  EXPECT_EQ(seen[1], 0xabcd1234u);
  EXPECT_EQ(seen[2], 0xabcd1234u);
  EXPECT_EQ(seen[3], words[3]);
  NEED(cuMemFree(a));
  NEED(cuMemFree(b));
}

TEST_F(Memory, PageableSourcesAreReadWhenTheCallReturns) {
  Word gate, out;
  unsigned value = 7;
  NEED(cuStreamWaitValue32(nullptr, gate.address(), 1, CU_STREAM_WAIT_VALUE_EQ));
  NEED(cuMemcpyAsync(out.address(), address_of(&value), 4, nullptr));
  value = 8;
  gate.set(1);
  NEED(cuCtxSynchronize());
  EXPECT_EQ(out.get(), 7u);
}

TEST_F(Memory, PinnedSourcesAreReadInTheStreamsTurn) {
  Word gate, in, out;
  in.set(7);
  NEED(cuStreamWaitValue32(nullptr, gate.address(), 1, CU_STREAM_WAIT_VALUE_EQ));
  NEED(cuMemcpyAsync(out.address(), in.address(), 4, nullptr));
  in.set(8);
  gate.set(1);
  NEED(cuCtxSynchronize());
  EXPECT_EQ(out.get(), 8u);
}

TEST_F(Memory, ACopyToPageableMemoryIsDoneWhenTheCallReturns) {
  Word in;
  in.set(7);
  NEED(cuLaunchHostFunc(
      nullptr, [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(5)); }, nullptr));
  unsigned seen = 0;
  NEED(cuMemcpyAsync(address_of(&seen), in.address(), 4, nullptr));
  EXPECT_EQ(seen, 7u);
}

TEST_F(Memory, CopiesStayInsideAnAllocation) {
  CUdeviceptr memory;
  std::vector<unsigned char> host(8192);
  NEED(cuMemAlloc(&memory, 4096));
  EXPECT_CU(cuMemcpyHtoD(memory, host.data(), 4097), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuMemcpyDtoH(host.data(), memory + 1, 4096), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuMemsetD8(memory, 1, 4097), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuMemsetD32(memory + 2, 1, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuMemcpyHtoD(0, host.data(), 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuMemsetD8(address_of(host.data()), 1, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuMemcpyHtoD(memory, host.data(), 0), CUDA_SUCCESS);
  NEED(cuMemFree(memory));
}

// ---- Pinned memory ----------------------------------------------------------------------------

TEST_F(Memory, RegisteredMemoryHasTheSameAddressForKernels) {
  alignas(4096) static unsigned page[2048];
  CUdeviceptr seen = 0;
  EXPECT_CU(cuMemHostGetDevicePointer(&seen, page, 0), CUDA_ERROR_INVALID_VALUE);
  NEED(cuMemHostRegister(page, sizeof page,
                         CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP));
  NEED(cuMemHostGetDevicePointer(&seen, page, 0));
  EXPECT_EQ(seen, address_of(page));
  Kernels kernels;
  NEED(kernels.launch("set_word", {}, seen + 4, 7u));
  NEED(cuCtxSynchronize());
  EXPECT_EQ(page[1], 7u);
  EXPECT_CU(cuMemHostRegister(page + 1024, 4096, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  EXPECT_CU(cuMemHostGetDevicePointer(&seen, page, 1), CUDA_ERROR_INVALID_VALUE);
  NEED(cuMemHostUnregister(page));
  EXPECT_CU(cuMemHostUnregister(page), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
}

TEST_F(Memory, OnlyMappedMemoryCanBeRegistered) {
  void* const gone =
      ::mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ::munmap(static_cast<std::byte*>(gone) + 4096, 4096);
  EXPECT_CU(cuMemHostRegister(gone, 8192, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuMemHostRegister(gone, 4096, CU_MEMHOSTREGISTER_IOMEMORY), CUDA_SUCCESS);
  NEED(cuMemHostUnregister(gone));
  ::munmap(gone, 4096);
  EXPECT_CU(cuMemHostRegister(nullptr, 4096, 0), CUDA_ERROR_INVALID_VALUE);
  int word = 0;
  EXPECT_CU(cuMemHostRegister(&word, 0, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuMemHostRegister(&word, 4, 64), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Memory, PinnedMemoryIsFreedOnce) {
  void* memory = nullptr;
  NEED(cuMemHostAlloc(&memory, 100, 0));
  EXPECT_CU(cuMemFree(address_of(memory)), CUDA_ERROR_INVALID_VALUE);
  NEED(cuMemFreeHost(memory));
  EXPECT_CU(cuMemFreeHost(memory), CUDA_ERROR_INVALID_VALUE);
}

// ---- Addresses --------------------------------------------------------------------------------

TEST_F(Memory, AnAddressHasAttributes) {
  CUdeviceptr memory, base = 0;
  std::size_t bytes = 0;
  NEED(cuMemAlloc(&memory, 1000));
  NEED(cuMemGetAddressRange(&base, &bytes, memory + 999));
  EXPECT_EQ(base, memory);
  EXPECT_EQ(bytes, 1000u);
  EXPECT_CU(cuMemGetAddressRange(&base, &bytes, memory + 1000), CUDA_ERROR_NOT_FOUND);
  CUmemorytype type{};
  CUcontext context = nullptr;
  void* host = nullptr;
  NEED(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory + 8));
  EXPECT_EQ(type, CU_MEMORYTYPE_DEVICE);
  NEED(cuPointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, memory));
  EXPECT_EQ(context, context_);
  EXPECT_CU(cuPointerGetAttribute(&host, CU_POINTER_ATTRIBUTE_HOST_POINTER, memory),
            CUDA_ERROR_INVALID_VALUE);
  Word word;
  NEED(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, word.address()));
  EXPECT_EQ(type, CU_MEMORYTYPE_HOST);
  NEED(cuPointerGetAttribute(&host, CU_POINTER_ATTRIBUTE_HOST_POINTER, word.address()));
  EXPECT_EQ(address_of(host), word.address());
  unsigned on = 1;
  int seen = 0;
  NEED(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, memory));
  NEED(cuPointerGetAttribute(&seen, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, memory));
  EXPECT_EQ(seen, 1);
  NEED(cuMemFree(memory));
  EXPECT_CU(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Memory, ManagedMemoryIsTheHostsToo) {
  CUdeviceptr memory;
  unsigned managed = 0;
  NEED(cuMemAllocManaged(&memory, 64, CU_MEM_ATTACH_GLOBAL));
  NEED(cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, memory));
  EXPECT_EQ(managed, 1u);
  Kernels kernels;
  NEED(kernels.launch("set_word", {}, memory, 7u));
  NEED(cuCtxSynchronize());
  EXPECT_EQ(*reinterpret_cast<unsigned*>(memory), 7u);
  NEED(cuMemFree(memory));
  EXPECT_CU(cuMemAllocManaged(&memory, 64, 9), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace
