// The network interfaces that start-up and fabrics use.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "tools/chime-doctor/checks/checks.hpp"

namespace chime::doctor {
namespace {

using Interfaces = std::vector<Interface>;

// PMIx servers and chime-run listen on 127.0.0.1, which a fresh network namespace lacks.
Finding loopback_finding(const Interfaces& interfaces) {
  const auto lo = std::ranges::find(interfaces, "lo", &Interface::name);
  const bool works = lo != interfaces.end() && lo->is_up && !lo->addresses.empty();
  if (works) return ok("loopback", "", "up");
  return {Level::kWrong, "loopback", "", "lo is down: launchers do not reach their own processes",
          "ip link set lo up"};
}

std::string usable_names(const Interfaces& interfaces) {
  std::vector<std::string> names;
  for (const Interface& one : interfaces)
    if (one.name != "lo" && one.is_up && !one.addresses.empty()) names.push_back(one.name);
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

std::optional<Finding> chosen_finding(const std::string& variable, const std::string& name,
                                      const Interfaces& interfaces) {
  if (name.empty()) return std::nullopt;
  const auto found = std::ranges::find_if(interfaces, [&](const Interface& one) {
    return one.name == name || std::ranges::find(one.addresses, name) != one.addresses.end();
  });
  const bool works = found != interfaces.end() && found->is_up && !found->addresses.empty();
  if (works) return ok(variable, "", name + " is up");
  return Finding{Level::kWrong, variable, "",
                 found == interfaces.end() ? "no interface is called " + name
                                           : name + " is down, or has no address",
                 "take one that is up and has an address: " + usable_names(interfaces)};
}

}  // namespace

Findings check_network(const Machine& machine) {
  if (!machine.probes.interfaces) return {};
  const Interfaces& interfaces = *machine.probes.interfaces;
  Findings findings{loopback_finding(interfaces),
                    ok("other hosts", "", "by interfaces " + usable_names(interfaces))};
  for (const auto& finding :
       {chosen_finding("CHIME_BOOTSTRAP_IF", machine.settings.bootstrap_interface, interfaces),
        chosen_finding("CHIME_IFACE", machine.settings.fabric.interface, interfaces)})
    if (finding) findings.push_back(*finding);
  return findings;
}

}  // namespace chime::doctor
