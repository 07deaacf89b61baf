// Which processors PEs are bound to, on machines that HWLOC_SYNTHETIC and HWLOC_XMLFILE describe.
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "host/topology/cpu_places.hpp"
#include "host/topology/hwloc_library.hpp"

namespace chime::topology {
namespace {

cpu_set_t set_of(std::initializer_list<int> cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int cpu : cpus) CPU_SET(cpu, &set);
  return set;
}

cpu_set_t first(int count) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int cpu = 0; cpu < count; ++cpu) CPU_SET(cpu, &set);
  return set;
}

// "0,4 1,5": the processors of each place.
std::string text_of(const std::vector<cpu_set_t>& places) {
  std::string text;
  for (const cpu_set_t& place : places) {
    if (!text.empty()) text += " ";
    std::string cpus;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &place)) cpus += (cpus.empty() ? "" : ",") + std::to_string(cpu);
    text += cpus;
  }
  return text;
}

class Places : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_hwloc(); !why.empty()) GTEST_SKIP() << "hwloc: " << why;
  }
  void TearDown() override {
    unsetenv("HWLOC_SYNTHETIC");
    unsetenv("HWLOC_XMLFILE");
  }
  static std::string places(PlaceKind kind, const cpu_set_t& allowed) {
    return text_of(cpu_places(kind, allowed));
  }
};

TEST_F(Places, ACoreHasAllItsHardwareThreads) {
  setenv("HWLOC_SYNTHETIC", "pack:1 core:4 pu:2", 1);
  EXPECT_EQ(places(PlaceKind::kCore, first(8)), "0,1 2,3 4,5 6,7");
}

// The numbering of many servers' systems: the packages in turn, and second threads last.
TEST_F(Places, CoresOfOnePackageAreBesideEachOtherHoweverTheSystemCounts) {
  setenv("HWLOC_SYNTHETIC", "pack:2 core:2 pu:2(indexes=0,4,2,6,1,5,3,7)", 1);
  EXPECT_EQ(places(PlaceKind::kCore, first(8)), "0,4 2,6 1,5 3,7");
}

TEST_F(Places, OfAPlaceOnlyTheAllowedPartIsGiven) {
  setenv("HWLOC_SYNTHETIC", "pack:1 core:4 pu:2", 1);
  EXPECT_EQ(places(PlaceKind::kCore, set_of({1, 4, 5})), "1 4,5");
}

TEST_F(Places, ANumaNodeHasTheProcessorsThatAreNearIt) {
  setenv("HWLOC_SYNTHETIC", "pack:2 [numa] core:2 pu:2", 1);
  EXPECT_EQ(places(PlaceKind::kNuma, first(8)), "0,1,2,3 4,5,6,7");
  EXPECT_EQ(places(PlaceKind::kNuma, set_of({5, 6})), "5,6");
}

TEST_F(Places, AMachineMayComeFromAFile) {
  const std::string file = testing::TempDir() + "/machine." + std::to_string(getpid()) + ".xml";
  std::ofstream(file) << R"(<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0">
 <object type="Machine" os_index="0" cpuset="0x3" complete_cpuset="0x3" allowed_cpuset="0x3" nodeset="0x1" complete_nodeset="0x1" allowed_nodeset="0x1" gp_index="1">
  <object type="NUMANode" os_index="0" cpuset="0x3" complete_cpuset="0x3" nodeset="0x1" complete_nodeset="0x1" gp_index="2" local_memory="1048576"/>
  <object type="Core" os_index="0" cpuset="0x3" complete_cpuset="0x3" nodeset="0x1" complete_nodeset="0x1" gp_index="3">
   <object type="PU" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x1" complete_nodeset="0x1" gp_index="4"/>
   <object type="PU" os_index="1" cpuset="0x2" complete_cpuset="0x2" nodeset="0x1" complete_nodeset="0x1" gp_index="5"/>
  </object>
 </object>
</topology>
)";
  setenv("HWLOC_XMLFILE", file.c_str(), 1);
  EXPECT_EQ(places(PlaceKind::kCore, first(2)), "0,1");
  unlink(file.c_str());
}

// As if hwloc were missing: it finds nothing, or this machine, which lacks such processors.
TEST_F(Places, WithoutATopologyEachProcessorIsACore) {
  setenv("HWLOC_SYNTHETIC", "no topology at all", 1);
  const cpu_set_t allowed = set_of({1001, 1003});
  EXPECT_EQ(places(PlaceKind::kCore, allowed), "1001 1003");
  EXPECT_EQ(places(PlaceKind::kNuma, allowed), "1001,1003");
}

}  // namespace
}  // namespace chime::topology
