// The options of chime-run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "host/topology/cpu_places.hpp"

namespace chime::run {

// PEs of another host.
struct HostShare {
  std::string name;
  int n_pes;
  std::vector<std::string> agent;  // the command that starts chime-run --agent there
};

struct Options {
  int n_pes = 0;
  std::vector<HostShare> hosts;        // in the order of their PEs; none: all are on this machine
  std::string interface;               // by which other hosts reach this one; empty: every one
  double start_limit_s = 60;           // for the agents of other hosts
  std::vector<std::string> variables;  // NAME=value, for the PEs
  bool keeps_going = false;            // a failed PE does not end the others
  bool has_prefix = true;              // "[2] " before each line of PE 2
  std::optional<topology::PlaceKind> binding;  // to what each PE is bound, in turn
  double time_limit_s = 0;                     // 0: none
  double grace_s = 2;                          // between asking PEs to end and killing them
  std::string timeline;                        // the file, as an absolute path; empty: none
  std::vector<std::string> command;
};

// Exit codes with a meaning of their own.
inline constexpr int kExitCannotWrite = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitTimeLimit = 124;
inline constexpr int kExitCannotRun = 126;
inline constexpr int kExitNotFound = 127;
inline constexpr int kExitSignalBase = 128;

}  // namespace chime::run
