#include "tools/chime-doctor/job/look.hpp"

#include <sys/utsname.h>

#include <algorithm>
#include <cstdlib>

#include "bootstrap/place.hpp"
#include "chime/abi/context.h"
#include "host/diagnosis/facts/limits.hpp"
#include "host/diagnosis/facts/nic_choice.hpp"
#include "host/diagnosis/facts/versions.hpp"
#include "tools/chime-doctor/diagnosis.hpp"
#include "tools/chime-doctor/job/ports.hpp"

namespace chime::doctor {
namespace {

std::string host_name() {
  utsname names{};
  ::uname(&names);
  return names.nodename;
}

// Variables that launchers set: the number of processes of a step or job.
int processes_started() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS", "PMI_SIZE"})
    if (const char* const value = std::getenv(name)) return std::atoi(value);
  return 0;
}

std::map<std::string, std::uint64_t> limits_in(const Machine& machine) {
  std::map<std::string, std::uint64_t> limits;
  static_assert(kUnlimited == kNoLimit);
  const auto put = [&](const char* name, const std::optional<std::uint64_t>& value) {
    if (value) limits[name] = *value;
  };
  put("locked memory", soft_limit("Max locked memory", machine.root));
  put("open files", soft_limit("Max open files", machine.root));
  if (machine.probes.shared_memory) limits["/dev/shm"] = machine.probes.shared_memory->bytes;
  return limits;
}

// By kind: NICs of one kind have one line of firmware.
void add_firmware(const Machine& machine, std::map<std::string, std::string>& versions) {
  const Root& root = machine.root;
  for (const std::string& nic : devices_to_take(machine)) {
    const std::string folder = "/sys/class/infiniband/" + nic;
    const std::string version = root.text(folder + "/fw_ver").value_or("");
    std::string& all = versions["firmware of " + root.text(folder + "/hca_type").value_or(nic)];
    if (!version.empty() && all.find(version) == std::string::npos)
      all += (all.empty() ? "" : ", ") + version;
  }
  std::erase_if(versions, [](const auto& one) { return one.second.empty(); });
}

std::map<std::string, std::string> versions_in(const Machine& machine) {
  std::map<std::string, std::string> versions;
  if (const auto module = nvidia_module(machine.root)) versions["NVIDIA driver"] = module->version;
  if (machine.probes.cuda && machine.probes.cuda->why_not.empty())
    versions["CUDA"] = std::to_string(machine.probes.cuda->version);
  if (const auto release = rdma_core_version(machine.root))
    versions["rdma-core"] = std::to_string(*release);
  for (const auto& [what, soname] :
       {std::pair("libfabric", "libfabric.so.1"), std::pair("libpmix", "libpmix.so.2")})
    if (const auto all = library_versions(soname, machine.root); !all.empty())
      versions[what] = all.front();
  add_firmware(machine, versions);
  return versions;
}

}  // namespace

PeFacts facts_of_pe(int pe, const Machine& machine) {
  const auto& library = machine.probes.library;
  return {pe,
          host_name(),
          bootstrap::name_of_this_node(),
          bootstrap::name_of_this_process_space(),
          library ? library->version : CHIME_VERSION_TEXT,
          static_cast<int>(kAbiVersion),
          processes_started(),
          limits_in(machine),
          std::nullopt,
          machine.settings.nic.device};
}

HostFacts facts_of_host(const Machine& machine) {
  HostFacts facts;
  facts.report = check_machine(machine);
  facts.n_ok = how_many(facts.report, Level::kOk);
  for (Subject& subject : facts.report)
    std::erase_if(subject.findings,
                  [](const Finding& finding) { return finding.level == Level::kOk; });
  std::erase_if(facts.report, [](const Subject& subject) { return subject.findings.empty(); });
  facts.versions = versions_in(machine);
  facts.ports = port_facts_of(machine);
  return facts;
}

}  // namespace chime::doctor
