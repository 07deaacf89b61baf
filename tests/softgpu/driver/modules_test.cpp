// Modules: what is loaded, what is found in it, what is refused.
#include "driver.hpp"

namespace {

using namespace softgpu::tests;

using Modules = Driver;

TEST_F(Modules, KernelsAndVariablesAreFoundByName) {
  Kernels kernels;
  CUfunction function;
  CUdeviceptr variable = 0;
  std::size_t bytes = 0;
  const char* name = nullptr;
  CUmodule of = nullptr;
  EXPECT_CU(cuModuleGetFunction(&function, kernels.module(), "no_such"), CUDA_ERROR_NOT_FOUND);
  EXPECT_CU(cuModuleGetGlobal(&variable, &bytes, kernels.module(), "no_such"),
            CUDA_ERROR_NOT_FOUND);
  EXPECT_CU(cuModuleGetGlobal(&variable, &bytes, kernels.module(), "set_word"),
            CUDA_ERROR_NOT_FOUND);
  NEED(cuModuleGetFunction(&function, kernels.module(), "set_word"));
  NEED(cuFuncGetName(&name, function));
  EXPECT_STREQ(name, "set_word");
  NEED(cuFuncGetModule(&of, function));
  EXPECT_EQ(of, kernels.module());
  NEED(cuModuleGetGlobal(&variable, &bytes, kernels.module(), "counter"));
  EXPECT_EQ(bytes, 8u);
  std::uint64_t counter = 0;
  NEED(cuMemcpyDtoH(&counter, variable, 8));
  EXPECT_EQ(counter, 5u);
  NEED(cuMemsetD32(variable, 9, 1));
  NEED(cuMemcpyDtoH(&counter, variable, 8));
  EXPECT_EQ(counter, 9u);
  EXPECT_CU(cuMemsetD32(variable, 9, 3), CUDA_ERROR_INVALID_VALUE);
  NEED(cuModuleGetGlobal(&variable, &bytes, kernels.module(), "table"));
  unsigned char table[16] = {};
  NEED(cuMemcpyDtoH(table, variable, 16));
  EXPECT_EQ(table[15], 16);
}

TEST_F(Modules, EachLoadHasVariablesOfItsOwn) {
  Kernels first, second;
  CUdeviceptr a, b;
  NEED(cuModuleGetGlobal(&a, nullptr, first.module(), "counter"));
  NEED(cuModuleGetGlobal(&b, nullptr, second.module(), "counter"));
  EXPECT_NE(a, b);
}

TEST_F(Modules, UnloadedOnesAreGone) {
  CUmodule module;
  CUfunction function;
  CUdeviceptr variable;
  NEED(cuModuleLoadData(&module, kKernels));
  NEED(cuModuleGetFunction(&function, module, "set_word"));
  NEED(cuModuleGetGlobal(&variable, nullptr, module, "counter"));
  NEED(cuModuleUnload(module));
  EXPECT_CU(cuModuleUnload(module), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CU(cuModuleGetFunction(&function, module, "set_word"), CUDA_ERROR_INVALID_HANDLE);
  const char* name;
  EXPECT_CU(cuFuncGetName(&name, function), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CU(cuMemsetD8(variable, 1, 1), CUDA_ERROR_INVALID_VALUE);
}

// What nvcc makes is not looked into: neither machine code nor the container of several.
TEST_F(Modules, ImagesThatAreNoTextAreRefused) {
  CUmodule module;
  const unsigned char elf[64] = {0x7f, 'E', 'L', 'F', 2, 1, 1};
  const unsigned char container[64] = {0x50, 0xed, 0x55, 0xba, 1};
  EXPECT_CU(cuModuleLoadData(&module, elf), CUDA_ERROR_INVALID_IMAGE);
  EXPECT_CU(cuModuleLoadData(&module, container), CUDA_ERROR_INVALID_IMAGE);
  EXPECT_CU(cuModuleLoadData(&module, ""), CUDA_ERROR_INVALID_IMAGE);
  EXPECT_CU(cuModuleLoadData(&module, nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Modules, TextThatCannotBeReadIsInvalidPtx) {
  CUmodule module;
  testing::internal::CaptureStderr();
  EXPECT_CU(cuModuleLoadData(&module, ".version 8.3\n.target sm_90\nthis is no PTX\n"),
            CUDA_ERROR_INVALID_PTX);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("line 3"), std::string::npos);
}

// An instruction that nobody has translated: the launch fails, and says which and where.
TEST_F(Modules, AnUnknownInstructionFailsTheLaunchWithItsText) {
  constexpr char kText[] =
      ".version 8.3\n.target sm_90\n.address_size 64\n.visible .entry odd()\n{\n"
      "  frobnicate.u32 %r1, %r2;\n  ret;\n}\n";
  CUmodule module;
  CUfunction function;
  NEED(cuModuleLoadData(&module, kText));
  NEED(cuModuleGetFunction(&function, module, "odd"));
  testing::internal::CaptureStderr();
  EXPECT_CU(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr),
            CUDA_ERROR_INVALID_PTX);
  const std::string told = testing::internal::GetCapturedStderr();
  EXPECT_NE(told.find("line 6"), std::string::npos) << told;
  EXPECT_NE(told.find("frobnicate"), std::string::npos) << told;
  NEED(cuModuleUnload(module));
}

TEST_F(Modules, NamesAreShownAsCppSpellsThem) {
  constexpr char kText[] =
      ".version 8.3\n.target sm_90\n.address_size 64\n.visible .entry _Z4ringPi(.param .u64 p)\n"
      "{\n  trap;\n  ret;\n}\n";
  CUcontext own;
  CUmodule module;
  CUfunction function;
  NEED(cuCtxCreate(&own, 0, 0));
  NEED(cuModuleLoadData(&module, kText));
  NEED(cuModuleGetFunction(&function, module, "_Z4ringPi"));
  CUdeviceptr argument = 0;
  void* arguments[] = {&argument};
  testing::internal::CaptureStderr();
  NEED(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  EXPECT_CU(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("kernel ring(int*)"), std::string::npos);
  NEED(cuCtxDestroy(own));
}

}  // namespace
