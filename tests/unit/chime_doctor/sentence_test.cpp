// What init says of machines where a NIC was wanted and not had, or a GPU and it fall short: one
// sentence, with the command that mends it. Machines are folders of a few files.
#include "host/diagnosis/sentence.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace chime::doctor {
namespace {

namespace fs = std::filesystem;

// Removed with the test.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "chime-sentence-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~Folder() { fs::remove_all(folder_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  Folder& put(const std::string& path, const std::string& text) {
    const fs::path whole = folder_ / path;
    fs::create_directories(whole.parent_path());
    std::ofstream(whole) << text << "\n";
    return *this;
  }
  Folder& link(const std::string& path, const std::string& target) {
    const fs::path whole = folder_ / path;
    fs::create_directories(whole.parent_path());
    fs::create_directories(folder_ / target);
    fs::create_symlink(folder_ / target, whole);
    return *this;
  }
  Machine machine(const std::string& nic = "auto") const {
    host::Settings settings;
    settings.symmetric_bytes = 1 << 30;
    settings.nic.device = nic;
    return {Root(folder_), Probes(), settings};
  }

 private:
  fs::path folder_;
};

void put_nic(Folder& folder, const std::string& state, const std::string& name = "mlx5_0",
             const std::string& gid_type = "RoCE v2") {
  const std::string port = "sys/class/infiniband/" + name + "/ports/1/";
  folder.put("sys/bus/pci/rescan", "")
      .put("dev/infiniband/uverbs0", "")
      .put(port + "state", state)
      .put(port + "phys_state", "3: Disabled")
      .put(port + "link_layer", "Ethernet")
      .put(port + "gids/0", "0000:0000:0000:0000:0000:ffff:0a00:0001")
      .put(port + "gid_attrs/types/0", gid_type)
      .put(port + "gid_attrs/ndevs/0", "eth7");
}

// At a PCI address, with a driver.
void put_pci_nic(Folder& folder, const std::string& address, const std::string& driver) {
  const std::string device = "sys/bus/pci/devices/" + address + "/";
  folder.put(device + "vendor", "0x15b3")
      .put(device + "class", "0x020000")
      .link(device + "driver", "sys/bus/pci/drivers/" + driver);
}

void put_limit(Folder& folder, const std::string& bytes) {
  folder.put("proc/self/limits", "Max locked memory  " + bytes + "  " + bytes + "  bytes");
}

TEST(WhyNoNic, IsSilentWhereThereIsNone) {
  Folder folder;
  folder.put("sys/bus/pci/rescan", "");
  EXPECT_EQ(why_no_nic(folder.machine()), "");
}

TEST(WhyNoNic, IsSilentWhereChimeCanUseNoneThatIsThere) {
  for (const char* driver : {"mlx4_core", "vfio-pci", "mlx5_vfio_pci"}) {
    Folder folder;
    put_pci_nic(folder, "0000:18:00.0", driver);
    put_limit(folder, "65536");
    EXPECT_EQ(why_no_nic(folder.machine()), "") << driver;
  }
  Folder folder;
  put_pci_nic(folder, "0000:18:00.0", "mlx5_core");
  EXPECT_EQ(why_no_nic(folder.machine()).rfind("chime-doctor: RDMA devices: NVIDIA NICs", 0), 0u);
}

TEST(WhyNoNic, IsSilentWhereNothingIsWrong) {
  Folder folder;
  put_nic(folder, "4: ACTIVE");
  put_limit(folder, "unlimited");
  EXPECT_EQ(why_no_nic(folder.machine()), "");
}

TEST(WhyNoNic, NamesAPortThatIsDown) {
  Folder folder;
  put_nic(folder, "1: DOWN");
  EXPECT_EQ(why_no_nic(folder.machine()),
            "chime-doctor: link of mlx5_0 port 1: state 1: DOWN, physical state 3: Disabled: no "
            "port is active; mend: ip link set eth7 up");
}

TEST(WhyNoNic, SaysNothingOfOtherDevicesThanTheOneWanted) {
  Folder folder;
  put_nic(folder, "4: ACTIVE", "mlx5_0", "IB/RoCE v1");
  put_nic(folder, "1: DOWN", "mlx5_1");
  EXPECT_EQ(why_no_nic(folder.machine("mlx5_0"))
                .rfind("chime-doctor: RoCE v2 address of mlx5_0 port 1: the port has none", 0),
            0u);
  for (const char* nic : {"mlx5_1", "mlx5_1:1"})
    EXPECT_EQ(why_no_nic(folder.machine(nic)),
              "chime-doctor: link of mlx5_1 port 1: state 1: DOWN, physical state 3: Disabled: no "
              "port that CHIME_NIC names is active; mend: ip link set eth7 up");
}

TEST(WhyNoNic, LeavesAMisspeltNameToTheErrorThatListsDevices) {
  Folder folder;
  put_nic(folder, "4: ACTIVE", "mlx5_0", "IB/RoCE v1");
  put_limit(folder, "65536");
  EXPECT_EQ(why_no_nic(folder.machine("mlx5_7")), "");
}

TEST(WhyNoNic, NamesALimitThatIsTooSmall) {
  Folder folder;
  put_nic(folder, "4: ACTIVE");
  put_limit(folder, "65536");
  EXPECT_EQ(why_no_nic(folder.machine()).rfind("chime-doctor: locked memory: 64 KiB", 0), 0u);
}

TEST(WhyNoNic, SaysNothingOfOtherLimits) {
  Folder folder;
  put_nic(folder, "4: ACTIVE");
  folder.put("proc/self/limits", "Max open files  20  20  files");
  EXPECT_EQ(why_no_nic(folder.machine()), "");
}

constexpr char kOpenModule[] =
    "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.76.05  Release Build";
constexpr char kProprietaryModule[] =
    "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar 5 22:23:56 UTC";

TEST(WhyKernelsDoNotRing, NamesTheDriversOptionForDoorbells) {
  Folder folder;
  put_nic(folder, "4: ACTIVE");
  folder.put("proc/driver/nvidia/version", kOpenModule)
      .put("proc/driver/nvidia/params", "EnableStreamMemOPs: 1");
  EXPECT_EQ(why_kernels_do_not_ring(folder.machine())
                .rfind("chime-doctor: PeerMappingOverride: not set", 0),
            0u);
  EXPECT_EQ(why_queues_are_far(folder.machine()), "");
  folder.put("proc/driver/nvidia/params", "RegistryDwords: \"PeerMappingOverride=1;\"");
  EXPECT_EQ(why_kernels_do_not_ring(folder.machine()), "");
}

TEST(WhyQueuesAreFar, NamesAProprietaryModuleWithoutPeermem) {
  Folder folder;
  put_nic(folder, "4: ACTIVE");
  folder.put("proc/driver/nvidia/version", kProprietaryModule);
  EXPECT_EQ(
      why_queues_are_far(folder.machine()).rfind("chime-doctor: GPU memory for NICs: no NIC", 0),
      0u);
  EXPECT_EQ(why_kernels_do_not_ring(folder.machine()), "");
}

}  // namespace
}  // namespace chime::doctor
