#include "tools/chime-doctor/diagnosis.hpp"

#include <utility>

#include "host/errors/error.hpp"
#include "tools/chime-doctor/checks/checks.hpp"
#include "tools/chime-doctor/probes/probes.hpp"

namespace chime::doctor {
namespace {

// A refused value counts as unset here; check_chime reports it.
host::Settings settings_of(const Probes& probes) {
  const auto is_refused = [&](const host::Variable& variable, const std::string& text) {
    host::Settings scratch;
    try {
      if (variable.read) variable.read(variable, text, scratch);
      return false;
    } catch (const host::Error&) {
      return true;
    }
  };
  return host::read_settings([&](std::string_view name) -> std::optional<std::string> {
    const auto value = probes.environment.find(std::string(name));
    if (value == probes.environment.end()) return std::nullopt;
    for (const host::Variable& variable : host::variables())
      if (variable.name == name && is_refused(variable, value->second)) return std::nullopt;
    return value->second;
  });
}

Root root_at(const std::string& folder) {
  return folder.empty() ? root_of_this_machine() : Root(folder);
}

Machine machine_of(Root root, Probes probes) {
  host::Settings settings = settings_of(probes);
  return {std::move(root), std::move(probes), std::move(settings)};
}

}  // namespace

Machine look_at_machine(const Asking& asking) {
  Root root = root_at(asking.root);
  Probes probes = asking.root.empty() ? gather_probes(root, asking.patience) : read_probes(root);
  return machine_of(std::move(root), std::move(probes));
}

Machine look_quickly_at_machine(const Asking& asking) {
  Root root = root_at(asking.root);
  Probes probes = asking.root.empty() ? gather_little(root, asking.patience) : read_probes(root);
  return machine_of(std::move(root), std::move(probes));
}

std::vector<Subject> check_machine(const Machine& machine) {
  return {
      {"GPU", check_driver(machine)},       {"GPU memory", check_gpu_memory(machine)},
      {"PCIe", check_pcie(machine)},        {"NIC", check_nics(machine)},
      {"RoCE", check_roce(machine)},        {"Limits", check_limits(machine)},
      {"Launchers", check_launch(machine)}, {"Network", check_network(machine)},
      {"Chime", check_chime(machine)},
  };
}

}  // namespace chime::doctor
