// An address that is not a multiple of an instruction's access size ends its kernel, as on a GPU.
// The report has the instruction and its line: x86 would report nothing.
#include <gtest/gtest.h>

#include <cstdio>
#include <iterator>
#include <string>
#include <tuple>

#include "run_kernel.hpp"

namespace softgpu::tests {
namespace {

struct Access {
  const char *name, *instruction;
  unsigned off;       // bytes beyond an aligned address, so that the access is misaligned
  bool is_the_hosts;  // %rd1 is an address of the host's
};
// %rd1 and %rd2: the address argument of the kernel, as a global and as a generic address; %rd3 and
// %rd4 are in a local and a shared variable, off by as many bytes.
constexpr Access kAccesses[] = {
    {"Load16", "ld.global.u16 %rs1, [%rd1];", 1, true},
    {"Load32", "ld.global.u32 %r1, [%rd1];", 2, true},
    {"Load64", "ld.global.u64 %rd5, [%rd1];", 4, true},
    {"LoadGeneric", "ld.u32 %r1, [%rd2];", 1, true},
    {"LoadWithOffset", "ld.global.u32 %r1, [%rd1+4];", 2, true},
    {"LoadVector32", "ld.global.v2.u32 {%r1, %r2}, [%rd1];", 4, true},
    {"LoadVector64", "ld.global.v2.u64 {%rd5, %rd6}, [%rd1];", 8, true},
    {"LoadFourBytes", "ld.global.v4.u8 {%rs1, %rs2, %rs3, %rs4}, [%rd1];", 1, true},
    {"LoadVolatile", "ld.volatile.global.u32 %r1, [%rd1];", 1, true},
    {"LoadAcquire", "ld.acquire.sys.global.u64 %rd5, [%rd1];", 4, true},
    {"LoadReadOnly", "ld.global.nc.u32 %r1, [%rd1];", 2, true},
    {"LoadLocal", "ld.local.u32 %r1, [%rd3];", 2, false},
    {"LoadShared", "ld.shared.u32 %r1, [%rd4];", 2, false},
    {"Store16", "st.global.u16 [%rd1], %rs1;", 1, true},
    {"Store32", "st.global.u32 [%rd1], %r1;", 2, true},
    {"StoreGeneric", "st.u64 [%rd2], %rd5;", 4, true},
    {"StoreVector", "st.global.v4.u32 [%rd1], {%r1, %r2, %r1, %r2};", 8, true},
    {"StoreRelease", "st.release.gpu.global.u32 [%rd1], %r1;", 1, true},
    {"StoreMmio", "st.mmio.relaxed.sys.global.u64 [%rd1], %rd5;", 4, true},
    {"StoreLocal", "st.local.u64 [%rd3], %rd5;", 4, false},
    {"StoreShared", "st.shared.u64 [%rd4], %rd5;", 4, false},
    {"Atomic32", "atom.relaxed.gpu.global.add.u32 %r1, [%rd1], 1;", 2, true},
    {"Atomic64", "atom.global.exch.b64 %rd5, [%rd1], %rd6;", 4, true},
    {"Swap", "atom.relaxed.sys.cas.b64 %rd5, [%rd2], %rd5, %rd6;", 4, true},
    {"Swap16", "atom.global.cas.b16 %rs1, [%rd1], %rs1, %rs2;", 1, true},
    {"Reduction", "red.relaxed.gpu.global.add.u64 [%rd1], 1;", 4, true},
    {"AtomicShared", "atom.shared.add.u32 %r1, [%rd4], 1;", 1, false},
};
// One kernel for all: it executes the instruction with the given number.
std::string text_of_all() {
  std::string text = R"(.version 8.3
.target sm_90
.address_size 64
.visible .entry accesses(.param .u64 at, .param .u64 off, .param .u32 which)
{
  .reg .pred %p<2>; .reg .b16 %rs<5>; .reg .b32 %r<4>; .reg .b64 %rd<9>;
  .local .align 16 .b8 own[64];
  .shared .align 16 .b8 window[64];
  ld.param.u64 %rd2, [at];
  ld.param.u64 %rd8, [off];
  ld.param.u32 %r3, [which];
  cvta.to.global.u64 %rd1, %rd2;
  mov.u64 %rd3, own;
  mov.u64 %rd4, window;
  add.u64 %rd1, %rd1, %rd8;
  add.u64 %rd2, %rd2, %rd8;
  add.u64 %rd3, %rd3, %rd8;
  add.u64 %rd4, %rd4, %rd8;
  mov.u16 %rs1, 1; mov.u16 %rs2, 1;
  mov.u32 %r1, 1; mov.u32 %r2, 1;
  mov.u64 %rd5, 1; mov.u64 %rd6, 1;
)";
  for (std::size_t i = 0; i < std::size(kAccesses); ++i) {
    const std::string number = std::to_string(i), label = "not_" + number;
    text += "  setp.ne.u32 %p1, %r3, " + number + ";\n  @%p1 bra " + label + ";\n  " +
            kAccesses[i].instruction + "\n" + label + ":\n";
  }
  return text + "  ret;\n}\n";
}
constexpr unsigned kLinesBefore = 21, kLinesOfOne = 4, kLineInOne = 3;

class Alignment : public testing::TestWithParam<std::tuple<unsigned, bool>> {
 protected:
  unsigned which() const { return std::get<0>(GetParam()); }
  const Access& access() const { return kAccesses[which()]; }

  // The kernel's report for addresses that are so many bytes off; empty if it ended by itself.
  std::string told(std::uint64_t off) {
    static Module module(text_of_all());
    std::string words;
    run(*module.find("accesses"),
        {.threads = 1, .watched = std::get<1>(GetParam()), .trap = &words}, &memory_[0], off,
        which());
    return words;
  }
  alignas(16) unsigned char memory_[64] = {};
};
INSTANTIATE_TEST_SUITE_P(Ptx, Alignment,
                         testing::Combine(testing::Range(0u, unsigned{std::size(kAccesses)}),
                                          testing::Bool()),
                         [](const auto& info) {
                           return kAccesses[std::get<0>(info.param)].name +
                                  std::string(std::get<1>(info.param) ? "Watched" : "Plain");
                         });

TEST_P(Alignment, AMisalignedAddressIsReportedWithItsInstruction) {
  const std::string words = told(access().off);
  EXPECT_NE(words.find("misaligned address"), words.npos) << words;
  const std::string place = "at PTX line " +
                            std::to_string(kLinesBefore + which() * kLinesOfOne + kLineInOne) +
                            ": " + access().instruction;
  EXPECT_NE(words.find(place), words.npos) << words;
  if (!access().is_the_hosts) return;
  const unsigned of_the_instruction = place.find("+4]") == place.npos ? 0 : 4;
  char address[24];
  std::snprintf(address, sizeof address, "%p",
                static_cast<void*>(memory_ + access().off + of_the_instruction));
  EXPECT_NE(words.find(address), words.npos) << words;
}

TEST_P(Alignment, AFitOneIsAccessed) {
  EXPECT_EQ(told(0), "");
  EXPECT_EQ(told(16), "");
}

// Two modules share one source at different lines: each report has its module's line. One function
// is compiled alone; the other names a shared variable and is compiled with its kernel.
std::string with_functions(const std::string& before) {
  return ".version 8.3\n.target sm_90\n.address_size 64\n" + before + R"(
.func alone(.param .b64 at)
{
  .reg .b32 %r<2>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [at];
  ld.u32 %r1, [%rd1+1];
  ret;
}
.func in_kernel(.param .b64 at)
{
  .reg .b32 %r<2>; .reg .b64 %rd<2>;
  .shared .align 4 .b8 window[4];
  ld.param.u64 %rd1, [at];
  mov.u32 %r1, 1;
  st.shared.u32 [window], %r1;
  ld.u32 %r1, [%rd1+2];
  ret;
}
.visible .entry calls(.param .u64 at, .param .u32 which)
{
  .reg .pred %p<2>; .reg .b32 %r<2>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [at];
  ld.param.u32 %r1, [which];
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra other;
  {
  .param .b64 argument;
  st.param.b64 [argument+0], %rd1;
  call.uni alone, (argument);
  }
  ret;
other:
  {
  .param .b64 argument;
  st.param.b64 [argument+0], %rd1;
  call.uni in_kernel, (argument);
  }
  ret;
}
)";
}

TEST(AlignmentInFunctions, IsReportedByTheLineOfEachModule) {
  alignas(16) unsigned char memory[16] = {};
  for (const CodeKind kind : {CodeKind{}, CodeKind{.watched = true}, CodeKind{.counting = true}}) {
    for (const unsigned blanks : {0u, 5u}) {
      Module module(with_functions(std::string(blanks, '\n')));
      Kernel& kernel = *module.find("calls");
      for (const unsigned which : {0u, 1u}) {
        std::string words;
        kernel.code(kind);
        LaunchCounts counts(kernel);
        run_counted(
            kernel,
            {.threads = 1, .watched = kind.watched, .counting = kind.counting, .trap = &words},
            kind.counting ? &counts : nullptr, &memory[0], which);
        const std::string place = "PTX line " + std::to_string(blanks + (which == 0 ? 9 : 19)) +
                                  ": ld.u32 %r1, [%rd1+" + (which == 0 ? "1" : "2") + "];";
        EXPECT_NE(words.find(place), words.npos) << words << "\n and not " << place;
      }
    }
  }
}

}  // namespace
}  // namespace softgpu::tests
