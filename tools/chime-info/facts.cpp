#include "facts.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#define CHIME_HOST_ONLY
#include "chime/abi/context.h"
#include "chime/chime.h"
#include "host/errors/error.hpp"
#include "host/gpu/factory.hpp"
#include "host/settings/env.hpp"
#include "host/topology/hwloc_library.hpp"

namespace chime::info {
namespace {

// Whether the library is there that a PMIx launcher's PEs load.
std::string pmix_library_found() {
  void* library = ::dlopen("libpmix.so.2", RTLD_LAZY | RTLD_LOCAL);
  if (!library) return "libpmix.so.2 is not found here (Debian: libpmix2)";
  ::dlclose(library);
  return "libpmix.so.2 is found";
}

std::string hwloc_found() {
  const std::string why_not = topology::why_no_hwloc();
  return why_not.empty() ? "found: PEs take near GPUs and NICs, chime-run --bind knows cores"
                         : why_not + ": PEs take GPUs in turn, --bind processors in their order";
}

std::vector<Fact> build_facts() {
  std::string kind = CHIME_BUILD_TYPE;
  if (*CHIME_SANITIZER) kind += std::string(", ") + CHIME_SANITIZER + " sanitizer";
  return {
      {"version",
       fmt::format("{}.{}.{}", CHIME_VERSION_MAJOR, CHIME_VERSION_MINOR, CHIME_VERSION_PATCH)},
      {"follows", fmt::format("OpenSHMEM {}.{}", CHIME_SPEC_MAJOR, CHIME_SPEC_MINOR)},
      {"interface", fmt::format("{}", kAbiVersion)},
      {"compiler", CHIME_COMPILER},
      {"build", kind},
      {"PMIx", CHIME_HAS_PMIX ? "compiled in; " + pmix_library_found()
                              : "not compiled in (needs libpmix-dev)"},
      {"hwloc", hwloc_found()},
      {"CUDA",
       CHIME_HAS_SOFTGPU
           ? "compiled in for the softgpu, which runs kernels on this CPU (CHIME_DEVICE=cuda)"
       : CHIME_HAS_CUDA ? "compiled in (the driver is looked for at run time)"
                        : "not compiled in"},
  };
}

// The launcher that chime_init would find, by the variables that it leaves in the environment.
std::string launcher_found() {
  if (std::getenv("CHIME_RUN_ADDRESS")) return "chime-run";
  if (std::getenv("PMIX_NAMESPACE")) return "a PMIx launcher";
  return "none: chime_init makes a job of one PE (start several with chime-run or a PMIx launcher)";
}

std::string limit_text(int resource, std::uint64_t unit, const char* unit_name) {
  rlimit limit{};
  if (::getrlimit(resource, &limit) != 0) return "unknown";
  if (limit.rlim_cur == RLIM_INFINITY) return "unlimited";
  return fmt::format("{} {}", limit.rlim_cur / unit, unit_name);
}

std::string first_line(const char* path) {
  std::string line;
  std::getline(std::ifstream(path), line);
  return line.empty() ? "unknown" : line;
}

std::vector<Fact> limit_facts() {
  std::uint64_t pages = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES));
  std::uint64_t page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return {
      {"memory", fmt::format("{} MiB", pages * page >> 20)},
      {"address space", limit_text(RLIMIT_AS, 1 << 20, "MiB (ulimit -v)")},
      {"data", limit_text(RLIMIT_DATA, 1 << 10, "KiB (ulimit -d)")},
      {"stack of a thread", limit_text(RLIMIT_STACK, 1 << 10, "KiB (ulimit -s)")},
      {"files, heaps too", limit_text(RLIMIT_FSIZE, 1 << 10, "KiB (ulimit -f)")},
      {"locked memory", limit_text(RLIMIT_MEMLOCK, 1 << 10, "KiB (ulimit -l)")},
      {"open files", limit_text(RLIMIT_NOFILE, 1, "(ulimit -n)")},
      {"processes", limit_text(RLIMIT_NPROC, 1, "(ulimit -u)")},
      {"overcommit",
       first_line("/proc/sys/vm/overcommit_memory") + " (vm.overcommit_memory; 2 bounds heaps)"},
      {"huge pages",
       first_line("/sys/kernel/mm/transparent_hugepage/shmem_enabled") + " (for shared memory)"},
  };
}

// Empty if `text` would be accepted.
std::string problem_with(const host::Variable& variable, const std::string& text) {
  if (!variable.read) return {};
  host::Settings scratch;
  try {
    variable.read(variable, text, scratch);
    return {};
  } catch (const host::Error& error) {
    return error.message();
  }
}

std::vector<VariableFact> variable_facts() {
  std::vector<VariableFact> facts;
  for (const host::Variable& variable : host::variables()) {
    VariableFact fact{std::string(variable.name),
                      std::string(variable.values),
                      std::string(variable.fallback),
                      "",
                      "",
                      std::string(variable.sentence)};
    if (auto text = host::process_environment(variable.name)) {
      const bool is_secret = variable.name == "CHIME_RUN_TOKEN";
      fact.current = is_secret ? "set" : *text;
      fact.problem = problem_with(variable, *text);
    }
    facts.push_back(std::move(fact));
  }
  return facts;
}

}  // namespace

Facts gather_facts() {
  Facts facts;
  facts.build = build_facts();
  facts.devices = host::describe_devices();
  facts.job = {{"launcher", launcher_found()}};
  facts.limits = limit_facts();
  facts.variables = variable_facts();
  const std::vector<std::string> names = host::process_environment_names();
  facts.warnings = host::unknown_variable_warnings(names);
  for (std::string& hint : host::counterpart_hints(names))
    facts.warnings.push_back(std::move(hint));
  return facts;
}

}  // namespace chime::info
