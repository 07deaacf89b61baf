// The GPU of each PE of a node, and the message about it. The tables' answers are written by hand,
// from the picture of the machine.
#include "host/gpu/gpu_choice.hpp"

#include <gtest/gtest.h>

#include "described_machine.hpp"
#include "host/topology/hwloc_library.hpp"

namespace chime::host {
namespace {

using tests::Cpus;

// On the machine of two_packages(): near processors 0 to 3, and near 4 to 7.
const std::string kA = "0000:02:00.0", kB = "0000:06:00.0";
const std::string kC = "0000:82:00.0", kD = "0000:86:00.0";
const std::vector<std::string> kAll{kA, kB, kC, kD};
constexpr Cpus kFirst{0, 3}, kSecond{4, 7}, kEverywhere{0, 7};

struct Pe {
  Cpus cpus;
  std::vector<std::string> sees = kAll;
};

// As PEs do it: each chooses by itself, and gets the others' messages.
std::vector<std::string> taken(const std::vector<Pe>& node, const topology::Machine& machine) {
  std::vector<SeenGpus> told;
  for (const Pe& pe : node)
    told.push_back(seen_gpus_of(text_of(seen_from(tests::cpu_set(pe.cpus), pe.sees, machine))));
  const std::vector<std::size_t> index = spread_over_gpus(told);
  std::vector<std::string> gpus;
  for (std::size_t pe = 0; pe < node.size(); ++pe)
    gpus.push_back(node[pe].sees.empty() ? "none" : node[pe].sees[index[pe]]);
  return gpus;
}

topology::Machine two_packages() {
  const tests::DescribedMachine described = tests::two_packages();
  return topology::look_at_machine();
}

class GpuChoice : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = topology::why_no_hwloc(); !why.empty())
      GTEST_SKIP() << "hwloc: " << why;
  }
};

TEST_F(GpuChoice, IsNearAndEven) {
  const struct {
    const char* what;
    std::vector<Pe> node;
    std::vector<std::string> gpus;
  } rows[] = {
      {"package by package", {{kFirst}, {kFirst}, {kSecond}, {kSecond}}, {kA, kB, kC, kD}},
      {"packages in turn", {{kFirst}, {kSecond}, {kFirst}, {kSecond}}, {kA, kC, kB, kD}},
      {"to a core each", {{{6, 6}}, {{4, 4}}, {{1, 1}}, {{0, 0}}}, {kC, kD, kA, kB}},
      {"to no place", {{kEverywhere}, {kEverywhere}, {kEverywhere}}, {kA, kB, kC}},
      {"all to one package: no GPU idles while another has two",
       {{kSecond}, {kSecond}, {kSecond}, {kSecond}},
       {kC, kD, kA, kB}},
      {"a bound PE is near, in whatever order PEs come",
       {{kEverywhere}, {kFirst}, {kFirst}, {kSecond}},
       {kD, kA, kB, kC}},
      {"two rounds, each near",
       {{kSecond}, {kSecond}, {kSecond}, {kSecond}, {kFirst}, {kFirst}, {kFirst}, {kFirst}},
       {kC, kD, kC, kD, kA, kB, kA, kB}},
      {"one more PE than GPUs",
       {{kFirst}, {kFirst}, {kFirst}, {kSecond}, {kSecond}},
       {kA, kB, kA, kC, kD}},
      {"one PE", {{kSecond}}, {kC}},
      {"each sees its own alone, as Slurm gives them",
       {{kFirst, {kD}}, {kFirst, {kC}}, {kFirst, {kB}}, {kFirst, {kA}}},
       {kD, kC, kB, kA}},
      {"what another's program has chosen is taken",
       {{kFirst}, {kFirst}, {kSecond, {kA}}},
       {kB, kC, kA}},
      {"one is on the CPU device", {{kFirst, {}}, {kFirst}, {kFirst}}, {"none", kA, kB}},
  };
  const topology::Machine machine = two_packages();
  for (const auto& row : rows) EXPECT_EQ(taken(row.node, machine), row.gpus) << row.what;
}

// In turn by place, wherever the PEs run: the rule where hwloc, or its device information, is
// missing.
TEST_F(GpuChoice, IsInTurnWhereNothingIsKnownOfNearness) {
  const std::vector<Pe> node{{kSecond}, {kSecond}, {kFirst}, {kFirst}, {kFirst}, {kSecond}};
  const std::vector<std::string> in_turn{kA, kB, kC, kD, kA, kB};
  EXPECT_EQ(taken(node, {}), in_turn);
  topology::Machine without_devices = two_packages();
  without_devices.devices.clear();
  EXPECT_EQ(taken(node, without_devices), in_turn);
}

TEST_F(GpuChoice, IsExplained) {
  const topology::Machine machine = two_packages();
  const SeenGpus bound = seen_from(tests::cpu_set(kSecond), kAll, machine);
  EXPECT_EQ(why_this_gpu(bound, 2, 4, ""), "near this PE's processors, in package 1");
  EXPECT_EQ(why_this_gpu(bound, 0, 4, ""),
            "not the nearest to this PE's processors: those are given to others of the node's 4 "
            "PEs");
  const SeenGpus anywhere = seen_from(tests::cpu_set(kEverywhere), kAll, machine);
  EXPECT_EQ(
      why_this_gpu(anywhere, 1, 4, ""),
      "all GPUs are equally near to this PE's processors; the node's 4 PEs take them in turn");
  EXPECT_EQ(why_this_gpu(anywhere, 0, 1, ""),
            "all GPUs are equally near to this PE's processors; this PE is alone on its node");
  const SeenGpus unknown = seen_from(tests::cpu_set(kSecond), kAll, {});
  EXPECT_EQ(why_this_gpu(unknown, 0, 4, "libhwloc.so.15 is not found here"),
            "the node's 4 PEs take them in turn, near or far (libhwloc.so.15 is not found here)");
  EXPECT_EQ(why_this_gpu(unknown, 0, 4, ""),
            "the node's 4 PEs take them in turn, near or far (hwloc lists none of them)");
}

}  // namespace
}  // namespace chime::host
