// Code that counts its instructions: a kernel counted by hand, instruction by instruction.
#include <gtest/gtest.h>

#include <array>

#include "chime/device/simt/memory/memory_kind.hpp"
#include "run_kernel.hpp"
#include "softgpu/launch_counts.hpp"

namespace softgpu::tests {
namespace {

// Each access uses another kind of memory or another kind of address.
constexpr const char* kText = R"(
.version 8.3
.target sm_90
.address_size 64
.const .align 8 .b64 table[2] = {5, 6};
.global .align 8 .b64 sum;
.shared .align 8 .b64 window[4];
.func (.param .b64 result) twice(.param .b64 x)
{
  .reg .b64 %a;
  ld.param.b64 %a, [x];
  add.u64 %a, %a, %a;
  st.param.b64 [result], %a;
  ret;
}
.visible .entry counted(.param .u64 device, .param .u64 host, .param .u64 bar, .param .u32 turns)
{
  .local .align 8 .b8 own[8];
  .reg .pred %p, %q;
  .reg .b32 %i, %n;
  .reg .b64 %d, %h, %b, %v, %a;
  ld.param.u64 %d, [device];
  ld.param.u64 %h, [host];
  ld.param.u64 %b, [bar];
  ld.param.u32 %n, [turns];
  mov.u32 %i, 0;
LOOP:
  ld.relaxed.sys.global.u64 %v, [%d];
  st.relaxed.sys.global.v2.u64 [%d], {%v, %v};
  add.u32 %i, %i, 1;
  setp.lt.u32 %p, %i, %n;
  @%p bra LOOP;
  ld.const.u64 %v, [table];
  mov.u64 %a, table;
  cvta.const.u64 %a, %a;
  ld.u64 %v, [%a+8];
  atom.relaxed.gpu.global.add.u64 %v, [sum], 1;
  ld.acquire.sys.global.u64 %v, [%h];
  fence.acq_rel.sys;
  st.mmio.relaxed.sys.global.u64 [%b], %v;
  st.shared.u64 [window], %v;
  mov.u64 %a, window;
  cvta.shared.u64 %a, %a;
  ld.u64 %v, [%a+8];
  st.local.u64 [own], %v;
  mov.u64 %a, own;
  cvta.local.u64 %a, %a;
  ld.volatile.u64 %v, [%a];
  setp.eq.u32 %q, %n, 0;
  @%q st.global.u64 [%d], %v;
  @!%q red.relaxed.sys.global.add.u64 [%d], 1;
  { .param .b64 x; .param .b64 result;
    st.param.b64 [x], %v;
    call.uni (result), twice, (x);
    ld.param.b64 %v, [result]; }
  ret;
})";

struct Expected {
  const char* form;
  unsigned executed, off;
  Column column;  // kExecuted: it accesses no memory
  unsigned accesses;
};
constexpr unsigned kTurns = 4;
constexpr unsigned kInstructions = 52;  // of a thread, counted by hand
constexpr Expected kOfAThread[] = {
    {"ld.param.u64", 3, 0, Column::kParam, 3},
    {"ld.param.u32", 1, 0, Column::kParam, 1},
    {"ld.param.b64", 2, 0, Column::kPassed, 2},
    {"st.param.b64", 2, 0, Column::kPassed, 2},
    {"ld.relaxed.sys.global.u64", kTurns, 0, Column::kDevice, kTurns},
    {"st.relaxed.sys.global.v2.u64", kTurns, 0, Column::kDevice, kTurns},
    {"add.u32", kTurns, 0, Column::kExecuted, 0},
    {"setp.lt.u32", kTurns, 0, Column::kExecuted, 0},
    {"bra", kTurns - 1, 1, Column::kExecuted, 0},
    {"ld.const.u64", 1, 0, Column::kConst, 1},
    {"ld.u64", 2, 0, Column::kConst, 1},
    {"ld.u64", 2, 0, Column::kShared, 1},
    {"atom.relaxed.gpu.global.add.u64", 1, 0, Column::kDevice, 1},
    {"ld.acquire.sys.global.u64", 1, 0, Column::kHost, 1},
    {"fence.acq_rel.sys", 1, 0, Column::kExecuted, 0},
    {"st.mmio.relaxed.sys.global.u64", 1, 0, Column::kBar, 1},
    {"st.shared.u64", 1, 0, Column::kShared, 1},
    {"st.local.u64", 1, 0, Column::kLocal, 1},
    {"ld.volatile.u64", 1, 0, Column::kLocal, 1},
    {"st.global.u64", 0, 1, Column::kDevice, 0},
    {"red.relaxed.sys.global.add.u64", 1, 0, Column::kDevice, 1},
    {"mov.u64", 3, 0, Column::kExecuted, 0},
    {"ret", 2, 0, Column::kExecuted, 0}};

class Counting : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Ptx, Counting, testing::Bool(),
                         [](const auto& info) { return info.param ? "Watched" : "Plain"; });

TEST_P(Counting, IsOfEachInstructionAndOfTheMemoryThatItAccesses) {
  using chime::simt::MarkedMemory;
  using chime::simt::MemoryKind;
  alignas(16) std::array<std::uint64_t, 2> device = {}, host = {}, bar = {};
  const MarkedMemory of_device(device.data(), sizeof device, MemoryKind::kDevice),
      of_host(host.data(), sizeof host, MemoryKind::kHost),
      of_bar(bar.data(), sizeof bar, MemoryKind::kBar);
  Module module(kText);
  Kernel& kernel = *module.find("counted");
  const Shape shape{.blocks = 2, .threads = 3, .watched = GetParam(), .counting = true};
  kernel.code({.watched = shape.watched, .counting = true});
  LaunchCounts counts(kernel);
  run_counted(kernel, shape, &counts, device.data(), host.data(), bar.data(), kTurns);
  constexpr unsigned kThreads = 6;
  for (const Expected& e : kOfAThread) {
    EXPECT_EQ(counts.of(e.form, Column::kExecuted), kThreads * e.executed) << e.form;
    EXPECT_EQ(counts.of(e.form, Column::kOff), kThreads * e.off) << e.form;
    if (e.column == Column::kExecuted) continue;
    EXPECT_EQ(counts.of(e.form, e.column), kThreads * e.accesses) << e.form;
  }
  EXPECT_EQ(counts.instructions(), kThreads * kInstructions);
  EXPECT_EQ(device[0], kThreads) << "it does what it did without counting";
}

TEST(Counts, AsJsonAreThoseThatAreNotZero) {
  Module module(R"(.version 8.3
.target sm_90
.address_size 64
.visible .entry k(.param .u32 x) { .reg .b32 %r; .reg .pred %p; ld.param.u32 %r, [x];
 setp.ne.u32 %p, %r, 7; @%p trap; ret; })");
  Kernel& kernel = *module.find("k");
  kernel.code({.counting = true});
  LaunchCounts counts(kernel);
  run_counted(kernel, {.threads = 2, .counting = true}, &counts, std::uint32_t{7});
  EXPECT_EQ(counts.forms_as_json(),
            R"({"ld.param.u32": {"executed": 2, "param": 2}, "setp.ne.u32": {"executed": 2}, )"
            R"("trap": {"off": 2}, "ret": {"executed": 2}})");
}

}  // namespace
}  // namespace softgpu::tests
