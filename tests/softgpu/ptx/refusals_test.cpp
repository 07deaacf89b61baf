// PTX that cannot be read or translated is refused, with its line and its text.
#include <gtest/gtest.h>

#include "form_case.hpp"
#include "softgpu/kernel_code.hpp"
#include "softgpu/ptx/parse.hpp"
#include "softgpu/ptx/translate.hpp"

namespace softgpu::tests {
namespace {

// The message for a kernel's instruction, which is on line 9.
std::string refusal(const std::string& instruction) {
  const std::string text =
      ".version 8.3\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n"
      "  .reg .pred %p;\n  .reg .b16 %h;\n  .reg .b32 %r<4>; .reg .b64 %d<4>;\n  " +
      instruction + "\n}\n";
  try {
    const auto module = ptx::parse_module(text);
    ptx::translate(*module, module->functions.front());
  } catch (const PtxError& error) {
    EXPECT_EQ(error.line(), 9u) << error.what();
    return error.what();
  }
  return "nothing";
}

struct Refused {
  const char *instruction, *why;
};
class Refusals : public testing::TestWithParam<Refused> {};
TEST_P(Refusals, SayWhatIsNotKnown) {
  const std::string what = refusal(GetParam().instruction);
  EXPECT_NE(what.find(GetParam().why), std::string::npos)
      << GetParam().instruction << "\n " << what;
  const bool is_read =
      GetParam().instruction[0] != '.' && what.find(", and there is") == std::string::npos;
  if (is_read) {  // unreadable text has no known end
    EXPECT_NE(what.find(GetParam().instruction), std::string::npos) << what;
  }
}
INSTANTIATE_TEST_SUITE_P(
    Ptx, Refusals,
    testing::Values(Refused{"wgmma.fence.sync.aligned;", "does not know this instruction"},
                    Refused{"multimem.ld_reduce.relaxed.sys.global.add.f32 %r0, [%d1];",
                            "multimem of integers and bits"},
                    Refused{"multimem.st.relaxed.sys.global.v2.b32 [%d1], {%r0, %r1};",
                            "are floating-point ones"},
                    Refused{"multimem.cp.async.bulk.b32 [%d1], %r0;", "this operation of multimem"},
                    Refused{"add.u32.approximately %r0, %r1, %r2;", "lacks a type"},
                    Refused{"add.approx.u32 %r0, %r1, %r2;", "'.approx' of this instruction"},
                    Refused{"add.u32 %r0, %r1, %r2, %r3;", "an operand too many"},
                    Refused{"add.u32 %r0, %r1;", "lacks an operand"},
                    Refused{"add.u32 %r0, %r1, %r4;", "declared nowhere"},
                    Refused{"add.u64 %d0, %d1, %r2;", "not of the instruction's size"},
                    Refused{"add.u32 %r0, %r1, %d2;", "not of the instruction's size"},
                    Refused{"add.u32 %r0, %r1, %p;", "confused"},
                    Refused{"add.f32 %r0, %r1, 1;", "not of the instruction's type"},
                    Refused{"add.sat.f64 %d0, %d1, %d2;", ".sat is not of f64"},
                    Refused{"div.approx.f64 %d0, %d1, %d2;", ".approx is of f32"},
                    Refused{"div.full.f64 %d0, %d1, %d2;", ".full is of f32"},
                    Refused{"div.rn.sat.f32 %r0, %r1, %r2;", "a quotient has no .sat"},
                    Refused{"rcp.approx.f64 %d0, %d1;", ".approx of f32 alone"},
                    Refused{"rsqrt.approx.f64 %d0, %d1;", ".approx of f32 alone"},
                    Refused{"sin.approx.f64 %d0, %d1;", ".approx of f32 alone"},
                    Refused{"sqrt.full.f32 %r0, %r1;", "a rounding or .approx is wanted"},
                    Refused{"rcp.rn.sat.f32 %r0, %r1;", "has no such form"},
                    Refused{"tanh.approx.ftz.f32 %r0, %r1;", "has no such form"},
                    Refused{"fma.f32 %r0, %r1, %r2, %r3;", "a rounding is wanted"},
                    Refused{"fma.rn.f16 %r0, %r1, %r2, %r3;", "no fma of 16-bit floats"},
                    Refused{"testp.f32 %p, %r1;", "a property of f32 or f64 is wanted"},
                    Refused{"testp.finite.f16 %p, %r1;", "a property of f32 or f64 is wanted"},
                    Refused{"copysign.f16 %r0, %r1, %r2;", "of f32 and f64 alone"},
                    Refused{"add.rn.f16x2 %r0, %r1, %r2;", "lacks a type"},
                    Refused{"and.u32 %r0, %r1, %r2;", "a type of bits is wanted"},
                    Refused{"ld.global.u64 %r0, [%d0];", "not of the instruction's size"},
                    Refused{"ld.global.v2.u32 %r0, [%d0];", "as many registers"},
                    Refused{"ld.acquire.cheetah.global.u32 %r0, [%d0];",
                            "'.cheetah' of this instruction"},
                    Refused{"ld.global.u32 %r0, [nothing];", "'nothing' is declared nowhere"},
                    Refused{"ld.global.u32 %r0, %d0;", "an address is wanted"},
                    Refused{"st.const.u32 [%d0], %r0;", "not written"},
                    Refused{"st.acquire.gpu.u32 [%d0], %r0;", "'.acquire' of this instruction"},
                    Refused{"atom.global.nand.b32 %r0, [%d0], %r1;", "this atomic operation"},
                    Refused{"atom.global.min.f32 %r0, [%d0], %r1;", "no such type"},
                    Refused{"red.acquire.gpu.global.add.u32 [%d0], %r1;", "red reads nothing"},
                    Refused{"cvt.u32.f32 %r0, %r1;", "a rounding to an integer is wanted"},
                    Refused{"cvt.f32.s32 %r0, %r1;", "a rounding is wanted"},
                    Refused{"setp.almost.f32 %p, %r0, %r1;", "this comparison"},
                    Refused{"setp.lt.b32 %p, %r0, %r1;", "bits are equal or not"},
                    Refused{"bra NOWHERE;", "no label 'NOWHERE'"},
                    Refused{"call.uni nobody, ();", "by their names alone"},
                    Refused{"bar.arrive 1, 64;", "this barrier"},
                    Refused{"shfl.idx.b32 %r0, %r1, 0, 31;", ".sync forms alone"},
                    Refused{"fence.proxy.tensormap::generic.release.gpu;", "this proxy"},
                    Refused{"cp.async.ca.shared.global [%r0], [%d0], 16;", "bulk copies alone"},
                    Refused{"mov.b32 %r0, $;", "declared nowhere"},
                    Refused{"mov.u32 7, %r0;", "a register is wanted"},
                    Refused{"mov.u32 %r0, 99999999999999999999;", "no number of this type"},
                    Refused{"tex.2d.v4.f32.s32 {%r0, %r1, %r2, %r3}, [t, {%r0, %r1}];",
                            "is wanted, and there is"},
                    Refused{".reg .b128 %x;", "registers of a type"},
                    Refused{".local .b8 big[9999999];", "too large"},
                    Refused{"add.u32 %r0, %r1, %r2", "';' is wanted, and there is"},
                    Refused{"@ add.u32;", "an instruction is wanted, and there is"}));

std::string module_refusal(const std::string& text, unsigned line) {
  try {
    Module module(text);
  } catch (const PtxError& error) {
    EXPECT_EQ(error.line(), line) << error.what();
    return error.what();
  }
  return "nothing";
}

TEST(ModuleRefusals, SayTheLine) {
  EXPECT_NE(module_refusal(".version 8.3\n.alias a, b;\n", 2).find("'.alias'"), std::string::npos);
  EXPECT_NE(
      module_refusal("\n.global .u32 x = {1};\n.global .u32 x;\n", 3).find("a second variable x"),
      std::string::npos);
  EXPECT_NE(module_refusal(".global .b8 x[2] = {1, 2, 3};", 1).find("more first values"),
            std::string::npos);
  EXPECT_NE(module_refusal(".global .u64 x[1] = {y};", 1).find("'y'"), std::string::npos);
  EXPECT_NE(module_refusal(".visible .entry k()\n{\n\n", 2).find("a '{' without its '}'"),
            std::string::npos);
  EXPECT_NE(module_refusal("/* \n", 1).find("a comment without an end"), std::string::npos);
  EXPECT_NE(module_refusal(".file 1 \"x\n", 1).find("without its closing quote"),
            std::string::npos);
  EXPECT_NE(module_refusal(".visible .entry k(.reg .u32 x) {}", 1).find("passes no registers"),
            std::string::npos);
  EXPECT_NE(module_refusal(".global .b8 x[99999999999];", 1).find("too large"), std::string::npos);
  EXPECT_NE(module_refusal(".global .align 3 .b8 x;", 1).find("a power of two"), std::string::npos);
  EXPECT_NE(module_refusal(".global .u32 x;\x01", 1).find("a byte that PTX has no use for"),
            std::string::npos);
}

TEST(Modules, SayWhatTheyHave) {
  Module module(
      ".version 8.3\n.target sm_90, debug\n.address_size 64\n.file 1 \"a.cu\"\n"
      ".visible .entry b(.param .u8 x, .param .align 16 .b8 y[20], .param .u64 .ptr .global .align "
      "8 z)\n"
      ".reqntid 32, 2\n{ .loc 1 2 3\n ret; }\n.visible .entry a() {}\n"
      ".global .align 4 .b8 v[12];\n.section .debug_info { .b8 1, 2 }\n");
  ASSERT_EQ(module.kernels().size(), 2u);
  EXPECT_EQ(module.find("nobody"), nullptr);
  const Kernel& b = *module.find("b");
  EXPECT_EQ(b.max_threads(), 64u);
  EXPECT_EQ(b.param_bytes(), 48u);
  ASSERT_EQ(b.parameters().size(), 3u);
  EXPECT_EQ(b.parameters()[1].offset, 16u);
  EXPECT_EQ(b.parameters()[2].offset, 40u);
  std::size_t bytes = 0;
  EXPECT_NE(module.variable("v", &bytes), nullptr);
  EXPECT_EQ(bytes, 12u);
  EXPECT_EQ(module.variable("w"), nullptr);
}

}  // namespace
}  // namespace softgpu::tests
