#include "host/settings/config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>

#include "host/errors/error.hpp"

namespace chime::host {
namespace {

constexpr int kConfigVersion = chimex_config_t CHIMEX_CONFIG_INITIALIZER.version;

[[noreturn]] void refuse(const std::string& why) { throw Error("setup", CHIMEX_ERR_INVALID, why); }

// The launcher's variables say which PE the process is. The executor reads its own once, for all
// PEs of the process, before any of them joins.
bool is_of_the_environment_alone(const Variable& variable) {
  return variable.read == nullptr || variable.name.starts_with("CHIME_SIMT_");
}

std::string why_unknown(const std::string& name) {
  const auto warnings = unknown_variable_warnings(std::span(&name, 1));
  if (!warnings.empty()) return warnings.front();
  return fmt::format(
      "the setting '{}' means nothing to Chime; chime-info --variables has the names", name);
}

void check_name(const std::string& name) {
  const auto all = variables();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const Variable& variable) { return variable.name == name; });
  if (found == all.end()) refuse(why_unknown(name));
  if (is_of_the_environment_alone(*found))
    refuse(fmt::format("{} is read from the environment alone; set the variable", name));
}

void check_version(const chimex_config_t& config) {
  if (config.version != kConfigVersion)
    refuse(
        fmt::format("config has version {}, this library knows {}; begin with "
                    "CHIMEX_CONFIG_INITIALIZER",
                    config.version, kConfigVersion));
  if (config.count != 0 && config.settings == nullptr)
    refuse(fmt::format("config has {} settings at a null pointer", config.count));
}

}  // namespace

Lookup lookup_of(const chimex_config_t* config) {
  if (config == nullptr) return process_environment;
  check_version(*config);
  std::map<std::string, std::string, std::less<>> explicitly;
  for (const chimex_setting_t& setting : std::span(config->settings, config->count)) {
    if (setting.name == nullptr || setting.value == nullptr)
      refuse("a setting of config has a null name or value; leave it out to keep the default");
    check_name(setting.name);
    if (!explicitly.emplace(setting.name, setting.value).second)
      refuse(fmt::format("config has {} twice", setting.name));
  }
  return [explicitly](std::string_view name) {
    const auto found = explicitly.find(name);
    return found == explicitly.end() ? process_environment(name) : found->second;
  };
}

}  // namespace chime::host
