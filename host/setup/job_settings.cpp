#include "host/setup/job_settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

#include "host/errors/error.hpp"
#include "host/teams/algorithms.hpp"

namespace chime::host {
namespace {

constexpr std::string_view kKey = "chime.settings";

struct Row {
  const char* variable;
  std::string (*text)(const Settings& settings);
};

std::string symmetric_size_text(const Settings& settings) {
  return std::to_string(settings.symmetric_bytes);
}
// Whether there is a NIC is the job's; which one may be each PE's own.
std::string nic_text(const Settings& settings) {
  const NicOptions& nic = settings.nic;
  return nic.is_off() || nic.is_auto() || nic.is_soft() ? nic.device : "a device's name";
}
std::string p2p_text(const Settings& settings) {
  if (settings.p2p.is_off()) return "off";
  return settings.p2p.size == P2pGroups::kAll ? "auto" : std::to_string(settings.p2p.size);
}
std::string fabric_text(const Settings& settings) { return settings.fabric.provider; }
// The PEs of a node keep each other's connections to other hosts, or none does.
std::string fabric_timeout_text(const Settings& settings) {
  return fmt::format("{:g}", static_cast<double>(settings.fabric.timeout_ns) * 1e-9);
}
std::string connect_text(const Settings& settings) {
  switch (settings.nic.connect) {
    case Connect::kEager:
      return "eager";
    case Connect::kLazy:
      return "lazy";
    case Connect::kAuto:
      break;
  }
  return "auto";
}
std::string nic_peers_text(const Settings& settings) { return std::to_string(settings.nic.peers); }
std::string amo_text(const Settings& settings) {
  switch (settings.amo) {
    case AmoChoice::kOwner:
      return "owner";
    case AmoChoice::kP2p:
      return "p2p";
    case AmoChoice::kAuto:
      break;
  }
  return "auto";
}

std::string max_teams_text(const Settings& settings) { return std::to_string(settings.max_teams); }
std::string collective_scratch_text(const Settings& settings) {
  return std::to_string(settings.collective_scratch);
}
std::string team_lanes_text(const Settings& settings) {
  return std::to_string(settings.team_lanes);
}

template <CollectiveOptions::Bytes CollectiveOptions::*kCall>
std::string algorithm_text(const Settings& settings) {
  const auto call = std::ranges::find(all_algorithms(), kCall, &Algorithms::asked);
  return asked_words(*call, settings.collectives);
}

std::string doubling_text(const Settings& settings) {
  const std::optional<std::uint64_t>& from = settings.collectives.doubling;
  if (!from) return "auto";
  return *from == 0 ? "off" : std::to_string(*from);
}

std::string barrier_text(const Settings& settings) {
  const std::optional<bool>& direct = settings.collectives.direct_barrier;
  if (!direct) return "auto";
  return *direct ? "direct" : "rounds";
}

// Hosts may have other files.
std::string trace_text(const Settings& settings) {
  return settings.trace_path.empty() ? "no file" : "a file";
}

std::string on_peer_failure_text(const Settings& settings) {
  return settings.on_peer_failure == OnPeerFailure::kReport ? "report" : "abort";
}

// How a PE orders its own writes (CHIME_NIC_ORDER, CHIME_NIC_RELAXED_ORDERING) it decides alone:
// what others must know of it stands on its endpoint info.
constexpr Row kRows[] = {
    {"CHIME_SYMMETRIC_SIZE", symmetric_size_text},
    {"CHIME_NIC", nic_text},
    {"CHIME_FABRIC", fabric_text},
    {"CHIME_FABRIC_TIMEOUT", fabric_timeout_text},
    {"CHIME_P2P", p2p_text},
    {"CHIME_CONNECT", connect_text},
    {"CHIME_NIC_PEERS", nic_peers_text},
    {"CHIME_AMO", amo_text},
    {"CHIME_MAX_TEAMS", max_teams_text},
    {"CHIME_TEAM_LANES", team_lanes_text},
    {"CHIME_COLL_SCRATCH", collective_scratch_text},
    {"CHIME_COLL_BARRIER", barrier_text},
    {"CHIME_COLL_BROADCAST", algorithm_text<&CollectiveOptions::broadcast>},
    {"CHIME_COLL_FCOLLECT", algorithm_text<&CollectiveOptions::fcollect>},
    {"CHIME_COLL_ALLTOALL", algorithm_text<&CollectiveOptions::alltoall>},
    {"CHIME_COLL_REDUCE", algorithm_text<&CollectiveOptions::reduce>},
    {"CHIME_COLL_REDUCESCATTER", algorithm_text<&CollectiveOptions::reducescatter>},
    {"CHIME_COLL_SCAN", algorithm_text<&CollectiveOptions::scan>},
    {"CHIME_COLL_DOUBLING", doubling_text},
    {"CHIME_TRACE", trace_text},
    {"CHIME_ON_PEER_FAILURE", on_peer_failure_text}};

std::string endpoint_info_of(const Settings& settings) {
  std::string endpoint_info;
  for (const Row& row : kRows) endpoint_info += row.text(settings) + '\n';
  return endpoint_info;
}

void check_same(std::string_view theirs, const Settings& settings, int my_pe) {
  for (const Row& row : kRows) {
    const std::string_view value = theirs.substr(0, theirs.find('\n'));
    if (const std::string mine = row.text(settings); mine != value)
      throw Error(row.variable, CHIMEX_ERR_MISMATCH,
                  fmt::format("PE 0 has '{}' and PE {} has '{}'; set it alike on all PEs (mpirun "
                              "-x, srun --export)",
                              value, my_pe, mine));
    theirs.remove_prefix(std::min(theirs.size(), value.size() + 1));
  }
}

}  // namespace

void check_job_settings(bootstrap::Bootstrap& bootstrap, const Settings& settings,
                        bootstrap::Deadline deadline) {
  if (bootstrap.size() == 1) return;
  if (bootstrap.rank() == 0) {
    const std::string endpoint_info = endpoint_info_of(settings);
    return bootstrap.publish(kKey, std::as_bytes(std::span(endpoint_info)));
  }
  const bootstrap::Bytes endpoint_info = bootstrap.lookup_of_first(kKey, deadline);
  check_same({reinterpret_cast<const char*>(endpoint_info.data()), endpoint_info.size()}, settings,
             bootstrap.rank());
}

}  // namespace chime::host
