// What PEs say of themselves, and what they have found out together: all that the checks of a job
// see. As JSON between PEs, which may be of different versions: what one does not know it leaves
// out.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tools/chime-doctor/report.hpp"

namespace chime::doctor {

// An active port of a host's RDMA NICs.
struct PortFacts {
  std::string where;  // "mlx5_0 port 1"
  bool is_ethernet = false;
  std::string gid;             // RoCE: the one that Chime takes; InfiniBand: the first
  std::string address;         // RoCE: the GID as an internet address, "10.0.0.1"
  std::string network;         // RoCE: "10.0.0.0/24"; empty: not known
  int lid = 0;                 // InfiniBand
  std::string interface = {};  // RoCE: that has the address; empty: not known

  // Whether others may reach it by its address.
  bool is_of_roce() const { return !address.empty() && !address.starts_with("127."); }
};

// Where a host may be reached.
struct ListeningAddress {
  std::string interface, host;  // "eth0", "10.0.0.1"
  std::uint16_t port = 0;
  // Whether the PE listens there; else nobody does, and a refusal is the host's answer.
  bool listens = true;
  // It is a RoCE port's: NICs get there by their own interfaces alone.
  bool is_of_nic = false;
  std::string network = {};  // RoCE: as PortFacts
};

// What a PE that looks at its host for all PEs there has found.
struct HostFacts {
  std::vector<Subject> report;                  // of the host alone, without what is ok
  int n_ok = 0;                                 // how many lines were
  std::map<std::string, std::string> versions;  // by what has them: "NVIDIA driver"
  std::vector<PortFacts> ports;
  std::vector<ListeningAddress> addresses;
  std::string why_not_listening;  // it cannot listen; empty: it does
};

struct PeFacts {
  int pe = 0;
  std::string host;           // its name
  std::string node;           // equal: one kernel and network namespace
  std::string process_space;  // equal: one kernel and process-id space
  std::string chime;          // the version that its program loads
  int interface = 0;          // kAbiVersion of this tool
  int n_started = 0;          // processes that the launcher says it has started; 0: it does not
  // This process's limits, by name: bytes, or a number; kNoLimit.
  std::map<std::string, std::uint64_t> limits;
  std::optional<HostFacts> of_host;  // of the one PE a node that looks at it
  std::string nic = "auto";          // CHIME_NIC
};
inline constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};

// How an attempt to reach a host went.
struct PathFacts {
  int from = 0, to = 0;  // PEs that look at their hosts
  std::string interface, host;
  std::uint16_t port = 0;
  bool listens = true;  // as ListeningAddress
  enum class Outcome {
    kOpen,      // the PE there has answered
    kClosed,    // the host has: nobody listens
    kSilent,    // nothing has come back
    kNoWay,     // this host's kernel knows no way
    kOther,     // somebody else answers there
    kNotTried,  // this process or its host had no descriptor or memory left
  } outcome = Outcome::kOpen;
  std::string why;  // the system's words; empty: it is open
  // The interface by which alone the host tried, and its address there; empty: as its routes say.
  std::string through = {}, source = {};
};

// How far a host's clock is ahead of another's.
struct ClockFacts {
  int pe = 0, than = 0;
  double ahead_s = 0, bound_s = 0;  // the true difference is within the bound
};

// What a PE finds out about others, two by two.
struct PairFacts {
  std::vector<PathFacts> paths;
  std::vector<ClockFacts> clocks;
};

struct Job {
  int n_pes = 0;
  std::vector<PeFacts> pes;           // that have come, ascending
  std::map<int, std::string> absent;  // the others, and why
  PairFacts found;
  std::map<int, std::string> why_no_pairs;  // PEs whose attempts are not known
};

nlohmann::json json_of(const PeFacts& facts);
nlohmann::json json_of(const PairFacts& found);
nlohmann::json json_of(const std::vector<ListeningAddress>& addresses);
// What is not there has the default value. Throw nlohmann::json::exception where a member has
// another type.
PeFacts pe_facts_of(const nlohmann::json& recorded);
PairFacts pair_facts_of(const nlohmann::json& recorded);
std::vector<ListeningAddress> addresses_of(const nlohmann::json& recorded);

}  // namespace chime::doctor
