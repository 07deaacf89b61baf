// Which algorithm a collective takes: one table, for the teams of a job and for chime-info. Each
// call has two, one for few bytes and one for many. Some have others: for many, where nodes have
// equally many members (device/coll/nodes.cuh); by multimem, where GPUs have multicast and the user
// asks for it (multimem.cuh). In a large team few bytes of each member for all go by doubling
// (doubling.cuh).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "chime/abi/team.h"
#include "host/options/collectives.hpp"

namespace chime::host {

// A team, for what its algorithms depend on.
struct TeamSize {
  std::size_t members;
  std::size_t slot_bytes;  // of a member in the scratch
  bool doubles = false;    // are_doubled()
  bool is_mapped = false;  // all members map each other
};

// The third algorithm of a call. Only the members' calls find out whether it may be taken, so its
// bytes depend on nothing that some members do not know.
struct ByNodes {
  std::string_view name, means;
  CollectiveOptions::Bytes CollectiveOptions::*asked = nullptr;
  std::uint64_t abi::SwitchSizes::*switch_at = nullptr;
  std::uint64_t (*automatic)(const TeamSize&) = nullptr;
};

struct Algorithms {
  std::string_view call, variable;
  std::string_view few, many;  // names, as the variable has them
  std::string_view counted;    // whose bytes decide
  std::string_view few_means, many_means;
  CollectiveOptions::Bytes CollectiveOptions::*asked;
  std::uint64_t abi::SwitchSizes::*switch_at;
  std::uint64_t (*automatic)(const TeamSize&);
  std::uint64_t (*most_of_few)(const TeamSize&);  // bytes that the first algorithm can take
  bool (*has_many)(const TeamSize&);              // whether the team may take the second one
  ByNodes by_nodes = {};                          // no name: there is none
  // Another one, "multimem", of teams that have all GPUs of a multicast, which the user alone may
  // ask for: its bit in abi::Team::by_multimem. 0: there is none.
  std::uint32_t multimem = 0;
  std::string_view multimem_means = {};

  bool goes_by_nodes() const { return !by_nodes.name.empty(); }
};

std::span<const Algorithms> all_algorithms();

// What the user asks of a call, as its variable has it.
std::string asked_words(const Algorithms& call, const CollectiveOptions& asked);

// What `asked` and the table make of a team.
abi::SwitchSizes switch_sizes(const CollectiveOptions& asked, const TeamSize& team);

// Whether messages of up to a slot's bytes, which each member sends to all, are doubled.
bool are_doubled(const CollectiveOptions& asked, std::size_t members);

// Whether a team's members tell each other directly that they have come to a barrier or sync.
bool meets_directly(const CollectiveOptions& asked, std::size_t members, bool all_are_mapped);

}  // namespace chime::host
