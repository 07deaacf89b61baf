// Kernels that differ in names alone are one source: it is compiled once, and each reads its own
// module's variables.
#include <gtest/gtest.h>

#include <memory>
#include <regex>
#include <string>

#include "run_kernel.hpp"
#include "softgpu/ptx/parse.hpp"
#include "softgpu/ptx/translate.hpp"

namespace softgpu::tests {
namespace {

// A kernel with everything that has a name. `other` stands before what this kernel uses, as what
// another instance of its template leaves there.
std::string module_text(const std::string& name, const std::string& depot, const std::string& other,
                        int value, const std::string& operation = "add.u32") {
  const std::string text = R"(.version 8.3
.target sm_90
.address_size 64
)" + other + R"(
.global .align 4 .u32 NAME_factor = VALUE;
.func (.param .b32 NAME_result) NAME_twice(.param .b32 NAME_argument)
{
  .reg .b32 %r<4>;
  ld.param.u32 %r1, [NAME_argument];
  OPERATION %r2, %r1, %r1;
  st.param.b32 [NAME_result+0], %r2;
  ret;
}
.visible .entry NAME(.param .u64 NAME_param_0)
{
  .local .align 8 .b8 DEPOT[8];
  .shared .align 4 .b8 NAME_block[128];
  .reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [NAME_param_0];
  mov.u64 %rd2, DEPOT;
  mov.u32 %r1, 0;
  st.local.u32 [%rd2], %r1;
  st.shared.u32 [NAME_block+4], %r1;
LDEPOT:
  add.u32 %r1, %r1, 1;
  setp.lt.u32 %p1, %r1, 3;
  @%p1 bra LDEPOT;
  mov.u64 %rd3, NAME_factor;
  ld.global.u32 %r2, [%rd3];
  mul.lo.u32 %r3, %r1, %r2;
  {
  .param .b32 param0;
  .param .b32 retval0;
  st.param.b32 [param0+0], %r3;
  call.uni (retval0), NAME_twice, (param0);
  ld.param.b32 %r4, [retval0+0];
  }
  st.global.u32 [%rd1], %r4;
  ret;
}
)";
  std::string result = std::regex_replace(text, std::regex("NAME"), name);
  result = std::regex_replace(result, std::regex("DEPOT"), depot);
  result = std::regex_replace(result, std::regex("VALUE"), std::to_string(value));
  return std::regex_replace(result, std::regex("OPERATION"), operation);
}
const std::string kOther = R"(.global .align 8 .u64 aaa_first = 9;
.shared .align 8 .b8 aaa_shared[64];
.func aaa_before()
{
  ret;
}
)";

std::string source(const std::string& text, const std::string& kernel) {
  const auto module = ptx::parse_module(text);
  return ptx::translate(*module, *module->find_function(kernel)).source;
}

TEST(SameCode, WhatDiffersInNamesAloneIsOneSource) {
  EXPECT_EQ(source(module_text("of_int", "__local_depot3", "", 5), "of_int"),
            source(module_text("an_unsigned", "__local_depot17", kOther, 7), "an_unsigned"));
}

TEST(SameCode, WhatDoesSomethingElseIsNot) {
  EXPECT_NE(source(module_text("k", "depot", "", 5), "k"),
            source(module_text("k", "depot", "", 5, "sub.u32"), "k"));
}

TEST(SameCode, EachKernelReadsItsOwnVariables) {
  for (const bool watched : {false, true}) {
    Module first(module_text("of_int", "__local_depot3", "", 5));
    Module second(module_text("an_unsigned", "__local_depot17", kOther, 7));
    EXPECT_EQ(first.find("of_int")->code({.watched = watched}),
              second.find("an_unsigned")->code({.watched = watched}));
    std::uint32_t of_first = 0, of_second = 0;
    run(*first.find("of_int"), {.threads = 1, .watched = watched}, &of_first);
    run(*second.find("an_unsigned"), {.threads = 1, .watched = watched}, &of_second);
    EXPECT_EQ(of_first, 30u);
    EXPECT_EQ(of_second, 42u);
  }
}

}  // namespace
}  // namespace softgpu::tests
