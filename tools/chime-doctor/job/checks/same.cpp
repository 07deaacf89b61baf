// Do the PEs' hosts have the same: versions, and limits?
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

#include "tools/chime-doctor/job/checks/checks.hpp"
#include "tools/chime-doctor/job/names.hpp"

namespace chime::doctor {
namespace {

// The PEs that have each value.
using Holders = std::vector<std::pair<std::string, std::vector<int>>>;

void add(Holders& holders, const std::string& value, int pe) {
  auto found = std::ranges::find(holders, value, &Holders::value_type::first);
  if (found == holders.end()) found = holders.insert(found, {value, {}});
  found->second.push_back(pe);
}

std::vector<std::string> hosts_of(const std::vector<int>& pes, const Job& job) {
  std::vector<std::string> hosts;
  for (const PeFacts& pe : job.pes)
    if (std::ranges::binary_search(pes, pe.pe) && std::ranges::find(hosts, pe.host) == hosts.end())
      hosts.push_back(pe.host);
  return hosts;
}

// "580.76.05 on a (PEs 0-1), 550.54 on b (PEs 2-3)".
std::string words_of(Holders holders, const Job& job) {
  std::ranges::stable_sort(holders, std::greater<>(),
                           [](const auto& one) { return one.second.size(); });
  std::vector<std::string> each;
  for (const auto& [value, pes] : holders)
    each.push_back(
        fmt::format("{} on {} ({})", value, in_short(hosts_of(pes, job)), words_of_pes(pes)));
  return fmt::format("{}", fmt::join(each, ", "));
}

struct Rule {
  const char* mend;
  Level level;
};

// Structs of one version of Chime cross between PEs (include/chime/abi). Different versions
// of the others mostly work together; where they do not, the reason is hard to find.
Rule rule_for(const std::string& what) {
  if (what == "Chime")
    return {"install one version on all hosts, and let LD_LIBRARY_PATH lead to it", Level::kWrong};
  if (what == "NVIDIA driver" || what == "CUDA")
    return {"install one version of NVIDIA's driver on all hosts", Level::kWarning};
  if (what.starts_with("firmware"))
    return {"flint -d <device> -i <image> burn, then mlxfwreset or reboot", Level::kWarning};
  return {"install one version on all hosts: apt-get install --only-upgrade", Level::kWarning};
}

std::map<std::string, Holders> versions_in(const Job& job) {
  std::map<std::string, Holders> all;
  for (const PeFacts& pe : job.pes) {
    add(all["Chime"], fmt::format("{} (interface {})", pe.chime, pe.interface), pe.pe);
    if (!pe.of_host) continue;
    for (const auto& [what, version] : pe.of_host->versions) add(all[what], version, pe.pe);
  }
  return all;
}

struct Limit {
  const char* name;
  bool is_bytes;
  const char* mend;
};
constexpr Limit kLimits[] = {
    {"locked memory", true,
     "the same in /etc/security/limits.conf of all hosts; daemons that start PEs: "
     "LimitMEMLOCK=infinity for slurmd or ssh; then start them anew"},
    {"open files", false,
     "the same in /etc/security/limits.conf of all hosts; daemons that start PEs: "
     "LimitNOFILE=65536"},
    {"/dev/shm", true,
     "mount -o remount,size=50% /dev/shm where it is small; docker run --shm-size=8g"},
};

std::string text_of(std::uint64_t value, const Limit& limit) {
  if (value == kNoLimit) return "unlimited";
  return limit.is_bytes ? fmt::format("{} KiB", value >> 10) : std::to_string(value);
}

// Half as much is a setting; less difference is a machine with other memory.
bool are_alike(std::uint64_t least, std::uint64_t most) {
  return least == most || least > most / 2;
}

std::optional<Finding> limit_finding(const Limit& limit, const Job& job) {
  Holders holders;
  std::uint64_t least = kNoLimit, most = 0;
  for (const PeFacts& pe : job.pes) {
    const auto value = pe.limits.find(limit.name);
    if (value == pe.limits.end()) continue;
    least = std::min(least, value->second);
    most = std::max(most, value->second);
    add(holders, text_of(value->second, limit), pe.pe);
  }
  if (holders.empty()) return std::nullopt;
  if (are_alike(least, most))
    return ok(limit.name, "",
              holders.size() == 1
                  ? "the same for all PEs: " + holders.front().first
                  : "about the same for all PEs: " + text_of(least, limit) + " and more");
  return Finding{Level::kWarning, limit.name, "",
                 words_of(holders, job) + ": the PEs with the least fail first", limit.mend};
}

}  // namespace

Findings check_same_versions(const Job& job) {
  Findings findings;
  for (const auto& [what, holders] : versions_in(job)) {
    const Rule rule = rule_for(what);
    if (holders.size() == 1)
      findings.push_back(ok(what, "", holders.front().first));
    else
      findings.push_back({rule.level, what, "", words_of(holders, job), rule.mend});
  }
  return findings;
}

Findings check_same_limits(const Job& job) {
  Findings findings;
  for (const Limit& limit : kLimits)
    if (auto finding = limit_finding(limit, job)) findings.push_back(*finding);
  return findings;
}

}  // namespace chime::doctor
