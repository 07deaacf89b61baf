#include "host/diagnosis/sentence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "host/diagnosis/checks/checks.hpp"
#include "host/diagnosis/facts/nic_choice.hpp"

namespace chime::doctor {
namespace {

Machine machine_at_a_quick_look(const host::Settings& settings) {
  return {root_of_this_machine(), Probes(), settings};
}

std::string sentence_of(const Finding& finding) {
  return fmt::format("chime-doctor: {}{}: {}; mend: {}", finding.what,
                     finding.where.empty() ? "" : " of " + finding.where, finding.seen,
                     finding.mend);
}

// The sentence of the first finding at `level` or above; empty: there is none.
std::string first_sentence(const Findings& findings, Level level) {
  const auto found = std::ranges::find_if(
      findings, [level](const Finding& finding) { return finding.level >= level; });
  return found == findings.end() ? std::string() : sentence_of(*found);
}

Findings joined(Findings all, const Findings& more) {
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

// The findings of `checks` alone.
Findings only(Findings findings, std::initializer_list<std::string_view> checks) {
  std::erase_if(findings, [&](const Finding& finding) {
    return std::ranges::find(checks, finding.what) == checks.end();
  });
  return findings;
}

// The emulated NIC is on no machine's list.
std::string sentence_for(const host::Settings& settings, std::string (*why)(const Machine&)) {
  return settings.nic.is_soft() ? std::string() : why(machine_at_a_quick_look(settings));
}

}  // namespace

std::string why_no_nic(const Machine& machine) {
  if (names_no_mlx5_port(machine))  // init's error lists what is there
    return first_sentence(only(check_nics(machine), {"RDMA devices"}), Level::kWrong);
  return first_sentence(joined(joined(check_nics(machine), check_roce(machine)),
                               only(check_limits(machine), {"locked memory"})),
                        Level::kWrong);
}

std::string why_queues_are_far(const Machine& machine) {
  return first_sentence(joined(only(check_gpu_memory(machine), {"BAR1", "GPU memory for NICs"}),
                               only(check_nics(machine), {"rdma-core"})),
                        Level::kWarning);
}

std::string why_kernels_do_not_ring(const Machine& machine) {
  return first_sentence(only(check_gpu_memory(machine), {"PeerMappingOverride"}), Level::kWarning);
}

std::string why_no_nic(const host::Settings& settings) {
  return sentence_for(settings, why_no_nic);
}

std::string why_queues_are_far(const host::Settings& settings) {
  return sentence_for(settings, why_queues_are_far);
}

std::string why_kernels_do_not_ring(const host::Settings& settings) {
  return sentence_for(settings, why_kernels_do_not_ring);
}

}  // namespace chime::doctor
