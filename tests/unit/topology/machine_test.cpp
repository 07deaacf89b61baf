// Where devices and processors are, on machines described to hwloc.
#include "host/topology/machine.hpp"

#include <gtest/gtest.h>

#include "described_machine.hpp"
#include "host/topology/hwloc_library.hpp"

namespace chime::topology {
namespace {

using tests::Cpus;

// "the machine / package 1 / host bridge 0000:c0".
std::string text_of(const Place& place) {
  std::string text;
  for (const std::string& part : place.parts) text += (text.empty() ? "" : " / ") + part;
  return text;
}

class Devices : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_hwloc(); !why.empty()) GTEST_SKIP() << "hwloc: " << why;
  }
};

TEST_F(Devices, AreFoundByAddressAndByName) {
  const tests::DescribedMachine described = tests::two_packages();
  const Machine machine = look_at_machine();
  EXPECT_EQ(machine.why_no_devices, "");
  const struct {
    const char *device, *place;
  } rows[] = {
      {"0000:02:00.0", "the machine / package 0 / host bridge 0000:00 / PCI bridge 0000:00:01.0"},
      {"0000:03:00.0", "the machine / package 0 / host bridge 0000:00 / PCI bridge 0000:00:01.0"},
      {"mlx5_0", "the machine / package 0 / host bridge 0000:00 / PCI bridge 0000:00:01.0"},
      {"0000:86:00.0", "the machine / package 1 / host bridge 0000:80 / PCI bridge 0000:80:02.0"},
      {"mlx5_3", "the machine / package 1 / host bridge 0000:c0"},
      {"mlx5_9", ""},
  };
  for (const auto& row : rows) EXPECT_EQ(text_of(place_of(row.device, machine)), row.place);
}

TEST_F(Devices, ProcessorsAreInTheSmallestPartThatHasAllOfThem) {
  const tests::DescribedMachine described = tests::two_packages();
  const Machine machine = look_at_machine();
  const struct {
    Cpus cpus;
    const char* place;
  } rows[] = {
      {{5, 5}, "the machine / package 1 / Core 5"},
      {{4, 7}, "the machine / package 1"},
      {{5, 6}, "the machine / package 1"},
      {{3, 4}, "the machine"},
      {{0, 7}, "the machine"},
      {{7, 8}, ""},
      {{1, 0}, ""},  // none
  };
  for (const auto& row : rows)
    EXPECT_EQ(text_of(place_of(tests::cpu_set(row.cpus), machine)), row.place)
        << row.cpus.first << " to " << row.cpus.last;
}

TEST_F(Devices, AMachineWithoutAnySaysSo) {
  setenv("HWLOC_SYNTHETIC", "pack:2 core:2 pu:1", 1);
  const Machine machine = look_at_machine();
  unsetenv("HWLOC_SYNTHETIC");
  EXPECT_EQ(machine.why_no_devices, "hwloc finds no PCI device here");
  EXPECT_EQ(text_of(place_of(tests::cpu_set({2, 3}), machine)), "the machine / package 1");
}

// Any machine: the search ends, and finds this thread's processors.
TEST_F(Devices, ThisMachineIsKnown) {
  EXPECT_FALSE(this_machine().parts.empty());
  EXPECT_TRUE(place_of(processors_of_this_thread(), this_machine()).is_known());
}

}  // namespace
}  // namespace chime::topology
