#include "tools/chime-doctor/doctor.hpp"

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "host/errors/error.hpp"
#include "tools/chime-doctor/checks/checks.hpp"
#include "tools/chime-doctor/report.hpp"

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

Machine machine_at(const std::string& folder, std::chrono::milliseconds patience) {
  const char* const sysfs = folder.empty() ? std::getenv("SYSFS_PATH") : nullptr;
  const bool is_path = sysfs != nullptr && *sysfs == '/';
  Root root(folder.empty() ? "/" : folder, is_path ? sysfs : "/sys");
  Probes probes = folder.empty() ? gather_probes(root, patience) : read_probes(root);
  host::Settings settings = settings_of(probes);
  return {std::move(root), std::move(probes), std::move(settings)};
}

}  // namespace

void diagnose_and_exit(const Options& options) {
  const auto patience =
      std::chrono::milliseconds(static_cast<std::int64_t>(options.patience_s * 1000));
  const Machine machine = machine_at(options.root, patience);
  const std::vector<Subject> report = {
      {"GPU", check_driver(machine)},       {"GPU memory", check_gpu_memory(machine)},
      {"PCIe", check_pcie(machine)},        {"NIC", check_nics(machine)},
      {"RoCE", check_roce(machine)},        {"Limits", check_limits(machine)},
      {"Launchers", check_launch(machine)}, {"Network", check_network(machine)},
      {"Chime", check_chime(machine)},
  };
  const std::string text = options.as_json ? json_of(report) : text_of(report, options.is_brief);
  const bool is_printed = std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0;
  if (!is_printed) std::perror("chime-doctor: the report cannot be printed");
  std::_Exit(!is_printed ? 2 : how_many(report, Level::kWrong) > 0 ? 1 : 0);
}

}  // namespace chime::doctor
