// Chime itself: does a program get the library of this tool, and are the variables' values taken?
#include <fmt/format.h>

#include "host/errors/error.hpp"
#include "tools/chime-doctor/checks/checks.hpp"

namespace chime::doctor {
namespace {

Finding library_finding(const Machine& machine) {
  const auto& found = machine.probes.library;
  if (!found) return ok("Chime", "", CHIME_VERSION_TEXT);
  const auto& [version, folder] = *found;
  if (version == CHIME_VERSION_TEXT) return ok("Chime", "", version + " in " + folder);
  return {Level::kWrong, "Chime", "",
          fmt::format("programs load version {} ({}), and this tool is of " CHIME_VERSION_TEXT,
                      version, folder),
          "remove that folder from LD_LIBRARY_PATH, or use its own chime-run"};
}

}  // namespace

Findings check_chime(const Machine& machine) {
  Findings findings{library_finding(machine)};
  host::Settings scratch;
  for (const host::Variable& variable : host::variables()) {
    const auto value = machine.probes.environment.find(std::string(variable.name));
    if (value == machine.probes.environment.end() || !variable.read) continue;
    try {
      variable.read(variable, value->second, scratch);
    } catch (const host::Error& error) {
      findings.push_back({Level::kWrong, std::string(variable.name), "", error.message(),
                          "unset " + std::string(variable.name) + ", or take one of these values"});
    }
  }
  for (const std::string& late : machine.probes.late)
    findings.push_back({Level::kWarning, "late answer", late, "none in time, so not checked",
                        "chime-doctor --patience 30 waits longer; for GPUs nvidia-smi -pm 1, for "
                        "libraries LD_DEBUG=files"});
  for (const auto& [question, how] : machine.probes.ended)
    findings.push_back({Level::kWrong, "no answer", question,
                        "the process that asked ended: " + how,
                        "so may programs: LD_DEBUG=files chime-doctor shows the library's file"});
  return findings;
}

}  // namespace chime::doctor
