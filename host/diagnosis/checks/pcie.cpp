// The way between GPUs and NICs over PCIe.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <utility>

#include "host/diagnosis/checks/checks.hpp"
#include "host/diagnosis/facts/acs.hpp"
#include "host/diagnosis/facts/nic_choice.hpp"
#include "host/diagnosis/facts/pci.hpp"

namespace chime::doctor {
namespace {

using Devices = std::vector<PciDevice>;

// NVIDIA's "GPUDirect RDMA", section "PCI addresses": the IOMMU must be off or pass addresses
// through. A group's type is in Documentation/ABI/testing/sysfs-kernel-iommu_groups: DMA and DMA-FQ
// translate, identity does not. No group: no IOMMU. The kernel's parameters are in
// Documentation/admin-guide/kernel-parameters.txt.
Finding iommu_finding(const Devices& gpus, const Devices& nics, const Root& root) {
  std::vector<std::string> translated;
  for (const Devices* devices : {&gpus, &nics})
    for (const PciDevice& device : *devices)
      if (root.text(device.folder + "/iommu_group/type").value_or("").starts_with("DMA"))
        translated.push_back(device.address);
  if (translated.empty())
    return ok("IOMMU", "", "off, or passes the addresses of GPUs and NICs through");
  return {Level::kWrong, "IOMMU", "",
          fmt::format("it translates addresses of {}: a NIC's accesses to GPU memory fail or are "
                      "slow",
                      fmt::join(translated, ", ")),
          "add iommu=pt (aarch64: iommu.passthrough=1) to the kernel's command line "
          "(GRUB_CMDLINE_LINUX) and reboot"};
}

// NCCL's manual, "Troubleshooting", section "PCI Access Control Services", and
// github.com/NVIDIA/nccl/issues/304: with redirection a switch sends peers' requests up to the root
// complex, where many machines lose them. A bridge above the shared one does not see them.
void note_redirecting(const PciDevice& a, const PciDevice& b, const Root& root,
                      std::set<std::string>& redirecting, bool& is_hidden) {
  for (const auto& bridge : bridges_towards(a, b)) {
    const auto config = root.bytes("/sys/bus/pci/devices/" + bridge + "/config");
    const auto redirects = redirects_peers(config.value_or(""));
    if (!redirects) is_hidden = true;
    if (redirects.value_or(false)) redirecting.insert(bridge);
  }
}

Finding acs_finding(const Devices& gpus, const Devices& nics, const Root& root) {
  std::set<std::string> redirecting;
  bool is_hidden = false;
  for (const PciDevice& gpu : gpus)
    for (const PciDevice& nic : nics) {
      if (distance_between(gpu, nic) != Distance::kSwitch) continue;
      note_redirecting(gpu, nic, root, redirecting, is_hidden);
      note_redirecting(nic, gpu, root, redirecting, is_hidden);
    }
  if (!redirecting.empty())
    return {Level::kWrong, "PCIe ACS", "",
            fmt::format("bridges between a GPU and its NIC redirect their requests to the root "
                        "complex ({}): GPUDirect fails or is slow",
                        fmt::join(redirecting, ", ")),
            fmt::format("switch ACS off in the BIOS, or after each boot: {}", [&] {
              std::string all;
              for (const std::string& bridge : redirecting)
                all += (all.empty() ? "" : "; ") +
                       fmt::format("setpci -s {} ECAP_ACS+6.w=0000", bridge);
              return all;
            }())};
  if (is_hidden)
    return {Level::kWarning, "PCIe ACS", "",
            "only the host's root can see whether bridges redirect requests",
            "sudo chime-doctor, outside any container"};
  return ok("PCIe ACS", "", "no bridge between a GPU and its NIC redirects requests");
}

// The names of nvidia-smi topo -m.
const char* short_name(Distance distance) {
  switch (distance) {
    case Distance::kSwitch:
      return "PIX";
    case Distance::kRootComplex:
      return "PHB";
    case Distance::kNumaNode:
      return "NODE";
    case Distance::kSocket:
    case Distance::kSystem:
      break;
  }
  return "SYS";
}

std::string all_distances(const PciDevice& gpu, const Devices& nics) {
  std::vector<std::string> each;
  for (const PciDevice& nic : nics)
    each.push_back(nic.address + " " + short_name(distance_between(gpu, nic)));
  return fmt::format("{}", fmt::join(each, ", "));
}

// Seen, and the mend, of two devices at two root complexes.
std::pair<std::string, std::string> far_apart(const PciDevice& a, const PciDevice& b) {
  const std::string fabric = ": data crosses the processor's own fabric";
  const std::string one_switch = "put both behind one PCIe switch";
  const std::string one_socket = "move the NIC or the GPU to a slot of the same socket";
  const Distance distance = distance_between(a, b);
  if (distance == Distance::kNumaNode) return {"at another root complex" + fabric, one_switch};
  if (distance == Distance::kSocket)
    return {"at another NUMA node of the same socket" + fabric, one_switch};
  if (a.socket < 0 || b.socket < 0)
    return {
        "at another NUMA node, perhaps at another socket: data may cross the link between "
        "processors, the slowest way",
        one_socket};
  return {"at another socket: data crosses the link between processors, the slowest way",
          one_socket};
}

// NVIDIA's "GPUDirect RDMA", section "Supported systems", ranks these ways: a switch is best, one
// processor costs peer-to-peer reads, the link between processors most. The one figure is of
// forums.developer.nvidia.com/t/55564, three SSDs and a P40 at one Xeon E5; none is ours, since no
// machine with GPU and NIC was at hand.
Finding distance_finding(const PciDevice& gpu, const Devices& nics) {
  const PciDevice& nic = *nearest(gpu, nics);
  const Distance distance = distance_between(gpu, nic);
  const std::string ways = fmt::format(" ({})", all_distances(gpu, nics));
  if (distance == Distance::kSwitch)
    return ok("nearest NIC", gpu.address, nic.address + ", behind the same PCIe switch" + ways);
  if (distance == Distance::kRootComplex)
    return ok("nearest NIC", gpu.address,
              nic.address +
                  ", at the same root complex: data passes the processor, seen to cost a "
                  "quarter of the bandwidth" +
                  ways);
  const auto [seen, mend] = far_apart(gpu, nic);
  return {Level::kWarning, "nearest NIC", gpu.address, nic.address + ", " + seen + ways, mend};
}

// Documentation/ABI/testing/sysfs-bus-pci. A GPU that idles lowers its speed, and not its width.
std::optional<Finding> lanes_finding(const PciDevice& device, const Root& root) {
  const auto now = root.number(device.folder + "/current_link_width");
  const auto most = root.number(device.folder + "/max_link_width");
  constexpr long long kUnknownWidth = 255;  // of a device that is off; a virtual function has 0
  if (!now || !most || *now == 0 || *most >= kUnknownWidth) return std::nullopt;
  if (*now >= *most) return ok("PCIe lanes", device.address, fmt::format("{} of {}", *now, *most));
  return Finding{
      Level::kWarning, "PCIe lanes", device.address,
      fmt::format("{} of {}: the device has a part of its bandwidth", *now, *most),
      fmt::format("reseat it, or use a wider slot: lspci -vv -s {}, LnkSta", device.address)};
}

}  // namespace

Findings check_pcie(const Machine& machine) {
  Findings findings;
  const Devices gpus = nvidia_gpus(machine.root), nics = pci_nics_to_take(machine);
  for (const Devices* devices : {&gpus, &nics})
    for (const PciDevice& device : *devices)
      if (auto finding = lanes_finding(device, machine.root)) findings.push_back(*finding);
  if (gpus.empty() || nics.empty()) return findings;
  for (const PciDevice& gpu : gpus) findings.push_back(distance_finding(gpu, nics));
  findings.push_back(iommu_finding(gpus, nics, machine.root));
  findings.push_back(acs_finding(gpus, nics, machine.root));
  return findings;
}

}  // namespace chime::doctor
