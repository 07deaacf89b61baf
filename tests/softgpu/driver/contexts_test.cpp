// Contexts: the primary one and others, each thread's current one, the remains of a destroyed one.
#include "driver.hpp"

namespace {

using namespace softgpu::tests;

class Contexts : public testing::Test {
 protected:
  void SetUp() override { NEED(cuInit(0)); }
  void TearDown() override {
    CUcontext top = nullptr;
    while (cuCtxGetCurrent(&top) == CUDA_SUCCESS && top) cuCtxPopCurrent(nullptr);
  }
  static CUcontext current() {
    CUcontext context = nullptr;
    EXPECT_CU(cuCtxGetCurrent(&context), CUDA_SUCCESS);
    return context;
  }
  static bool primary_is_active() {
    unsigned flags = 0;
    int active = -1;
    EXPECT_CU(cuDevicePrimaryCtxGetState(0, &flags, &active), CUDA_SUCCESS);
    return active != 0;
  }
};

TEST_F(Contexts, WithoutOneCallsFail) {
  CUdevice device;
  CUdeviceptr memory;
  CUstream stream;
  EXPECT_EQ(current(), nullptr);
  EXPECT_CU(cuCtxGetDevice(&device), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_CU(cuCtxSynchronize(), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_CU(cuMemAlloc(&memory, 4), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_CU(cuStreamCreate(&stream, 0), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_CU(cuCtxPopCurrent(nullptr), CUDA_ERROR_INVALID_CONTEXT);
}

TEST_F(Contexts, ThePrimaryOneIsRetainedAndReleased) {
  CUcontext first, second;
  EXPECT_FALSE(primary_is_active());
  NEED(cuDevicePrimaryCtxRetain(&first, 0));
  NEED(cuDevicePrimaryCtxRetain(&second, 0));
  EXPECT_EQ(first, second);
  EXPECT_EQ(current(), nullptr);  // retaining makes it current nowhere
  NEED(cuDevicePrimaryCtxRelease(0));
  EXPECT_TRUE(primary_is_active());
  NEED(cuDevicePrimaryCtxRelease(0));
  EXPECT_FALSE(primary_is_active());
  EXPECT_CU(cuDevicePrimaryCtxRelease(0), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_CU(cuDevicePrimaryCtxRetain(&first, 7), CUDA_ERROR_INVALID_DEVICE);
}

TEST_F(Contexts, AThreadHasAStackOfThem) {
  CUcontext a, b;
  NEED(cuCtxCreate(&a, 0, 0));  // current from here on
  EXPECT_EQ(current(), a);
  NEED(cuCtxCreate(&b, 0, 0));
  EXPECT_EQ(current(), b);
  CUcontext popped;
  NEED(cuCtxPopCurrent(&popped));
  EXPECT_EQ(popped, b);
  EXPECT_EQ(current(), a);
  NEED(cuCtxPushCurrent(b));
  NEED(cuCtxSetCurrent(a));  // in b's place
  NEED(cuCtxPopCurrent(&popped));
  EXPECT_EQ(popped, a);
  EXPECT_EQ(current(), a);
  NEED(cuCtxSetCurrent(nullptr));
  EXPECT_EQ(current(), nullptr);
  NEED(cuCtxDestroy(a));
  NEED(cuCtxDestroy(b));
}

TEST_F(Contexts, EachThreadHasItsOwn) {
  CUcontext a;
  NEED(cuCtxCreate(&a, 0, 0));
  std::thread([&] {
    EXPECT_EQ(current(), nullptr);
    EXPECT_CU(cuCtxSetCurrent(a), CUDA_SUCCESS);
    CUdevice device = -1;
    EXPECT_CU(cuCtxGetDevice(&device), CUDA_SUCCESS);
    EXPECT_EQ(device, 0);
  }).join();
  NEED(cuCtxDestroy(a));
}

TEST_F(Contexts, OneThatIsDestroyedIsReported) {
  CUcontext a;
  NEED(cuCtxCreate(&a, 0, 0));
  std::thread([&] { EXPECT_CU(cuCtxDestroy(a), CUDA_SUCCESS); }).join();
  EXPECT_CU(cuCtxSynchronize(), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  EXPECT_CU(cuCtxPushCurrent(a), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_CU(cuCtxSetCurrent(a), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_CU(cuCtxDestroy(a), CUDA_ERROR_INVALID_CONTEXT);
}

TEST_F(Contexts, DestroyingTheCurrentOneTakesItAway) {
  CUcontext a;
  NEED(cuCtxCreate(&a, 0, 0));
  NEED(cuCtxDestroy(a));
  EXPECT_EQ(current(), nullptr);
}

TEST_F(Contexts, ThePrimaryOneIsNotDestroyedByHandle) {
  CUcontext primary;
  NEED(cuDevicePrimaryCtxRetain(&primary, 0));
  EXPECT_CU(cuCtxDestroy(primary), CUDA_ERROR_INVALID_CONTEXT);
  NEED(cuDevicePrimaryCtxRelease(0));
}

TEST_F(Contexts, WhatWasMadeInOneGoesWithIt) {
  CUcontext a, b;
  NEED(cuCtxCreate(&a, 0, 0));
  CUstream stream;
  CUevent event;
  CUmodule module;
  CUdeviceptr memory;
  NEED(cuStreamCreate(&stream, 0));
  NEED(cuEventCreate(&event, 0));
  NEED(cuModuleLoadData(&module, kKernels));
  NEED(cuMemAlloc(&memory, 4096));
  NEED(cuCtxCreate(&b, 0, 0));
  NEED(cuCtxDestroy(a));
  CUfunction function;
  EXPECT_CU(cuStreamSynchronize(stream), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CU(cuEventSynchronize(event), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CU(cuModuleGetFunction(&function, module, "set_word"), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CU(cuMemFree(memory), CUDA_ERROR_INVALID_VALUE);
  NEED(cuCtxDestroy(b));
}

TEST_F(Contexts, NullStreamsOfTwoDoNotWaitForEachOther) {
  CUcontext a, b;
  NEED(cuCtxCreate(&a, 0, 0));
  auto in_a = std::make_unique<Kernels>();
  Word gate;
  NEED(in_a->launch("wait_word", {}, gate.address(), 1u));
  NEED(cuCtxCreate(&b, 0, 0));
  auto in_b = std::make_unique<Kernels>();
  NEED(in_b->launch("bounded", {}));
  NEED(cuCtxSynchronize());
  in_b.reset();
  NEED(cuCtxDestroy(b));
  gate.set(1);
  NEED(cuCtxSynchronize());
  in_a.reset();
  NEED(cuCtxPopCurrent(nullptr));
  NEED(cuCtxPushCurrent(a));
}

TEST_F(Contexts, AResetPrimaryOneIsAnother) {
  CUcontext before, after;
  CUdeviceptr memory;
  NEED(cuDevicePrimaryCtxRetain(&before, 0));
  NEED(cuCtxSetCurrent(before));
  NEED(cuMemAlloc(&memory, 4096));
  NEED(cuDevicePrimaryCtxReset(0));
  EXPECT_CU(cuCtxSynchronize(), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  NEED(cuDevicePrimaryCtxRetain(&after, 0));
  NEED(cuCtxSetCurrent(after));
  EXPECT_CU(cuMemFree(memory), CUDA_ERROR_INVALID_VALUE);
  NEED(cuDevicePrimaryCtxRelease(0));
  NEED(cuDevicePrimaryCtxRelease(0));
}

}  // namespace
