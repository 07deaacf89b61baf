// The NVIDIA driver: is it there, do its halves fit, what does it promise to NICs?
#include <fmt/format.h>

#include <algorithm>

#include "host/diagnosis/facts/nic_choice.hpp"
#include "host/diagnosis/facts/pci.hpp"
#include "host/diagnosis/facts/versions.hpp"
#include "tools/chime-doctor/checks/checks.hpp"

namespace chime::doctor {
namespace {

// cuModuleGetFunctionCount and cuFuncLoad, by which Chime loads kernels before the first launch,
// are of CUDA 12.4 (cuda.h; host/gpu/cuda/late_loading.hpp).
constexpr int kEarlyLoading = 12040;

// Both halves must be of one version: the module refuses other libraries, with CUDA's error 803.
// NVIDIA's driver README, "Known issues"; /proc/driver/nvidia/version has the module's.
std::optional<Finding> find_mismatch(const NvidiaModule& module, const Root& root) {
  const auto libraries = library_versions("libcuda.so.1", root);
  if (libraries.empty() || std::ranges::find(libraries, module.version) != libraries.end())
    return std::nullopt;
  return Finding{Level::kWrong, "NVIDIA driver", "",
                 fmt::format("libcuda.so is of version {}, the loaded kernel module of {}: CUDA "
                             "does not start",
                             libraries.front(), module.version),
                 "reboot, or rmmod nvidia_uvm nvidia_drm nvidia_modeset nvidia && modprobe nvidia"};
}

Finding cuda_finding(const CudaAnswers& cuda) {
  if (!cuda.why_not.empty())
    return {Level::kWrong, "CUDA", "", "the driver does not start: " + cuda.why_not,
            "nvidia-smi must list the GPUs; in a container: docker run --gpus all"};
  const std::string version = fmt::format("{}.{}", cuda.version / 1000, cuda.version % 1000 / 10);
  if (cuda.version < kEarlyLoading)
    return {Level::kWarning, "CUDA", "",
            fmt::format("the driver runs CUDA {} at most: before 12.4 Chime cannot load kernels "
                        "early, and the first launch of one may wait for running ones for ever",
                        version),
            "install NVIDIA's driver 550 or newer, or set CUDA_MODULE_LOADING=EAGER"};
  return ok("CUDA", "", "the driver runs CUDA " + version);
}

// CUDA driver API, cuDeviceGetAttribute. Chime's heap is made of VMM allocations
// (host/gpu/cuda/memory.cpp), so the attribute for these counts, too.
Finding gpudirect_finding(const std::string& address, const GpuAttributes& gpu) {
  if (!gpu.has_rdma || !gpu.has_vmm_rdma)
    return {Level::kWrong, "GPUDirect RDMA", address,
            fmt::format("{}: the driver lets no NIC into memory of this GPU{}", gpu.name,
                        gpu.has_rdma ? " that cuMemCreate gives" : ""),
            "use a data centre or workstation GPU; without one set CHIME_NIC=off"};
  if (!gpu.keeps_order)
    return {Level::kWarning, "GPUDirect RDMA", address,
            gpu.name +
                ": the driver does not promise that kernels see a NIC's writes in order, so "
                "the NIC's queues stay in host memory, which kernels read slowly",
            "install a newer driver"};
  return ok("GPUDirect RDMA", address,
            gpu.name + ": NICs reach its memory, and kernels see their writes in order");
}

// NVIDIA's driver README, "Interaction with the Nouveau Driver": one driver controls a GPU at a
// time, and Nouveau must be disabled before NVIDIA's driver is installed.
Finding without_module(const std::vector<PciDevice>& gpus) {
  const auto is_nouveaus = [](const PciDevice& gpu) { return gpu.driver == "nouveau"; };
  if (std::ranges::any_of(gpus, is_nouveaus))
    return {Level::kWrong, "NVIDIA driver", "",
            fmt::format("nouveau drives {} of {} NVIDIA GPUs, and has no CUDA",
                        std::ranges::count_if(gpus, is_nouveaus), gpus.size()),
            "install NVIDIA's driver; echo blacklist nouveau > /etc/modprobe.d/nouveau.conf, "
            "update-initramfs -u, reboot"};
  return {Level::kWrong, "NVIDIA driver", "",
          fmt::format("there are NVIDIA GPUs ({}), and the kernel module nvidia is not loaded",
                      gpus.size()),
          "modprobe nvidia; dmesg | grep NVRM has the reason if that fails"};
}

Finding unseen_finding() {
  return {Level::kWarning, "GPU", "",
          "/sys is hidden here, so where GPUs stand, and what is between them and NICs, is not "
          "checked",
          "run chime-doctor outside of the container, or show it /sys: docker run -v /sys:/sys:ro"};
}

}  // namespace

Findings check_driver(const Machine& machine) {
  const auto gpus = nvidia_gpus(machine.root);
  const auto module = nvidia_module(machine.root);
  Findings findings;
  if (sys_is_hidden(machine.root))
    findings.push_back(unseen_finding());
  else if (gpus.empty() && vfio_holds_gpus(machine.root))
    return {ok("GPU", "", "vfio holds all NVIDIA GPUs; kernels run on the CPU device")};
  else if (gpus.empty() && !module)
    return {ok("GPU", "", "no NVIDIA GPU: kernels run on the CPU device")};
  if (!module && gpus.empty()) return findings;
  if (!module) return {without_module(gpus)};
  if (auto mismatch = find_mismatch(*module, machine.root)) return {*mismatch};
  findings.push_back(ok("NVIDIA driver", "",
                        fmt::format("{}, {} kernel module", module->version,
                                    module->is_open ? "open" : "proprietary")));
  if (!machine.probes.cuda) return findings;
  findings.push_back(cuda_finding(*machine.probes.cuda));
  if (devices_to_take(machine).empty()) return findings;
  for (const auto& [address, gpu] : machine.probes.cuda->gpus)
    findings.push_back(gpudirect_finding(address, gpu));
  return findings;
}

}  // namespace chime::doctor
