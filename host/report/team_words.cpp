#include "host/report/team_words.hpp"

#include <fmt/format.h>

#include "chime/abi/words.h"
#include "chime/error.h"
#include "chime/types.h"
#include "host/errors/operation_name.hpp"
#include "host/settings/spelling.hpp"

namespace chime::host {
namespace {

// ", rank 1" of a member.
std::string rank_words(const TeamTable& teams, chime_team_t team, int pe) {
  const auto known = teams.find(abi::team_without_lane(team));
  const int rank = known && pe >= 0 ? known->members.rank(pe) : -1;
  return rank < 0 ? "" : fmt::format(", rank {}", rank);
}

// "chime_broadcast of 64 bytes from root 1"; without bytes where members have different ones.
std::string call_words(Operation operation, std::uint64_t bytes, int root) {
  const bool is_uneven = operation == Operation::kCollect || operation == Operation::kAlltoallv;
  return spoken(operation_name(operation)) + (is_uneven ? "" : fmt::format(" of {} bytes", bytes)) +
         (operation == Operation::kBroadcast ? fmt::format(" from root {}", root) : "");
}

}  // namespace

std::string team_sentence(std::int64_t team) {
  if (team == CHIMEX_TEAM_SAME_MYPE_NODE)
    return fmt::format(
        "which PEs the team {} has in a job of several nodes, kernels know when the host has "
        "asked; "
        "call {} with it before",
        spoken_extended_constant("TEAM_SAME_MYPE_NODE"), spoken("chime_team_n_pes"));
  const auto handle = static_cast<std::int32_t>(team);
  if (team > 0 && abi::team_generation(handle) > 0)
    return fmt::format(
        "this PE is in no team {} (entry {}, generation {}, lane {}): it was destroyed, or another "
        "PE's handle was passed, or CHIME_TEAM_LANES is smaller",
        team, abi::team_index(handle), abi::team_generation(handle), abi::team_lane(handle));
  return fmt::format(
      "there is no team {}; the teams are {} (0), {} (1), {} (2) and {} (3), and those that {} "
      "makes",
      team, spoken_constant("TEAM_WORLD"), spoken_constant("TEAM_SHARED"),
      spoken_extended_constant("TEAM_NODE"), spoken_extended_constant("TEAM_SAME_MYPE_NODE"),
      spoken("chime_team_split_strided"));
}

bool is_collective(Operation operation) {
  switch (operation) {
    case Operation::kReduce:
    case Operation::kReducescatter:
    case Operation::kBroadcast:
    case Operation::kFcollect:
    case Operation::kAlltoall:
    case Operation::kInscan:
    case Operation::kExscan:
    case Operation::kCollect:
    case Operation::kAlltoalls:
    case Operation::kAlltoallv:
      return true;
    default:
      return false;
  }
}

bool is_meeting(Operation operation) {
  switch (operation) {
    case Operation::kBarrierAll:
    case Operation::kSyncAll:
    case Operation::kBarrier:
    case Operation::kTeamSync:
    case Operation::kTeamSplit:
      return true;
    default:
      return is_collective(operation);
  }
}

std::string of_team_words(const TeamTable& teams, const void* address, int pe) {
  const auto team = teams.team_at(static_cast<const std::byte*>(address));
  if (!team || abi::team_index(*team) == 0) return "";
  return fmt::format("{} of {}", rank_words(teams, *team, pe), teams.words(*team));
}

std::string of_others_words(const TeamTable& teams, const abi::ErrorRecord& record) {
  const auto operation = static_cast<Operation>(record.operation);
  std::string others = "another member";
  if (operation == Operation::kBroadcast) {
    others = "one nearer to the root";
  } else if (is_collective(operation)) {
    const auto* const address = reinterpret_cast<const std::byte*>(record.address);
    const auto group = teams.awaited_with(record.pe, address);
    if (!group) return "";
    others = "one of " + group->words();
  }
  return fmt::format(", or for {}, for which that one may wait,", others);
}

std::string root_sentence(const TeamTable& teams, const abi::ErrorRecord& record) {
  return fmt::format("there is no member {} of {} to be the root",
                     static_cast<std::int64_t>(record.expected),
                     teams.words(static_cast<chime_team_t>(record.seen)));
}

std::string unalike_sentence(const TeamTable& teams, const abi::ErrorRecord& record) {
  const auto handle = static_cast<chime_team_t>(record.expected & 0xffffffff);
  const auto other = static_cast<Operation>(abi::operation_of_call(record.seen));
  const std::string theirs = call_words(other, record.waited_ns, abi::root_of_call(record.seen));
  const std::string ours = call_words(static_cast<Operation>(record.operation), record.address,
                                      abi::root_of_call(record.expected));
  const std::string difference = theirs == ours ? "with another operation or type of elements"
                                                : fmt::format("{}, and this PE {}", theirs, ours);
  return fmt::format(
      "PE {}{} of {} makes another call in lane {}: {}; all members make the same (CHIME_CHECK=1)",
      record.pe, rank_words(teams, handle, record.pe), teams.words(handle), abi::team_lane(handle),
      difference);
}

std::string refused_sentence(const TeamTable& teams, const abi::ErrorRecord& record) {
  const auto handle = static_cast<chime_team_t>(record.expected);
  return fmt::format("PE {}{} of {} refuses the call, and says why", record.pe,
                     rank_words(teams, handle, record.pe), teams.words(handle));
}

std::string team_refusal_sentence(const TeamTable& teams, const abi::ErrorRecord& record) {
  const auto handle = static_cast<chime_team_t>(record.expected);
  const std::string team = teams.words(handle);
  if (static_cast<Fault>(record.fault) == Fault::kTeamInUse)
    return fmt::format(
        "another thread of this PE is in a call of {}, lane {}; a lane has one call at a time, and "
        "{} names another lane (CHIME_CHECK=1)",
        team, abi::team_lane(handle), spoken("chimex_team_lane"));
  const std::string blamed = record.pe < 0 ? ""
                                           : fmt::format("; to blame is PE {}{}", record.pe,
                                                         rank_words(teams, handle, record.pe));
  const bool is_split = static_cast<Operation>(record.operation) == Operation::kTeamSplit;
  return fmt::format("{} {} no more, since an earlier call of it failed: {}{}", team,
                     is_split ? "makes teams" : "meets", chimex_status_string(record.status),
                     blamed);
}

}  // namespace chime::host
