// Kernels that differ only in names are one source: it is compiled once, and each reads its own
// module's variables. The same holds for functions, whichever kernel calls them.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "run_kernel.hpp"
#include "softgpu/ptx/error.hpp"
#include "softgpu/ptx/parse.hpp"
#include "softgpu/ptx/translate.hpp"

namespace softgpu::tests {
namespace {

// A kernel with every kind of name. `other` stands before the declarations of this kernel, like the
// remains of another instance of its template.
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

// Functions of one result and one argument, each adding its variable to the argument. `middle` and
// `other` call `leaf`, `top` calls these; `again` calls itself, `shares` has a shared variable, and
// `through` calls that.
std::string functions() {
  const auto function = [](const std::string& name, const std::string& body) {
    return ".func (.param .b32 r_" + name + ") " + name + "(.param .b32 a_" + name + ")\n{\n" +
           "  .reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %rd<4>;\n  ld.param.u32 %r1, [a_" +
           name + "];\n" + body + "  st.param.b32 [r_" + name + "], %r1;\n  ret;\n}\n";
  };
  const auto call = [](const std::string& name) {
    return "  {\n  .param .b32 i;\n  .param .b32 o;\n  st.param.b32 [i], %r1;\n  call.uni (o), " +
           name + ", (i);\n  ld.param.b32 %r1, [o];\n  }\n";
  };
  const auto add = [](const std::string& variable) {
    return "  mov.u64 %rd1, v_" + variable + ";\n  ld.global.u32 %r2, [%rd1];\n" +
           "  add.u32 %r1, %r1, %r2;\n";
  };
  return ".global .align 4 .u32 v_leaf = 1;\n.global .align 4 .u32 v_middle = 10;\n"
         ".global .align 4 .u32 v_other = 100;\n.global .align 4 .u32 v_top = 1000;\n" +
         function("leaf", add("leaf")) + function("middle", add("middle") + call("leaf")) +
         function("other", call("leaf") + add("other")) +
         function("top", call("other") + add("top") + call("middle") + call("leaf")) +
         ".func (.param .b32 r_again) again(.param .b32 a_again);\n" +
         function("again", "  setp.ge.u32 %p1, %r1, 5000;\n  @%p1 bra END;\n" + add("top") +
                               call("again") + call("leaf") + "END:\n") +
         function("shares",
                  "  .shared .align 4 .b8 own[4];\n  st.shared.u32 [own], %r1;\n"
                  "  ld.shared.u32 %r3, [own];\n  add.u32 %r1, %r3, 7;\n") +
         function("through", call("shares") + call("leaf"));
}

// A kernel that passes 0 through functions, one after the other, and then adds its own variable.
std::string kernel(const std::string& name, const std::vector<std::string>& called) {
  std::string text = ".global .align 4 .u32 own_" + name + " = 100000;\n.visible .entry " + name +
                     "(.param .u64 out)\n{\n  .reg .b32 %r<4>; .reg .b64 %rd<4>;\n"
                     "  mov.u32 %r1, 0;\n  mov.u64 %rd1, own_" +
                     name + ";\n  ld.global.u32 %r2, [%rd1];\n";
  for (const std::string& function : called) {
    text += "  {\n  .param .b32 i;\n  .param .b32 o;\n  st.param.b32 [i], %r1;\n  call.uni (o), " +
            function + ", (i);\n  ld.param.b32 %r1, [o];\n  }\n";
  }
  return text +
         "  add.u32 %r1, %r1, %r2;\n  ld.param.u64 %rd2, [out];\n  st.global.u32 [%rd2], %r1;\n"
         "  ret;\n}\n";
}

std::string module_of(const std::string& kernels) {
  return ".version 8.3\n.target sm_90\n.address_size 64\n" + functions() + kernels;
}

ptx::Translation translation(const std::string& text, const std::string& name) {
  const auto module = ptx::parse_module(text);
  return ptx::translate(*module, *module->find_function(name));
}

std::uint32_t result(const std::string& text, const std::string& name, bool watched) {
  Module module(text);
  std::uint32_t value = 0;
  run(*module.find(name), {.threads = 1, .watched = watched}, &value);
  return value;
}

TEST(SameFunctions, OfTwoKernelsAreOneSource) {
  const std::string text =
      module_of(kernel("first", {"top"}) + kernel("second", {"leaf", "other", "middle", "top"}));
  auto first = translation(text, "first").functions, second = translation(text, "second").functions;
  EXPECT_EQ(first.size(), 4u);
  std::ranges::sort(first);
  std::ranges::sort(second);
  EXPECT_EQ(first, second);
}

TEST(SameFunctions, ComeBehindThoseThatTheyCall) {
  std::set<std::string> defined;
  for (const std::string& source : translation(module_of(kernel("k", {"top"})), "k").functions) {
    const std::regex symbol("SOFTGPU_FUNCTION\\((\\w+)\\)(.*)");
    const auto definition = source.rfind("SOFTGPU_EXPORTED");
    for (std::sregex_iterator
             at(source.begin(), source.begin() + static_cast<long>(definition), symbol),
         end;
         at != end; ++at)
      EXPECT_TRUE(defined.contains((*at)[1])) << source;
    std::smatch own;
    ASSERT_TRUE(std::regex_search(source.begin() + static_cast<long>(definition), source.end(), own,
                                  symbol));
    defined.insert(own[1]);
  }
  EXPECT_EQ(defined.size(), 4u);
}

TEST(SameFunctions, ReadTheVariablesThatTheyName) {
  const std::string text =
      module_of(kernel("first", {"top"}) + kernel("second", {"leaf", "other", "middle", "top"}));
  for (const bool watched : {false, true}) {
    EXPECT_EQ(result(text, "first", watched), 101'113u);   // 1 + 100 + 1000 + 10 + 1 + 1
    EXPECT_EQ(result(text, "second", watched), 101'226u);  // 1, 1 + 100, 10 + 1, and top
  }
}

TEST(SameFunctions, ThatNeedTheKernelAreInItsSource) {
  const std::string text = module_of(kernel("k", {"again", "through"}));
  const ptx::Translation translated = translation(text, "k");
  EXPECT_EQ(translated.functions.size(), 1u);  // leaf
  EXPECT_EQ(translated.static_shared, 16u);
  for (const bool watched : {false, true})
    EXPECT_EQ(result(text, "k", watched), 105'013u);  // 5 * 1000 + 5, and 7 + 1
}

TEST(SameFunctions, OfAKernelThatCountsAreInItsSource) {
  const auto module = ptx::parse_module(module_of(kernel("k", {"top"})));
  const auto translated =
      ptx::translate(*module, *module->find_function("k"), ptx::Counts::kInstructions);
  EXPECT_TRUE(translated.functions.empty());
}

// The order of its variables differs from that of code that does not count.
TEST(SameFunctions, CodeThatCountsLeavesOtherCodeItsVariables) {
  Module module(module_of(kernel("k", {"middle", "other", "top"})));
  Kernel& k = *module.find("k");
  const std::uint32_t expected = 101'225;  // 10 + 1, 1 + 100, and top
  std::uint32_t before = 0, after = 0, counted = 0;
  run(k, {.threads = 1}, &before);
  k.code({.counting = true});
  run(k, {.threads = 1}, &after);
  LaunchCounts counts(k);
  run_counted(k, {.threads = 1, .counting = true}, &counts, &counted);
  EXPECT_EQ(before, expected);
  EXPECT_EQ(after, expected);
  EXPECT_EQ(counted, expected);
}

TEST(SameFunctions, ThatCallEachOtherTooDeeplyAreRefused) {
  std::string text = ".version 8.3\n.target sm_90\n.address_size 64\n.func f0() { ret; }\n";
  for (int i = 1; i < 5000; ++i)
    text +=
        ".func f" + std::to_string(i) + "() { call.uni f" + std::to_string(i - 1) + "; ret; }\n";
  text += ".visible .entry k() { call.uni f4999; ret; }\n";
  EXPECT_THROW(translation(text, "k"), PtxError);
}

}  // namespace
}  // namespace softgpu::tests
