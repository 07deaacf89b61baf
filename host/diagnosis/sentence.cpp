#include "host/diagnosis/sentence.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "host/diagnosis/checks/checks.hpp"

namespace chime::doctor {
namespace {

Machine machine_at_a_glance(const host::Settings& settings) {
  return {root_of_this_machine(), Probes(), settings};
}

std::string sentence_of(const Finding& finding) {
  return fmt::format("chime-doctor: {}{}: {}; mend: {}", finding.what,
                     finding.where.empty() ? "" : " of " + finding.where, finding.seen,
                     finding.mend);
}

// Of the first that is at least so bad; empty: there is none.
std::string first_sentence(const Findings& findings, Level level) {
  const auto found = std::ranges::find_if(
      findings, [level](const Finding& finding) { return finding.level >= level; });
  return found == findings.end() ? std::string() : sentence_of(*found);
}

Findings joined(Findings all, const Findings& more) {
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace

std::string why_no_nic(const Machine& machine) {
  Findings limits = check_limits(machine);
  std::erase_if(limits, [](const Finding& finding) { return finding.what != "locked memory"; });
  return first_sentence(joined(joined(check_nics(machine), check_roce(machine)), limits),
                        Level::kWrong);
}

std::string why_gpu_falls_short(const Machine& machine) {
  return first_sentence(check_gpu_memory(machine), Level::kWarning);
}

// The emulated NIC is on no machine's list.
std::string why_no_nic(const host::Settings& settings) {
  return settings.nic.is_soft() ? std::string() : why_no_nic(machine_at_a_glance(settings));
}

std::string why_gpu_falls_short(const host::Settings& settings) {
  return settings.nic.is_soft() ? std::string()
                                : why_gpu_falls_short(machine_at_a_glance(settings));
}

}  // namespace chime::doctor
