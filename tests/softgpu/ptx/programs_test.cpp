// Collectives, control, calls, copies: hand-written programs against PTX's promises.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <map>
#include <memory>

#include "chime/device/simt/faults/sanitizers.hpp"
#include "form_case.hpp"
#include "run_kernel.hpp"

namespace softgpu::tests {
namespace {

using u32 = std::uint32_t;

Kernel& kernel(const std::string& name) {
  static std::map<std::string, std::unique_ptr<Module>> modules;
  auto& module = modules[name];
  if (!module) module = std::make_unique<Module>(program(name));
  return *module->find(name);
}

// Plain and watched code.
class Programs : public testing::TestWithParam<bool> {
 protected:
  Shape shape(unsigned threads, unsigned blocks = 1, u32 dynamic_shared = 0) const {
    return {blocks, threads, dynamic_shared, GetParam()};
  }
};
INSTANTIATE_TEST_SUITE_P(Ptx, Programs, testing::Bool(),
                         [](const auto& info) { return info.param ? "Watched" : "Plain"; });

TEST_P(Programs, ShufflesTakeFromTheirSegmentAndSayWhetherTheyCould) {
  std::vector<std::array<u32, 16>> out(32);
  run(kernel("shuffles"), shape(32), out.data());
  for (u32 lane = 0; lane < 32; ++lane) {
    const auto expect = [&](unsigned word, u32 from, bool in_range) {
      EXPECT_EQ(out[lane][word], 10 * from) << "lane " << lane << ", word " << word;
      EXPECT_EQ(out[lane][word + 1], in_range) << "lane " << lane << ", word " << word;
    };
    EXPECT_EQ(out[lane][0], 50u);
    EXPECT_EQ(out[lane][1], 50u) << "only 5 bits of the lane count";
    expect(2, lane >= 3 ? lane - 3 : lane, lane >= 3);
    expect(4, lane + 3 <= 31 ? lane + 3 : lane, lane + 3 <= 31);
    expect(6, lane ^ 1, true);
    expect(8, lane % 8 + 3 <= 7 ? lane + 3 : lane, lane % 8 + 3 <= 7);
    expect(10, lane % 8 >= 3 ? lane - 3 : lane, lane % 8 >= 3);
    expect(12, lane / 8 * 8 + 2, true);
    expect(14, lane < 16 ? lane : lane ^ 16, lane >= 16);
  }
}

TEST_P(Programs, VotesMatchesAndReductionsAreOfTheirMask) {
  std::vector<std::array<u32, 32>> out(32);
  run(kernel("votes"), shape(32), out.data());
  unsigned elected = 0, elected_of_halves = 0;
  for (u32 lane = 0; lane < 32; ++lane) {
    const std::array<u32, 32>& o = out[lane];
    const bool low = lane < 16;
    EXPECT_EQ(o[0], 0xaaaaaaaau);
    EXPECT_EQ(o[1], 0x55555555u);
    EXPECT_EQ(o[2], 1u);
    EXPECT_EQ(o[3], 0u);
    EXPECT_EQ(o[4], 1u) << "all say yes";
    EXPECT_EQ(o[5], 0u) << "some say yes, some no";
    EXPECT_EQ(o[6], low ? 0x0000aaaau : 0xaaaa0000u);
    EXPECT_EQ(o[7], 1u);
    EXPECT_EQ(o[8], 0xffu << (lane / 8 * 8));
    EXPECT_EQ(o[9], 0xffu << (lane / 8 * 8));
    EXPECT_EQ(o[10], 0u) << "values differ";
    EXPECT_EQ(o[11], 0u);
    EXPECT_EQ(o[12], low ? 0x0000ffffu : 0xffff0000u);
    EXPECT_EQ(o[13], 1u);
    EXPECT_EQ(o[14], 496u - 5 * 32);
    EXPECT_EQ(o[15], static_cast<u32>(-5));
    EXPECT_EQ(o[16], 26u);
    EXPECT_EQ(o[17], 0u) << "as unsigned numbers";
    EXPECT_EQ(o[18], static_cast<u32>(-1));
    EXPECT_EQ(o[19], low ? 120u : 376u);
    EXPECT_EQ(o[20], low ? 0u : 16u);
    EXPECT_EQ(o[21], 31u);
    EXPECT_EQ(o[22], 0u);
    EXPECT_TRUE(o[23] >> lane & 1) << "a lane is active where it is";
    EXPECT_EQ(o[24], out[0][24]) << "all get one lane";
    EXPECT_EQ(o[25], lane == o[24]);
    elected += o[25];
    elected_of_halves += o[26];
  }
  EXPECT_EQ(elected, 1u);
  EXPECT_EQ(elected_of_halves, 2u);
}

TEST_P(Programs, BarriersMeetCountAndOrderSharedMemory) {
  std::vector<std::array<u32, 8>> out(64);
  Kernel& barriers = kernel("barriers");
  run(barriers, shape(64, 1, 512), out.data());
  EXPECT_EQ(barriers.max_threads(), 64u);
  EXPECT_EQ(barriers.static_shared(), 256u);
  for (u32 thread = 0; thread < 64; ++thread) {
    const bool is_first_half = thread < 32;
    const std::array<u32, 8> wanted{
        63 - thread, 10,  1,  is_first_half ? 0u : 1u, is_first_half ? 54u : 1u,
        1024 + 256,  512, 768};
    EXPECT_EQ(out[thread], wanted) << thread;
  }
}

TEST_P(Programs, CallsLoopsTablesOfLabelsParametersAndVariables) {
  struct Struct {
    u32 word[3];
  };
  std::vector<u32> out(32, 0xdead);
  run(kernel("control"), shape(32), out.data(), std::uint8_t{200}, Struct{{1, 2, 3}},
      std::uint64_t{0x1122334455667788});
  const auto wide = [&](unsigned word) { return out[word] | std::uint64_t{out[word + 1]} << 32; };
  EXPECT_EQ(out[0], 90u);
  EXPECT_EQ(out[1], 720u);
  EXPECT_EQ(out[2], 100u);
  EXPECT_EQ(out[3], 200u);
  EXPECT_EQ(out[4], 300u);
  EXPECT_EQ(out[5], 2u);
  EXPECT_EQ(out[6], 200u);
  EXPECT_EQ(out[7], 3u);
  EXPECT_EQ(wide(8), 0x1122334455667788u);
  EXPECT_EQ(out[10], 2u);
  EXPECT_EQ(out[11], 0x10u);
  EXPECT_EQ(wide(12), 5u);
  EXPECT_EQ(out[14], u32{'e'});
  EXPECT_EQ(wide(16), 0u) << "an initialiser is another variable's address";
  EXPECT_EQ(std::bit_cast<double>(wide(18)), 0.5);
  EXPECT_EQ(out[20], static_cast<u32>(-1));
  EXPECT_EQ(out[21], 0x10u);
  EXPECT_EQ(out[22], 0u) << "what an initialiser leaves out";
  EXPECT_EQ(out[23], 7u);
  EXPECT_EQ(std::bit_cast<double>(wide(24)), 0.5);
  EXPECT_EQ(wide(26), 22u);
  EXPECT_EQ(wide(28), 22u);
}

TEST_P(Programs, ThreadsThatExitAreWaitedForNoMore) {
  std::vector<u32> out(32, 7);
  run(kernel("exits"), shape(32), out.data());
  EXPECT_EQ(out[0], 7u);
  EXPECT_EQ(out[1], 7u);
  for (unsigned thread = 2; thread < 32; ++thread) EXPECT_EQ(out[thread], 0xfffffffcu);
}

TEST_P(Programs, BulkCopiesHappenAtTheWait) {
  alignas(16) const u32 in[4] = {1, 2, 3, 4};
  alignas(16) u32 out[8] = {};
  run(kernel("async"), shape(1), &in[0], &out[0]);
  EXPECT_EQ(out[0], 1u);
  EXPECT_EQ(out[1], 88u);
  EXPECT_EQ(out[3], 4u);
  EXPECT_EQ(out[4], 77u) << "shared memory before the wait";
  EXPECT_EQ(out[5], 0u) << "the other parity is not over";
  EXPECT_EQ(out[6], 1u) << "the phase of the state that an arrival gave";
  EXPECT_EQ(out[7], 0u) << "global memory before the wait";
}

TEST_P(Programs, SpecialRegistersIdentifyAThread) {
  std::vector<std::array<u32, 16>> out(3 * 48);
  run(kernel("special"), shape(48, 3), out.data());
  for (u32 block = 0; block < 3; ++block) {
    for (u32 thread = 0; thread < 48; ++thread) {
      const u32 lane = thread % 32, one = 1u << lane;
      const std::array<u32, 16> wanted{thread,
                                       48,
                                       block,
                                       3,
                                       lane,
                                       thread / 32,
                                       2,
                                       one,
                                       one - 1,
                                       (one - 1) | one,
                                       ~((one - 1) | one),
                                       ~(one - 1),
                                       0,
                                       1,
                                       0,
                                       0};
      EXPECT_EQ(out[block * 48 + thread], wanted) << block << " " << thread;
    }
  }
}

TEST_P(Programs, LoopsThatWaitLetOthersRun) {
  for (const u32 how : {0u, 1u, 2u}) {
    u32 word = 0;
    run(kernel("spins"), shape(64), &word, how);
    EXPECT_EQ(word, 1u);
  }
}

TEST(Printing, ReturnsTheNumberOfArguments) {
  u32 out[2] = {};
  testing::internal::CaptureStdout();
  run(kernel("prints"), {.threads = 1}, &out[0]);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "42 ok\n");
  EXPECT_EQ(out[0], 2u);
  EXPECT_EQ(out[1], 7u);
}

// ---- The executor's reports --------------------------------------------------------------------

class Faults : public testing::TestWithParam<std::pair<u32, const char*>> {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};
TEST_P(Faults, AreReportedWithTheKernelsName) {
  if (CHIME_SIMT_ASAN && GetParam().first == 3) GTEST_SKIP() << "ASan reports null pointers itself";
  EXPECT_DEATH(run(kernel("faults"), {.watched = true}, GetParam().first), GetParam().second);
}
INSTANTIATE_TEST_SUITE_P(
    Ptx, Faults,
    testing::Values(
        std::pair{0u,
                  "trap: the kernel executed a trap instruction\n.*of kernel faults: 32 threads"},
        std::pair{1u, "trap: f.cu:42: g: assertion `words' failed\n.*of kernel faults"},
        std::pair{2u, "trap: words\n.*of kernel faults"},
        std::pair{3u, "of kernel faults: .*write"},
        std::pair{4u, "divergence: it calls .*mask ffffffff.*\n.*of kernel faults"},
        std::pair{5u, "deadlock.*\n.*of kernel faults.*\n.*wait at sync_named"},
        std::pair{6u, "with mask 0000ffff, which does not contain it\n.*of kernel faults"},
        std::pair{7u, "beyond what the block has\n.*of kernel faults"}));

}  // namespace
}  // namespace softgpu::tests
