// Every environment variable that Chime understands, in one table: name, type, default, sentence.
//
// The library reads its settings through this table, chime-info --variables prints it, and a CHIME_
// variable that is not in it is reported with the nearest name that is. Defaults are written as a
// user would write them and go through the same parsers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "chime/abi/context.h"
#include "host/errors/log.hpp"
#include "host/gpu/factory.hpp"
#include "host/options/collectives.hpp"
#include "host/options/fabric.hpp"
#include "host/options/nic.hpp"
#include "host/options/p2p.hpp"
#include "host/options/proxy.hpp"

namespace chime::host {

// The fate of survivors when a PE is dead (CHIME_ON_PEER_FAILURE).
enum class OnPeerFailure { kAbort, kReport };

enum class AmoChoice { kAuto, kOwner, kP2p };

inline constexpr std::size_t kLeastSymmetricBytes = std::size_t{1} << 20;

// The values of the variables, after defaults. Constant after construction.
struct Settings {
  std::size_t symmetric_bytes = 0;
  bool symmetric_is_raised = false;  // less was asked for than the least
  DeviceChoice device = DeviceChoice::kAuto;
  P2pGroups p2p;
  NicOptions nic;
  ProxyOptions proxy;
  FabricOptions fabric;
  AmoChoice amo = AmoChoice::kAuto;
  unsigned max_teams = 0;
  unsigned team_lanes = 0;
  unsigned collective_scratch = 0;  // bytes
  CollectiveOptions collectives;
  std::uint64_t wait_timeout_ns = 0;  // 0: no bound
  std::uint64_t init_timeout_ns = 0;
  OnError on_error = OnError::kExit;
  OnPeerFailure on_peer_failure = OnPeerFailure::kAbort;
  bool checked = false;        // CHIME_CHECK=1 and more
  bool checks_bounds = false;  // CHIME_CHECK=2: of allocations
  LogLevel log_level = LogLevel::kWarn;
  std::string trace_path;          // of the timeline; empty: none
  std::uint64_t trace_events = 0;  // for which each process has room
  std::string bootstrap_kind;      // checked by the bootstrap, which knows its kinds
  std::string bootstrap_interface;
  std::string mpi_plugin;
};

// A row of the table.
struct Variable {
  std::string_view name;
  std::string_view values;    // what may be written, for people: "bytes, K M G T", "auto|off"
  std::string_view fallback;  // the default, as one would write it; empty: unset
  std::string_view sentence;
  // Parses `text` into the settings; throws Error naming the variable and the allowed values. Null:
  // the bootstrap or the softgpu reads this variable, and checks it there.
  void (*read)(const Variable& variable, std::string_view text, Settings& settings) = nullptr;
  // The variables of NVSHMEM, OpenSHMEM and its forerunner for it, with spaces between.
  std::string_view counterparts = "";
};

std::span<const Variable> variables();

// The environment as (name, value) lookups and a list of names, so that tests can bring their own.
using Lookup = std::function<std::optional<std::string>(std::string_view name)>;
std::optional<std::string> process_environment(std::string_view name);
std::vector<std::string> process_environment_names();

// Settings from `lookup`, the table's defaults where it has nothing. Throws Error{<variable>,
// INVALID}.
Settings read_settings(const Lookup& lookup = process_environment);

// For each name that starts with CHIME_ and is not in the table: one sentence with the nearest name
// that is.
std::vector<std::string> unknown_variable_warnings(std::span<const std::string> names);

// For each name that means something to NVSHMEM or OpenSHMEM and has a counterpart here: one
// sentence that names it. None where the counterpart is among the names: that is set, too.
std::vector<std::string> counterpart_hints(std::span<const std::string> names);

}  // namespace chime::host
