// What starts PEs, and what carries their messages where no NIC does.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <initializer_list>

#include "tools/chime-doctor/checks/checks.hpp"

namespace chime::doctor {
namespace {

std::optional<Finding> pmix_finding(const Probes& probes) {
  if (!probes.why_no_pmix) return std::nullopt;
  if (probes.why_no_pmix->empty())
    return ok("PMIx", "", "libpmix.so.2 loads: mpirun and srun start PEs");
  return Finding{
      Level::kWarning, "PMIx", "",
      "libpmix.so.2 does not load: only chime-run starts jobs (" + *probes.why_no_pmix + ")",
      "apt-get install libpmix2, or LD_LIBRARY_PATH=<its folder>"};
}

// A folder in each of Debian's folders of libraries, then folders that others have.
std::vector<std::string> debians_and(std::initializer_list<const char*> in_debians,
                                     std::initializer_list<const char*> others) {
  std::vector<std::string> folders;
  for (const char* const libraries : {"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu"})
    for (const char* const folder : in_debians) folders.push_back(std::string(libraries) + folder);
  folders.insert(folders.end(), others.begin(), others.end());
  return folders;
}

// The names of mpi_pmix*.so in Slurm's folders; absent: no such folder.
std::optional<std::vector<std::string>> pmix_plugins(const Root& root) {
  std::optional<std::vector<std::string>> plugins;
  for (const std::string& folder :
       debians_and({"/slurm-wlm", "/slurm"},
                   {"/usr/lib64/slurm", "/usr/lib/slurm", "/usr/local/lib/slurm"})) {
    if (!root.has(folder)) continue;
    if (!plugins) plugins.emplace();
    for (const std::string& name : root.names(folder))
      if (name.starts_with("mpi_pmix") && name.ends_with(".so")) plugins->push_back(name);
  }
  return plugins;
}

bool has_debians_plugins(const Root& root) {
  return std::ranges::any_of(debians_and({"/slurm-wlm"}, {}),
                             [&](const std::string& folder) { return root.has(folder); });
}

bool has_unversioned_pmix(const Root& root) {
  return std::ranges::any_of(
      debians_and({"/pmix2/lib", ""}, {"/usr/lib64", "/usr/local/lib"}),
      [&](const std::string& folder) { return root.has(folder + "/libpmix.so"); });
}

// Slurm's mpi_guide, "PMIx": srun --mpi=pmix loads mpi_pmix*.so, which opens "libpmix.so", a link
// that Debian has in libpmix-dev (github.com/openpmix/openpmix/issues/3038 has its message).
// Without either each process is PE 0 of 1.
std::optional<Finding> slurm_finding(const Machine& machine) {
  if (!machine.probes.has_srun) return ok("Slurm", "", "no srun here");
  const auto plugins = pmix_plugins(machine.root);
  if (!plugins) return ok("Slurm", "", "srun is here, its plug-ins are not found: srun --mpi=list");
  if (plugins->empty())
    return Finding{Level::kWrong, "Slurm", "",
                   "srun has no PMIx plug-in: it starts each process as PE 0 of 1",
                   "install slurm-wlm-basic-plugins, or build Slurm --with-pmix; srun --mpi=list "
                   "must show pmix"};
  if (has_debians_plugins(machine.root) && !has_unversioned_pmix(machine.root))
    return Finding{
        Level::kWrong, "Slurm", "",
        fmt::format("{} opens libpmix.so, and there is none: 'can not load PMIx library'",
                    plugins->front()),
        "apt-get install libpmix-dev"};
  return ok("Slurm", "", fmt::format("{}: srun --mpi=pmix", fmt::join(*plugins, ", ")));
}

std::optional<Finding> fabric_finding(const Machine& machine) {
  if (!machine.probes.fabric) return std::nullopt;
  const FabricAnswers& fabric = *machine.probes.fabric;
  if (!fabric.why_not.empty())
    return Finding{Level::kWarning, "libfabric", "",
                   fabric.why_not + ": other hosts are reached by mlx5 NICs alone",
                   "apt-get install libfabric1"};
  const std::string all = fmt::format("{}", fmt::join(fabric.providers, ", "));
  const auto has = [&](const char* name) {
    return std::ranges::any_of(fabric.providers,
                               [&](const std::string& one) { return one.find(name) != one.npos; });
  };
  if (!has("tcp") && !has("verbs") && !has("efa") && !has("cxi"))
    return Finding{
        Level::kWarning, "libfabric", "",
        fmt::format("no provider reaches other hosts (it has {})", all.empty() ? "none" : all),
        "fi_info -l; unset FI_PROVIDER"};
  return ok("libfabric", "", all);
}

std::optional<Finding> hwloc_finding(const Probes& probes) {
  if (!probes.why_no_hwloc) return std::nullopt;
  if (probes.why_no_hwloc->empty()) return ok("hwloc", "", "loads: PEs take near GPUs and NICs");
  return Finding{Level::kWarning, "hwloc", "",
                 *probes.why_no_hwloc + ": PEs take GPUs in turn, near or not",
                 "apt-get install libhwloc15"};
}

}  // namespace

Findings check_launch(const Machine& machine) {
  Findings findings;
  for (auto& finding : {pmix_finding(machine.probes), slurm_finding(machine),
                        fabric_finding(machine), hwloc_finding(machine.probes)})
    if (finding) findings.push_back(*finding);
  return findings;
}

}  // namespace chime::doctor
