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
  Machine machine() const {
    host::Settings settings;
    settings.symmetric_bytes = 1 << 30;
    return {Root(folder_), Probes(), settings};
  }

 private:
  fs::path folder_;
};

constexpr char kPort[] = "sys/class/infiniband/mlx5_0/ports/1/";

void put_nic(Folder& folder, const std::string& state) {
  folder.put("sys/bus/pci/rescan", "")
      .put("dev/infiniband/uverbs0", "")
      .put(kPort + std::string("state"), state)
      .put(kPort + std::string("phys_state"), "3: Disabled")
      .put(kPort + std::string("link_layer"), "Ethernet")
      .put(kPort + std::string("gids/0"), "0000:0000:0000:0000:0000:ffff:0a00:0001")
      .put(kPort + std::string("gid_attrs/types/0"), "RoCE v2")
      .put(kPort + std::string("gid_attrs/ndevs/0"), "eth7");
}

void put_limit(Folder& folder, const std::string& bytes) {
  folder.put("proc/self/limits", "Max locked memory  " + bytes + "  " + bytes + "  bytes");
}

TEST(WhyNoNic, IsSilentWhereThereIsNone) {
  Folder folder;
  folder.put("sys/bus/pci/rescan", "");
  EXPECT_EQ(why_no_nic(folder.machine()), "");
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

TEST(WhyGpuFallsShort, NamesTheDriversOptionForDoorbells) {
  Folder folder;
  put_nic(folder, "4: ACTIVE");
  folder
      .put("proc/driver/nvidia/version",
           "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.76.05  Release Build")
      .put("proc/driver/nvidia/params", "EnableStreamMemOPs: 1");
  EXPECT_EQ(
      why_gpu_falls_short(folder.machine()).rfind("chime-doctor: PeerMappingOverride: not set", 0),
      0u);
  folder.put("proc/driver/nvidia/params", "RegistryDwords: \"PeerMappingOverride=1;\"");
  EXPECT_EQ(why_gpu_falls_short(folder.machine()), "");
}

TEST(WhyGpuFallsShort, NamesAProprietaryModuleWithoutPeermem) {
  Folder folder;
  put_nic(folder, "4: ACTIVE");
  folder.put("proc/driver/nvidia/version",
             "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar 5 22:23:56 UTC");
  EXPECT_EQ(
      why_gpu_falls_short(folder.machine()).rfind("chime-doctor: GPU memory for NICs: no NIC", 0),
      0u);
}

}  // namespace
}  // namespace chime::doctor
