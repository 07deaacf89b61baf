// cuStreamWriteValue and cuStreamWaitValue.
#include "driver.hpp"

namespace {

using namespace softgpu::tests;

class StreamWords : public Driver {
 protected:
  void SetUp() override {
    Driver::SetUp();
    NEED(cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING));
  }
  void TearDown() override {
    cuStreamDestroy(stream_);
    Driver::TearDown();
  }
  // Whether a wait for `value` ends at once with `seen` in memory.
  bool ends(unsigned seen, unsigned value, unsigned how) {
    Word word, out;
    word.set(seen);
    EXPECT_CU(cuStreamWaitValue32(stream_, word.address(), value, how), CUDA_SUCCESS);
    EXPECT_CU(cuStreamWriteValue32(stream_, out.address(), 1, 0), CUDA_SUCCESS);
    const bool waits = stays([&] { return out.get() == 0; });
    if (waits) word.set(how == CU_STREAM_WAIT_VALUE_NOR ? 0 : value);
    EXPECT_CU(cuStreamSynchronize(stream_), CUDA_SUCCESS);
    return !waits;
  }
  CUstream stream_ = nullptr;
};

TEST_F(StreamWords, GreaterOrEqualIsCyclic) {
  EXPECT_TRUE(ends(5, 5, CU_STREAM_WAIT_VALUE_GEQ));
  EXPECT_TRUE(ends(6, 5, CU_STREAM_WAIT_VALUE_GEQ));
  EXPECT_FALSE(ends(4, 5, CU_STREAM_WAIT_VALUE_GEQ));
  EXPECT_TRUE(ends(2, 0xfffffffeu, CU_STREAM_WAIT_VALUE_GEQ));
  EXPECT_FALSE(ends(0xfffffffeu, 2, CU_STREAM_WAIT_VALUE_GEQ));
}

TEST_F(StreamWords, EqualAndNor) {
  EXPECT_TRUE(ends(5, 5, CU_STREAM_WAIT_VALUE_EQ));
  EXPECT_FALSE(ends(6, 5, CU_STREAM_WAIT_VALUE_EQ));
  EXPECT_TRUE(ends(6, 2, CU_STREAM_WAIT_VALUE_AND));
  EXPECT_FALSE(ends(4, 2, CU_STREAM_WAIT_VALUE_AND));
  EXPECT_TRUE(ends(0, 1, CU_STREAM_WAIT_VALUE_NOR));
  EXPECT_FALSE(ends(0xffffffffu, 1, CU_STREAM_WAIT_VALUE_NOR));
}

TEST_F(StreamWords, A64BitWordIsWholly64Bits) {
  CUdeviceptr word;
  NEED(cuMemAlloc(&word, 8));
  constexpr cuuint64_t kValue = 0x1122334455667788;
  NEED(cuStreamWriteValue64(stream_, word, kValue, CU_STREAM_WRITE_VALUE_DEFAULT));
  NEED(cuStreamWaitValue64(stream_, word, kValue, CU_STREAM_WAIT_VALUE_EQ));
  cuuint64_t seen = 0;
  NEED(cuStreamSynchronize(stream_));
  NEED(cuMemcpyDtoH(&seen, word, sizeof seen));
  EXPECT_EQ(seen, kValue);
  NEED(cuMemFree(word));
}

TEST_F(StreamWords, AKernelSeesTheWriteAndAStreamTheKernels) {
  Kernels kernels;
  Word to_kernel, from_kernel, out;
  CUstream other;
  NEED(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
  NEED(kernels.launch("wait_word", {.stream = other}, to_kernel.address(), 3u));
  NEED(kernels.launch("set_word", {.stream = other}, from_kernel.address(), 4u));
  NEED(cuStreamWriteValue32(stream_, to_kernel.address(), 3, 0));
  NEED(cuStreamWaitValue32(stream_, from_kernel.address(), 4, CU_STREAM_WAIT_VALUE_EQ));
  NEED(cuStreamWriteValue32(stream_, out.address(), 5, CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER));
  NEED(cuStreamSynchronize(stream_));
  EXPECT_EQ(out.get(), 5u);
  NEED(cuStreamDestroy(other));
}

TEST_F(StreamWords, WrongUsesAreInvalid) {
  Word word;
  EXPECT_CU(cuStreamWriteValue32(stream_, word.address() + 2, 1, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuStreamWriteValue64(stream_, word.address() + 4, 1, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuStreamWriteValue32(stream_, 0, 1, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuStreamWriteValue32(stream_, word.address(), 1, 2), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuStreamWaitValue32(stream_, word.address(), 1, 9), CUDA_ERROR_INVALID_VALUE);
  alignas(8) std::uint64_t unregistered = 0;
  EXPECT_CU(cuStreamWriteValue64(stream_, reinterpret_cast<CUdeviceptr>(&unregistered), 1, 0),
            CUDA_ERROR_INVALID_VALUE);
}

}  // namespace
