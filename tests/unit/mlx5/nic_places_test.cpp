// The location of NICs, by hwloc and without it, and which of them PEs of several GPUs take.
#include "host/transport/mlx5/nic/nic_places.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "described_machine.hpp"
#include "host/topology/hwloc_library.hpp"

namespace chime::host::mlx5 {
namespace {

namespace fs = std::filesystem;

constexpr char kUp[] = "4: ACTIVE";

std::vector<Candidate> four_nics() {
  std::vector<Candidate> nics;
  for (int i = 0; i < 4; ++i) nics.push_back({"mlx5_" + std::to_string(i), true, "", {{1, kUp}}});
  return nics;
}

// The NIC of the PE at `turn` of its node, with a GPU at this address.
std::string taken(std::vector<Candidate> nics, const std::string& gpu, int turn,
                  const topology::Machine& machine, std::string* why = nullptr) {
  const Goal goal = find_places(nics, gpu, machine);
  const ChosenPort port = choose_port(nics, "auto", goal, turn);
  if (why) *why = port.why;
  return nics[port.device].name;
}

// The answers are written by hand, from the picture of the machine.
TEST(NicPlaces, TheNearestToTheGpuIsTaken) {
  if (const std::string why = topology::why_no_hwloc(); !why.empty())
    GTEST_SKIP() << "hwloc: " << why;
  const tests::DescribedMachine described = tests::two_packages();
  const topology::Machine machine = topology::look_at_machine();
  const struct {
    const char* gpu;
    int turn;
    const char *nic, *why;
  } rows[] = {
      {"0000:02:00.0", 0, "mlx5_0", "nearest to GPU 0000:02:00.0: both in PCI bridge 0000:00:01.0"},
      {"0000:02:00.0", 1, "mlx5_0", "nearest to GPU 0000:02:00.0: both in PCI bridge 0000:00:01.0"},
      {"0000:06:00.0", 0, "mlx5_1", "nearest to GPU 0000:06:00.0: both in PCI bridge 0000:00:02.0"},
      // Another root, but still the GPU's package: the other package is farther.
      {"0000:82:00.0", 2, "mlx5_2",
       "nearest to GPU 0000:82:00.0: both in package 1; 2 of 4 taken in turn by the node's PEs"},
      {"0000:86:00.0", 3, "mlx5_3",
       "nearest to GPU 0000:86:00.0: both in package 1; 2 of 4 taken in turn by the node's PEs"},
  };
  for (const auto& row : rows) {
    std::string why;
    EXPECT_EQ(taken(four_nics(), row.gpu, row.turn, machine, &why), row.nic);
    EXPECT_EQ(why, row.why);
  }
}

TEST(NicPlaces, ANicBehindTheOtherPackageIsTakenWhereThereIsNoOther) {
  if (const std::string why = topology::why_no_hwloc(); !why.empty())
    GTEST_SKIP() << "hwloc: " << why;
  const tests::DescribedMachine described = tests::two_packages();
  std::vector<Candidate> nics = four_nics();
  nics.erase(nics.begin(), nics.begin() + 2);
  std::string why;
  EXPECT_EQ(taken(nics, "0000:02:00.0", 1, topology::look_at_machine(), &why), "mlx5_3");
  EXPECT_EQ(why,
            "2 of 2 taken in turn by the node's PEs: all are in the machine with GPU 0000:02:00.0");
}

// A tree in the kernel's format, with mlx5_0 beside the GPU 0000:81:00.0 and mlx5_1 elsewhere.
class InSysfs : public testing::Test {
 protected:
  InSysfs() {
    add("pci0000:00/0000:00:01.0/0000:01:00.0", "0");
    add("pci0000:80/0000:80:01.0/0000:81:00.0", "1");
    add("pci0000:80/0000:80:01.0/0000:82:00.0", "1");
    add("pci0000:80/0000:80:02.0/0000:83:00.0", "1");
    fs::create_directories(root_ / "bus/pci/devices");
    fs::create_directory_symlink(root_ / "devices/pci0000:80/0000:80:01.0/0000:81:00.0",
                                 root_ / "bus/pci/devices/0000:81:00.0");
    ::setenv("SYSFS_PATH", root_.c_str(), 1);
  }
  ~InSysfs() override {
    ::unsetenv("SYSFS_PATH");
    fs::remove_all(root_);
  }

  Candidate nic(const std::string& name, const std::string& device) {
    const fs::path directory = root_ / "class/infiniband" / name;
    fs::create_directories(directory / "ports/1");
    std::ofstream(directory / "ports/1/state") << kUp << "\n";
    fs::create_directory_symlink(root_ / "devices" / device, directory / "device");
    return {name, true, directory, ports_in_sysfs(directory)};
  }

 private:
  void add(const std::string& device, const std::string& numa_node) {
    fs::create_directories(root_ / "devices" / device);
    std::ofstream(root_ / "devices" / device / "numa_node") << numa_node << "\n";
  }

  const fs::path root_ = testing::TempDir() + "/sysfs." + std::to_string(::getpid());
};

TEST_F(InSysfs, TheTreeStandsInForHwloc) {
  const std::string gpu = "0000:81:00.0";
  topology::Machine unknown;
  unknown.why_no_devices = "libhwloc.so.15 is not found here";
  const Candidate far = nic("mlx5_0", "pci0000:00/0000:00:01.0/0000:01:00.0");
  const Candidate on_its_node = nic("mlx5_1", "pci0000:80/0000:80:02.0/0000:83:00.0");
  const Candidate beside = nic("mlx5_2", "pci0000:80/0000:80:01.0/0000:82:00.0");
  std::string why;
  EXPECT_EQ(taken({far, on_its_node, beside}, gpu, 0, unknown, &why), "mlx5_2");
  EXPECT_EQ(why,
            "nearest to GPU 0000:81:00.0: both in PCI bridge 0000:80:01.0 (by sysfs alone: "
            "libhwloc.so.15 is not found here)");
  EXPECT_EQ(taken({far, on_its_node}, gpu, 1, unknown), "mlx5_1");
  EXPECT_EQ(taken({far, on_its_node, beside}, "", 1, unknown), "mlx5_1") << "the CPU device";
}

}  // namespace
}  // namespace chime::host::mlx5
