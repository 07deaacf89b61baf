#include "sysfs.hpp"

#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>

#include "identity.hpp"
#include "softnic/wire/path.hpp"

namespace softnic {
namespace {

namespace fs = std::filesystem;

constexpr char kPciAddress[] = "0000:81:00.0";
constexpr char kPciDevice[] = "devices/pci0000:80/0000:81:00.0";

void write(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream out(file);
  out << text << '\n';
  if (!out.flush()) throw std::runtime_error("softnic: cannot write " + file.string());
}

// A link at `link` to `target`, both relative to the root, written as the kernel writes them:
// relative.
void link_to(const fs::path& root, const fs::path& target, const fs::path& link) {
  fs::create_directories((root / link).parent_path());
  fs::create_directory_symlink(fs::relative(root / target, (root / link).parent_path()),
                               root / link);
}

std::string guid_text() {
  char text[32];
  const auto g = identity::kGuid;
  std::snprintf(text, sizeof text, "%04x:%04x:%04x:%04x", unsigned(g >> 48 & 0xffff),
                unsigned(g >> 32 & 0xffff), unsigned(g >> 16 & 0xffff), unsigned(g & 0xffff));
  return text;
}

void write_pci_device(const fs::path& pci) {
  write(pci / "modalias", "pci:v000015B3d00001021sv000015B3sd00000023bc02sc07i00");
  write(pci / "vendor", "0x15b3");
  write(pci / "device", "0x1021");
  write(pci / "class", "0x020700");
  write(pci / "numa_node", "0");
  write(pci / "local_cpus", "ff");
  write(pci / "local_cpulist", "0-7");
  write(pci / "current_link_width", "16");
  write(pci / "current_link_speed", "32.0 GT/s PCIe");
}

void write_gids(const fs::path& port, bool ethernet) {
  const std::string nothing = "0000:0000:0000:0000:0000:0000:0000:0000";
  const std::string link_local = "fe80:0000:0000:0000:" + guid_text();
  const std::string ipv4 =
      "0000:0000:0000:0000:0000:ffff:7f00:0001";  // 127.0.0.1: all NICs are on this host
  for (unsigned i = 0; i < identity::kGids; ++i) {
    std::string gid = nothing;
    if (i == 0 || (ethernet && i == 1)) gid = link_local;
    if (ethernet && (i == 2 || i == 3)) gid = ipv4;
    write(port / "gids" / std::to_string(i), gid);
    if (gid == nothing) continue;
    write(port / "gid_attrs/types" / std::to_string(i),
          ethernet && is_roce_v2(i) ? "RoCE v2" : "IB/RoCE v1");
    if (ethernet) write(port / "gid_attrs/ndevs" / std::to_string(i), "lo");
  }
}

void write_rdma_device(const fs::path& device, bool ethernet) {
  write(device / "node_type", "1: CA");
  write(device / "node_guid", guid_text());
  write(device / "sys_image_guid", guid_text());
  write(device / "fw_ver", identity::kFirmwareText);
  write(device / "board_id", "MT_0000000838");
  write(device / "hca_type", "MT4129");
  write(device / "hw_rev", "0");
  const fs::path port = device / "ports/1";
  fs::create_directories(port / "counters");
  fs::create_directories(port / "hw_counters");
  write(port / "pkeys/0", "0xffff");
  write(port / "link_layer", ethernet ? "Ethernet" : "InfiniBand");
  write(port / "state", "4: ACTIVE");
  write(port / "phys_state", "5: LinkUp");
  write(port / "rate", "400 Gb/sec (4X NDR)");
  write(port / "lid", ethernet ? "0x0" : "0x7");
  write(port / "sm_lid", ethernet ? "0x0" : "0x1");
  write_gids(port, ethernet);
}

}  // namespace

void write_sysfs_tree(const fs::path& root, bool ethernet) {
  const fs::path pci = kPciDevice;
  const fs::path rdma = pci / "infiniband" / identity::kDeviceName;
  const fs::path uverbs = pci / "infiniband_verbs/uverbs0";
  write_pci_device(root / pci);
  write_rdma_device(root / rdma, ethernet);
  write(root / uverbs / "ibdev", identity::kDeviceName);
  write(root / uverbs / "dev",
        std::to_string(identity::kUverbsMajor) + ":" + std::to_string(identity::kUverbsMinor));
  write(root / uverbs / "abi_version", "1");
  write(root / "class/infiniband_verbs/abi_version", "6");
  link_to(root, rdma, fs::path("class/infiniband") / identity::kDeviceName);
  link_to(root, uverbs, "class/infiniband_verbs/uverbs0");
  link_to(root, pci, fs::path("bus/pci/devices") / kPciAddress);
  link_to(root, pci, rdma / "device");
  link_to(root, pci, uverbs / "device");
}

}  // namespace softnic
