#include "support/world_path.hpp"

#include <cstdlib>
#include <string_view>

namespace chime::tests {
namespace {

// Pairs of PEs map each other where the name begins with mix.
constexpr int kPair = 2;
bool has_mapped_pairs(const std::string& kind) { return kind == "mix" || kind == "mixfew"; }
// A NIC with queue pairs for one peer, and tcp for all others.
bool has_few_places(const std::string& kind) { return kind == "few" || kind == "mixfew"; }

WorldPath by_softnic(const std::string& backend, const std::string& link) {
  return {.environment = {{"CHIME_NIC", "soft"},
                          {"CHIME_NIC_BACKEND", backend},
                          {"SOFTNIC_LINK_LAYER", link == "ib" ? "infiniband" : "ethernet"}},
          .takes_softnic = true};
}

WorldPath by_fabric(const std::string& provider) {
  return {.environment = {{"CHIME_NIC", "none"},
                          {"CHIME_FABRIC", provider == "tcp" ? "tcp;ofi_rxm" : provider}}};
}

// The name after nic-, lazy-, few-, proxy- or mix-.
std::optional<WorldPath> way(const std::string& kind, const std::string& name) {
  if (kind != "proxy")
    for (const char* backend : {"verbs", "devx"})
      for (const char* link : {"ib", "roce"})
        if (name == std::string(backend) + "-" + link) return by_softnic(backend, link);
  if (kind == "proxy" || kind == "lazy" || kind == "mix")
    for (const char* provider : {"tcp", "shm"})
      if (name == provider) return by_fabric(provider);
  return std::nullopt;
}

// "2hosts-tcp": without settings for the node's PEs, so that they map each other by default.
std::optional<WorldPath> over_hosts(const std::string& name) {
  constexpr std::string_view kEnd = "hosts-tcp";
  if (name.size() != kEnd.size() + 1 || !name.ends_with(kEnd)) return std::nullopt;
  if (name[0] < '2' || name[0] > '9') return std::nullopt;
  WorldPath path = by_fabric("tcp");
  path.hosts = name[0] - '0';
  return path;
}

}  // namespace

std::optional<WorldPath> WorldPath::parse(const std::string& name) {
  if (name == "p2p") return WorldPath{};
  if (auto path = over_hosts(name)) return path;
  for (const std::string kind : {"nic", "lazy", "few", "mixfew", "proxy", "mix"}) {
    if (!name.starts_with(kind + "-")) continue;
    auto path = way(kind, name.substr(kind.size() + 1));
    if (!path) return std::nullopt;
    path->mapped = has_mapped_pairs(kind) ? kPair : 1;
    auto& set = path->environment;
    set.emplace_back("CHIME_P2P", has_mapped_pairs(kind) ? std::to_string(kPair) : "off");
    if (kind == "lazy" || has_few_places(kind)) set.emplace_back("CHIME_CONNECT", "lazy");
    if (has_few_places(kind)) {
      set.emplace_back("CHIME_NIC_PEERS", "1");
      set.emplace_back("CHIME_FABRIC", "tcp;ofi_rxm");
    }
    return path;
  }
  return std::nullopt;
}

std::string WorldPath::names() {
  return "path is p2p; nic, lazy, few, mix or mixfew with a backend and a link; proxy, lazy or mix "
         "with tcp or shm; or 2hosts-tcp, with 2 to 9 hosts that have equally many PEs, as "
         "processes";
}

bool WorldPath::set_environment(std::string* why_not) const {
  if (takes_softnic) {
#ifdef CHIME_TEST_SOFTNIC
    // The runner of moved programs sets its path (scripts/packed/gpu-check).
    setenv("CHIME_SOFTNIC_LIBRARY", CHIME_TEST_SOFTNIC, 0);
#else
    *why_not = "this build has no softnic: rdma-core's headers were not there";
    return false;
#endif
  }
  (void)why_not;
  for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
  return true;
}

}  // namespace chime::tests
