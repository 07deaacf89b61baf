// Does a NIC reach the GPU's memory, and a kernel the NIC's registers?
#include <fmt/format.h>

#include <sstream>

#include "host/diagnosis/checks/checks.hpp"
#include "host/diagnosis/facts/nic_choice.hpp"
#include "host/diagnosis/facts/pci.hpp"
#include "host/diagnosis/facts/versions.hpp"

namespace chime::doctor {
namespace {

// A line of `resource` is "start end flags": the kernel's Documentation/PCI/sysfs-pci.rst. NVIDIA
// calls the second region that is there BAR1; H100 has a region of 64 bits before it, which takes
// two lines (github.com/fastfetch-cli/fastfetch/issues/1658).
std::optional<std::uint64_t> bar1_bytes(const PciDevice& gpu, const Root& root) {
  std::istringstream lines(root.text(gpu.folder + "/resource").value_or(""));
  int regions = 0;
  for (std::string line; std::getline(lines, line);) {
    std::uint64_t start = 0, end = 0;
    std::istringstream(line) >> std::hex >> start >> end;
    if (end > start && ++regions == 2) return end - start + 1;
  }
  return std::nullopt;
}

// A NIC reaches memory of a GPU through BAR1 alone: NVIDIA's "GPUDirect RDMA", section "Display BAR
// Space". Registration of more fails: github.com/Mellanox/nv_peer_memory/issues/101.
std::optional<Finding> bar1_finding(const PciDevice& gpu, const Machine& machine) {
  const auto bytes = bar1_bytes(gpu, machine.root);
  if (!bytes) return std::nullopt;
  const std::uint64_t heap = machine.settings.symmetric_bytes;
  const std::string sizes = fmt::format("{} MiB", *bytes >> 20);
  if (*bytes > heap) return ok("BAR1", gpu.address, sizes + ", more than a PE's heap");
  return Finding{Level::kWrong, "BAR1", gpu.address,
                 fmt::format("{}: a NIC reaches GPU memory through it, and the heap has {} MiB "
                             "(CHIME_SYMMETRIC_SIZE)",
                             sizes, heap >> 20),
                 "switch on 'Above 4G decoding' and 'Resizable BAR' in the BIOS, or make the heap "
                 "smaller"};
}

// dma-buf: the open kernel modules, and Linux 5.12 for ib_uverbs (NVIDIA's GPU Operator manual,
// "GPUDirect RDMA", prerequisites). ibv_reg_dmabuf_mr is of rdma-core 34, which check_nics looks
// at.
std::string why_no_dma_buf(const Machine& machine) {
  const auto module = nvidia_module(machine.root);
  const Version kernel = kernel_version(machine.root);
  if (module && !module->is_open) return "the kernel module is the proprietary one";
  if (!kernel.empty() && kernel < Version{5, 12}) return "Linux " + text_of(kernel) + " is too old";
  if (!machine.probes.cuda) return {};
  for (const auto& [address, gpu] : machine.probes.cuda->gpus)
    if (!gpu.has_dma_buf) return "the driver denies it for GPU " + address;
  return {};
}

bool has_peermem(const Root& root) {
  return root.has("/sys/module/nvidia_peermem") || root.has("/sys/module/nv_peer_mem");
}

std::optional<Finding> registration_finding(const Machine& machine) {
  const std::string why_not = why_no_dma_buf(machine);
  const bool driver_is_late = why_not.empty() && !machine.probes.cuda;
  if (driver_is_late) return std::nullopt;
  if (why_not.empty()) return ok("GPU memory for NICs", "", "registered by dma-buf");
  if (has_peermem(machine.root))
    return ok("GPU memory for NICs", "",
              "registered by nvidia-peermem; without it there were no way: no dma-buf, because " +
                  why_not);
  return Finding{
      Level::kWrong, "GPU memory for NICs", "",
      "no NIC can register it: no dma-buf, because " + why_not +
          ", and the kernel module nvidia-peermem is not loaded",
      "install the open kernel modules (Linux 5.12 or newer), or modprobe nvidia-peermem"};
}

// NVSHMEM's installation guide, "GPU initiated communication": the key lets the driver map the
// NIC's registers for kernels. /proc/driver/nvidia/params has the module's options.
std::optional<Finding> doorbell_finding(const Root& root) {
  const auto options = root.text("/proc/driver/nvidia/params");
  if (!options) return std::nullopt;
  if (options->find("PeerMappingOverride=1") != std::string::npos)
    return ok("PeerMappingOverride", "", "set: kernels post doorbells themselves");
  return Finding{Level::kWarning, "PeerMappingOverride", "",
                 "not set: the driver may not map the NIC's registers for kernels, and then a host "
                 "thread posts doorbells, microseconds later",
                 "put 'options nvidia NVreg_RegistryDwords=\"PeerMappingOverride=1;\"' into "
                 "/etc/modprobe.d/nvidia.conf, update-initramfs -u, reboot"};
}

}  // namespace

Findings check_gpu_memory(const Machine& machine) {
  Findings findings;
  if (!nvidia_module(machine.root) || devices_to_take(machine).empty()) return findings;
  for (const PciDevice& gpu : nvidia_gpus(machine.root))
    if (auto finding = bar1_finding(gpu, machine)) findings.push_back(*finding);
  if (auto finding = registration_finding(machine)) findings.push_back(*finding);
  if (auto finding = doorbell_finding(machine.root)) findings.push_back(*finding);
  return findings;
}

}  // namespace chime::doctor
