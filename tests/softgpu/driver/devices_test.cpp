// Devices: their number and properties. CHIME_SOFTGPU_DEVICES=2.
#include "driver.hpp"

namespace {

using namespace softgpu::tests;

// Before any other test: cuInit is called once in a process.
TEST(ADevice, IsNotThereBeforeInit) {
  int count = 0;
  CUcontext context;
  EXPECT_CU(cuDeviceGetCount(&count), CUDA_ERROR_NOT_INITIALIZED);
  EXPECT_CU(cuCtxGetCurrent(&context), CUDA_ERROR_NOT_INITIALIZED);
  EXPECT_CU(cuStreamSynchronize(nullptr), CUDA_ERROR_NOT_INITIALIZED);
  EXPECT_CU(cuInit(1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuInit(0), CUDA_SUCCESS);
  EXPECT_CU(cuInit(0), CUDA_SUCCESS);
}

using Devices = Driver;

TEST_F(Devices, AreAsManyAsAskedFor) {
  int count = 0;
  NEED(cuDeviceGetCount(&count));
  EXPECT_EQ(count, 2);
  CUdevice device = -1;
  NEED(cuDeviceGet(&device, 1));
  EXPECT_EQ(device, 1);
  EXPECT_CU(cuDeviceGet(&device, 2), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_CU(cuDeviceGet(&device, -1), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_CU(cuDeviceGet(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Devices, HaveAddressesOfTheirOwn) {
  char first[16] = "", second[16] = "";
  NEED(cuDeviceGetPCIBusId(first, sizeof first, 0));
  NEED(cuDeviceGetPCIBusId(second, sizeof second, 1));
  EXPECT_STRNE(first, second);
  CUdevice device = -1;
  NEED(cuDeviceGetByPCIBusId(&device, second));
  EXPECT_EQ(device, 1);
  EXPECT_CU(cuDeviceGetByPCIBusId(&device, "0000:00:00.7"), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_CU(cuDeviceGetPCIBusId(first, 5, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Devices, HaveWhatChimeRequires) {
  const auto attribute = [](CUdevice_attribute which) {
    int value = -1;
    EXPECT_CU(cuDeviceGetAttribute(&value, which, 1), CUDA_SUCCESS);
    return value;
  };
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 1024);
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE), 32);
  EXPECT_GE(attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT), 2);
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS), 1);
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED), 1);
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED), 1);
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED), 0);
  int value = 0;
  EXPECT_CU(cuDeviceGetAttribute(&value, static_cast<CUdevice_attribute>(999), 0),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 5),
            CUDA_ERROR_INVALID_DEVICE);
}

TEST_F(Devices, ReachEachOther) {
  int can = 0;
  NEED(cuDeviceCanAccessPeer(&can, 0, 1));
  EXPECT_EQ(can, 1);
  NEED(cuDeviceCanAccessPeer(&can, 1, 1));
  EXPECT_EQ(can, 0);
  CUcontext peer;
  NEED(cuDevicePrimaryCtxRetain(&peer, 1));
  EXPECT_CU(cuCtxDisablePeerAccess(peer), CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
  EXPECT_CU(cuCtxEnablePeerAccess(peer, 0), CUDA_SUCCESS);
  EXPECT_CU(cuCtxEnablePeerAccess(peer, 0), CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
  EXPECT_CU(cuCtxDisablePeerAccess(peer), CUDA_SUCCESS);
  EXPECT_CU(cuCtxEnablePeerAccess(context_, 0), CUDA_ERROR_INVALID_DEVICE);
  NEED(cuDevicePrimaryCtxRelease(1));
}

// Each has separate memory, whose kernels the other's copies read.
TEST_F(Devices, CopyBetweenTheirMemories) {
  CUdeviceptr here, there;
  NEED(cuMemAlloc(&here, 4096));
  NEED(cuMemsetD8(here, 0x3c, 4096));
  CUcontext other;
  NEED(cuDevicePrimaryCtxRetain(&other, 1));
  NEED(cuCtxPushCurrent(other));
  NEED(cuMemAlloc(&there, 4096));
  int ordinal = -1;
  NEED(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, there));
  EXPECT_EQ(ordinal, 1);
  NEED(cuMemcpyDtoD(there, here, 4096));
  unsigned char seen[4096] = {};
  NEED(cuMemcpyDtoH(seen, there, 4096));
  EXPECT_EQ(seen[4095], 0x3c);
  NEED(cuMemFree(there));
  NEED(cuCtxPopCurrent(nullptr));
  NEED(cuDevicePrimaryCtxRelease(1));
  NEED(cuMemFree(here));
}

// One device's access does not depend on the other's, in either order of the descriptors.
TEST_F(Devices, HaveAccessOfTheirOwn) {
  constexpr std::size_t kBytes = std::size_t{2} << 20;
  CUmemAllocationProp prop{};
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  CUmemGenericAllocationHandle memory;
  CUdeviceptr at;
  NEED(cuMemCreate(&memory, kBytes, &prop, 0));
  NEED(cuMemAddressReserve(&at, kBytes, 0, 0, 0));
  NEED(cuMemMap(at, kBytes, 0, memory, 0));
  for (const int writer : {0, 1}) {
    const CUmemAccessDesc access[] = {
        {{CU_MEM_LOCATION_TYPE_DEVICE, writer}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE},
        {{CU_MEM_LOCATION_TYPE_DEVICE, 1 - writer}, CU_MEM_ACCESS_FLAGS_PROT_READ}};
    NEED(cuMemSetAccess(at, kBytes, access, 2));
    EXPECT_CU(cuMemsetD8(at, 1, 16), CUDA_SUCCESS) << "device " << writer << " may write";
    for (const CUmemAccessDesc& one : access) {
      unsigned long long flags = 99;
      NEED(cuMemGetAccess(&flags, &one.location, at));
      EXPECT_EQ(flags, one.flags) << "device " << one.location.id << ", writer " << writer;
    }
  }
  NEED(cuMemUnmap(at, kBytes));
  NEED(cuMemAddressFree(at, kBytes));
  NEED(cuMemRelease(memory));
}

// The CUDA guide's rules for streams and events of several devices: device 0 is current, the stream
// and the event belong to device 1.
class OfAnotherDevice : public Devices {
 protected:
  void SetUp() override {
    Devices::SetUp();
    NEED(cuDevicePrimaryCtxRetain(&other_, 1));
    NEED(cuCtxPushCurrent(other_));
    NEED(cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING));
    NEED(cuEventCreate(&event_, CU_EVENT_DEFAULT));
    NEED(cuCtxPopCurrent(nullptr));
  }
  void TearDown() override {
    cuEventDestroy(event_);
    cuStreamDestroy(stream_);
    cuDevicePrimaryCtxRelease(1);
    Devices::TearDown();
  }
  CUcontext other_ = nullptr;
  CUstream stream_ = nullptr;
  CUevent event_ = nullptr;
};

TEST_F(OfAnotherDevice, AStreamTakesNoKernelFillWordOrHostFunction) {
  Kernels kernels;
  Word out;
  EXPECT_CU(kernels.launch("set_word", {.stream = stream_}, out.address(), 7u),
            CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CU(cuMemsetD8Async(out.address(), 1, 4, stream_), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CU(cuStreamWriteValue32(stream_, out.address(), 1, 0), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CU(cuStreamWaitValue32(stream_, out.address(), 0, 0), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CU(cuLaunchHostFunc(
                stream_, [](void*) {}, nullptr),
            CUDA_ERROR_INVALID_HANDLE);
  NEED(cuCtxPushCurrent(other_));
  NEED(cuCtxSynchronize());
  NEED(cuCtxPopCurrent(nullptr));
  EXPECT_EQ(out.get(), 0u) << "nothing of it was queued";
}

TEST_F(OfAnotherDevice, AStreamTakesCopiesInItsOwnOrder) {
  Word out, seven, gate;
  seven.set(7);
  NEED(cuCtxPushCurrent(other_));
  NEED(cuStreamWaitValue32(stream_, gate.address(), 1, CU_STREAM_WAIT_VALUE_EQ));
  NEED(cuCtxPopCurrent(nullptr));
  NEED(cuMemcpyAsync(out.address(), seven.address(), 4, stream_));
  EXPECT_TRUE(stays([&] { return out.get() == 0; })) << "behind what its stream waits for";
  EXPECT_CU(cuStreamQuery(stream_), CUDA_ERROR_NOT_READY);
  gate.set(1);
  NEED(cuStreamSynchronize(stream_));
  EXPECT_EQ(out.get(), 7u);
  EXPECT_CU(cuStreamQuery(stream_), CUDA_SUCCESS);
}

TEST_F(OfAnotherDevice, AStreamSaysWhatItIs) {
  CUcontext of = nullptr;
  unsigned flags = 0;
  CUstreamCaptureStatus status;
  NEED(cuStreamGetCtx(stream_, &of));
  EXPECT_EQ(of, other_);
  NEED(cuStreamGetFlags(stream_, &flags));
  EXPECT_EQ(flags, unsigned{CU_STREAM_NON_BLOCKING});
  NEED(cuStreamIsCapturing(stream_, &status));
}

TEST_F(OfAnotherDevice, AnEventIsRecordedInStreamsOfItsDeviceAlone) {
  CUevent here;
  NEED(cuEventCreate(&here, CU_EVENT_DEFAULT));
  EXPECT_CU(cuEventRecord(event_, nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CU(cuEventRecord(here, stream_), CUDA_ERROR_INVALID_HANDLE);
  NEED(cuEventRecord(event_, stream_));
  NEED(cuEventRecord(here, nullptr));
  // Streams of any device may wait for an event; a time needs two events of one device.
  EXPECT_CU(cuStreamWaitEvent(stream_, here, 0), CUDA_SUCCESS);
  EXPECT_CU(cuStreamWaitEvent(nullptr, event_, 0), CUDA_SUCCESS);
  EXPECT_CU(cuEventSynchronize(event_), CUDA_SUCCESS);
  EXPECT_CU(cuEventSynchronize(here), CUDA_SUCCESS);
  EXPECT_CU(cuEventQuery(event_), CUDA_SUCCESS);
  float ms = 0;
  EXPECT_CU(cuEventElapsedTime(&ms, here, event_), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CU(cuEventElapsedTime(&ms, event_, event_), CUDA_SUCCESS);
  NEED(cuEventDestroy(here));
}

TEST_F(Devices, DivideHalfOfTheMachinesMemory) {
  std::size_t first = 0, second = 0, free = 0, total = 0;
  NEED(cuDeviceTotalMem(&first, 0));
  NEED(cuDeviceTotalMem(&second, 1));
  EXPECT_EQ(first, second);
  NEED(cuMemGetInfo(&free, &total));
  EXPECT_EQ(total, first);
  CUdeviceptr memory;
  NEED(cuMemAlloc(&memory, 1 << 20));
  std::size_t left = 0;
  NEED(cuMemGetInfo(&left, &total));
  EXPECT_EQ(left, free - (1 << 20));
  NEED(cuMemFree(memory));
  NEED(cuMemGetInfo(&left, &total));
  EXPECT_EQ(left, free);
}

// ---- Names ------------------------------------------------------------------------------------

TEST(Results, HaveNamesAndSentences) {
  const char *name = nullptr, *sentence = nullptr;
  NEED(cuGetErrorName(CUDA_ERROR_OUT_OF_MEMORY, &name));
  EXPECT_STREQ(name, "CUDA_ERROR_OUT_OF_MEMORY");
  NEED(cuGetErrorString(CUDA_ERROR_OUT_OF_MEMORY, &sentence));
  EXPECT_STREQ(sentence, "out of memory");
  EXPECT_CU(cuGetErrorName(static_cast<CUresult>(12345), &name), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(name, nullptr);
  EXPECT_CU(cuGetErrorString(static_cast<CUresult>(12345), &sentence), CUDA_ERROR_INVALID_VALUE);
}

TEST(EntryPoints, AreFoundByName) {
  void* function = nullptr;
  CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  NEED(cuGetProcAddress("cuMemCreate", &function, 12000, CU_GET_PROC_ADDRESS_DEFAULT, &found));
  EXPECT_EQ(function, reinterpret_cast<void*>(&cuMemCreate));
  EXPECT_EQ(found, CU_GET_PROC_ADDRESS_SUCCESS);
  for (const char* none : {"cuNoSuchCall", "cudaMalloc", "malloc", ""}) {
    NEED(cuGetProcAddress(none, &function, 12000, CU_GET_PROC_ADDRESS_DEFAULT, &found));
    EXPECT_EQ(function, nullptr) << none;
    EXPECT_EQ(found, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  }
  EXPECT_CU(cuGetProcAddress("cuInit", &function, 12000, 64, &found), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuGetProcAddress(nullptr, &function, 12000, 0, &found), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace
