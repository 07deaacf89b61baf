// The limits of this shell's processes, and of the machine's memory.
#include "host/diagnosis/facts/limits.hpp"

#include <fmt/format.h>

#include <cstdint>

#include "host/diagnosis/checks/checks.hpp"
#include "host/diagnosis/facts/rdma.hpp"

namespace chime::doctor {
namespace {

// ibv_reg_mr(3) pins memory, which counts: the heap in host memory, queues and buffers of every PE.
// A GPU's memory does not count. Without a NIC nothing of Chime is pinned; libfabric's verbs may
// pin through one that CHIME_NIC excludes.
std::optional<Finding> locked_memory_finding(const Machine& machine) {
  const auto bytes = soft_limit("Max locked memory", machine.root);
  if (!bytes) return std::nullopt;
  if (*bytes == kUnlimited) return ok("locked memory", "", "unlimited");
  const std::string seen = fmt::format("{} KiB (ulimit -l)", *bytes >> 10);
  const bool has_nic = !mlx5_devices(machine.root).empty();
  const std::uint64_t heap = machine.settings.symmetric_bytes;
  if (*bytes > heap) return ok("locked memory", "", seen);
  if (may_lock_more(machine.root))
    return ok("locked memory", "", seen + "; CAP_IPC_LOCK lets this user exceed it");
  if (!has_nic) return ok("locked memory", "", seen + "; there is no NIC that pins memory");
  return Finding{
      Level::kWrong, "locked memory", "",
      fmt::format("{}: a NIC cannot register a heap of {} MiB", seen, heap >> 20),
      "ulimit -l unlimited; '* - memlock unlimited' in /etc/security/limits.conf; services: "
      "LimitMEMLOCK=infinity; Slurm: PropagateResourceLimitsExcept=MEMLOCK"};
}

// chime-run wants 16 and 4 for each PE (tools/chime-run/main.cpp): with 80 it starts 16 PEs. A PE
// has one for each peer of its node, and more for NICs and fabrics.
constexpr std::uint64_t kFewFiles = 80, kEnoughFiles = 1024;

std::optional<Finding> files_finding(const Root& root) {
  const auto files = soft_limit("Max open files", root);
  if (!files) return std::nullopt;
  const std::string seen = fmt::format("{} (ulimit -n)", *files);
  if (*files >= kEnoughFiles) return ok("open files", "", seen);
  return Finding{*files < kFewFiles ? Level::kWrong : Level::kWarning, "open files", "",
                 seen + ": jobs of many PEs do not start", "ulimit -n 65536"};
}

// libfabric's shm wants room for an endpoint of each processor (host/transport/ofi/fabric/
// provider.cpp), and MPI programs more. docker gives 64 MiB unless asked.
constexpr std::uint64_t kShmBytesOfProcessor = 16 << 20;

// The fabric is asked for shm by name, or takes it by itself for PEs of one node that do not map
// each other (host/transport/ofi/fabric/provider.cpp).
bool uses_shm_provider(const host::Settings& settings) {
  if (!settings.fabric.is_auto()) return settings.fabric.provider.find("shm") != std::string::npos;
  return settings.p2p.size != host::P2pGroups::kAll;
}

std::optional<Finding> shared_memory_finding(const Probes& probes, const host::Settings& settings) {
  if (!probes.shared_memory) return std::nullopt;
  const Room& room = *probes.shared_memory;
  const std::uint64_t wanted = probes.processors * kShmBytesOfProcessor;
  const std::string seen = fmt::format("{} of {} MiB free", room.free >> 20, room.bytes >> 20);
  if (room.free > wanted) return ok("/dev/shm", "", seen);
  if (!uses_shm_provider(settings))
    return ok("/dev/shm", "", seen + ", and nothing of Chime lies there");
  const bool is_small = room.bytes <= wanted;
  return Finding{
      Level::kWrong, "/dev/shm", "",
      fmt::format("{}: libfabric's shm wants {} MiB", seen, wanted >> 20),
      fmt::format("{}, or CHIME_FABRIC='tcp;ofi_rxm'",
                  is_small ? "mount -o remount,size=50% /dev/shm; docker run --shm-size=8g"
                           : "remove files that killed jobs left there")};
}

// proc(5): 2 refuses what exceeds swap and a share of memory; heaps are reserved whole.
std::optional<Finding> overcommit_finding(const Root& root) {
  const auto policy = root.number("/proc/sys/vm/overcommit_memory");
  if (!policy) return std::nullopt;
  if (*policy != 2) return ok("overcommit", "", fmt::format("vm.overcommit_memory={}", *policy));
  return Finding{Level::kWarning, "overcommit", "",
                 "vm.overcommit_memory=2: all heaps together must fit into what the kernel commits",
                 "sysctl vm.overcommit_memory=0, or a smaller CHIME_SYMMETRIC_SIZE"};
}

// Linux: Documentation/admin-guide/mm/transhuge.rst. The heap of a CPU device is shared memory, for
// which Chime advises huge pages (host/gpu/memfd.cpp); most systems begin with "never", so that
// this is no warning.
std::optional<Finding> huge_pages_finding(const Root& root) {
  const auto choice = root.text("/sys/kernel/mm/transparent_hugepage/shmem_enabled");
  if (!choice) return std::nullopt;
  const auto begin = choice->find('['), end = choice->find(']');
  if (begin == std::string::npos || end == std::string::npos) return std::nullopt;
  const std::string now = choice->substr(begin + 1, end - begin - 1);
  if (now == "deny")
    return Finding{Level::kWarning, "huge pages", "", "shared memory is denied them",
                   "echo advise > /sys/kernel/mm/transparent_hugepage/shmem_enabled"};
  if (now == "never")
    return ok("huge pages", "",
              "never for shared memory; 'advise' in transparent_hugepage/shmem_enabled makes large "
              "heaps of the CPU device faster");
  return ok("huge pages", "", now + " for shared memory");
}

}  // namespace

Findings check_limits(const Machine& machine) {
  Findings findings;
  for (auto& finding : {locked_memory_finding(machine), files_finding(machine.root),
                        shared_memory_finding(machine.probes, machine.settings),
                        overcommit_finding(machine.root), huge_pages_finding(machine.root)})
    if (finding) findings.push_back(*finding);
  return findings;
}

}  // namespace chime::doctor
