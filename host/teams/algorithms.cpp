#include "host/teams/algorithms.hpp"

#include <algorithm>

namespace chime::host {
namespace {

// What a request carries by itself (device/coll/message.cuh) goes at once; more is written twice on
// its way by a slot.
constexpr std::uint64_t kCarriedByRequest = 16;
std::uint64_t from_more_than_carried(const TeamSize&) { return kCarriedByRequest + 1; }
// By doubling, what a slot takes is worth the second copy.
std::uint64_t from_more_than_doubled(const TeamSize& team) {
  return team.doubles ? team.slot_bytes + 1 : from_more_than_carried(team);
}
// What slots take in more than one turn.
std::uint64_t from_more_than_slots(const TeamSize& team) {
  return team.members * team.slot_bytes + 1;
}
// A scan by blocks takes a turn more, three rounds a part, and slots for what is left.
constexpr std::uint64_t kSlotsWorthParts = 8;
std::uint64_t from_worth_parts(const TeamSize& team) { return kSlotsWorthParts * team.slot_bytes; }
std::uint64_t most(const TeamSize&) { return kNoBytes; }
std::uint64_t most_of_slot(const TeamSize& team) { return team.slot_bytes; }

// Up to so many members each sends to all: a request takes a GPU some tenths of a microsecond, a
// step through another member's NIC several.
constexpr std::uint64_t kMostThatSendToAll = 16;

// The root of a tree sends a source log2(n) times, with blocks about once. But each member then
// sends to all others, which takes some microseconds: as long as a NIC takes for this many bytes.
constexpr std::uint64_t kWorthSendingToAll = 128 * 1024;
std::uint64_t from_worth_sending_to_all(const TeamSize& team) {
  return team.members <= kMostThatSendToAll ? kWorthSendingToAll : kNoBytes;
}

// By nodes a member's NIC sends less, and the data pass one member more, which takes some
// microseconds. In the least case, two nodes or two members of each, it sends less by n / 2 - 1
// blocks of an fcollect, or by half of a reduction's source.
std::uint64_t from_worth_gathering_by_nodes(const TeamSize& team) {
  const std::uint64_t blocks = team.members / 2 - 1;
  return (kWorthSendingToAll + blocks - 1) / blocks;
}
std::uint64_t from_worth_reducing_by_nodes(const TeamSize&) { return 2 * kWorthSendingToAll; }

bool has_two_others(const TeamSize& team) { return team.members > 2; }
bool has_others(const TeamSize& team) { return team.members > 1; }
bool always(const TeamSize&) { return true; }

constexpr std::string_view kTree = "to dst, each member on to up to log2(n) others";
constexpr std::string_view kSpread =
    "to dst, a block to each member from the root, and on from there to each other";
constexpr std::string_view kSlots = "through slots of the scratch";
constexpr std::string_view kDirect = "to dst, each member to each";
constexpr std::string_view kBlocks =
    "a block a member: loaded from sources where all are mapped, else sent to dst where blocks "
    "fit; else through slots";
constexpr std::string_view kParts =
    "sources are loaded where all are mapped, or sent to dst where that is no source; else through "
    "slots";

constexpr std::string_view kPrefixes =
    "a block a member, which sends each other one its prefix: to dst, where that is no source; "
    "else through slots";

constexpr ByNodes kFcollectByNodes = {
    "nodes",
    "to dst, each member to one of each other node, and on from there, where nodes have equally "
    "many members by rank",
    &CollectiveOptions::fcollect_by_nodes, &abi::SwitchSizes::fcollect_by_nodes,
    from_worth_gathering_by_nodes};
constexpr ByNodes kReduceByNodes = {
    "nodes",
    "a part a member of its node's sources, a block of that to one member of each other node, "
    "where nodes have equally many by rank, 2, 4, 8 ..., and all are at most 1024; not of private "
    "sources, nor for sums and products of half and bfloat16",
    &CollectiveOptions::reduce_by_nodes, &abi::SwitchSizes::reduce_by_nodes,
    from_worth_reducing_by_nodes};
constexpr std::string_view kStoreToAll = "to dst, by one store for all";
constexpr std::string_view kLoadFromAll =
    "a block a member, loaded from all and stored to all at once; sums, least and largest values "
    "and bits of integers of 4 and 8 bytes";

constexpr Algorithms kAll[] = {
    {"broadcast", "CHIME_COLL_BROADCAST", "tree", "blocks", "the source", kTree, kSpread,
     &CollectiveOptions::broadcast, &abi::SwitchSizes::broadcast, from_worth_sending_to_all, most,
     has_two_others},
    {"fcollect", "CHIME_COLL_FCOLLECT", "slots", "direct", "a member", kSlots, kDirect,
     &CollectiveOptions::fcollect, &abi::SwitchSizes::fcollect, from_more_than_doubled,
     most_of_slot, always, kFcollectByNodes, abi::kFcollectByMultimem, kStoreToAll},
    {"alltoall", "CHIME_COLL_ALLTOALL", "slots", "direct", "a block", kSlots, kDirect,
     &CollectiveOptions::alltoall, &abi::SwitchSizes::alltoall, from_more_than_carried,
     most_of_slot, always},
    {"reduce", "CHIME_COLL_REDUCE", "slots", "blocks", "a source", kSlots, kBlocks,
     &CollectiveOptions::reduce, &abi::SwitchSizes::reduce, from_more_than_slots, most, has_others,
     kReduceByNodes, abi::kReduceByMultimem, kLoadFromAll},
    {"reducescatter", "CHIME_COLL_REDUCESCATTER", "slots", "blocks", "a source", kSlots, kParts,
     &CollectiveOptions::reducescatter, &abi::SwitchSizes::reducescatter, from_more_than_slots,
     most, has_others},
    {"scan", "CHIME_COLL_SCAN", "slots", "blocks", "a source", kSlots, kPrefixes,
     &CollectiveOptions::scan, &abi::SwitchSizes::scan, from_worth_parts, most, has_others}};

std::uint64_t switch_size(const Algorithms& call, const CollectiveOptions& asked,
                          const TeamSize& team) {
  if (!call.has_many(team)) return kNoBytes;
  const std::uint64_t from = (asked.*call.asked).value_or(call.automatic(team));
  const std::uint64_t most = call.most_of_few(team);
  return most == kNoBytes ? from : std::min(from, most + 1);
}

// Two nodes of two members are the least.
std::uint64_t switch_size(const ByNodes& call, const CollectiveOptions& asked,
                          const TeamSize& team) {
  if (team.members < 4 || team.is_mapped) return kNoBytes;
  return (asked.*call.asked).value_or(call.automatic(team));
}

}  // namespace

std::span<const Algorithms> all_algorithms() { return kAll; }

std::string asked_words(const Algorithms& call, const CollectiveOptions& asked) {
  const CollectiveOptions::Bytes& from = asked.*call.asked;
  if ((asked.by_multimem & call.multimem) != 0) return "multimem";
  if (!from) return "auto";
  if (*from == kNoBytes) return std::string(call.few);
  const bool names_nodes = call.goes_by_nodes() && (asked.*call.by_nodes.asked).has_value();
  if (names_nodes && asked.*call.by_nodes.asked == 0) return std::string(call.by_nodes.name);
  const bool is_number = *from != 0 || (call.goes_by_nodes() && !names_nodes);
  return is_number ? std::to_string(*from) : std::string(call.many);
}

abi::SwitchSizes switch_sizes(const CollectiveOptions& asked, const TeamSize& team) {
  abi::SwitchSizes sizes;
  for (const Algorithms& call : kAll) {
    sizes.*call.switch_at = switch_size(call, asked, team);
    if (!call.goes_by_nodes()) continue;
    const std::uint64_t from = switch_size(call.by_nodes, asked, team);
    sizes.*call.by_nodes.switch_at = std::max(from, sizes.*call.switch_at);
  }
  return sizes;
}

bool are_doubled(const CollectiveOptions& asked, std::size_t members) {
  const std::uint64_t from = asked.doubling.value_or(kMostThatSendToAll + 1);
  return from != 0 && members >= from;
}

bool meets_directly(const CollectiveOptions& asked, std::size_t members, bool all_are_mapped) {
  return members <= kMostThatSendToAll && asked.direct_barrier.value_or(all_are_mapped);
}

}  // namespace chime::host
