#include "host/teams/team_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "host/errors/error.hpp"
#include "host/teams/algorithms.hpp"

namespace chime::host {
namespace {

constexpr std::size_t kGranule = 64 * 1024;

// A team's meetings count from its number times this, so that no number of an older team's comes up
// to its first: 2^40 meetings a team, 2^24 teams a PE.
constexpr int kEpochBits = 40;
constexpr std::uint64_t kLastNumber = (std::uint64_t{1} << (64 - kEpochBits)) - 1;

int rounds(int n_pes) { return std::bit_width(static_cast<unsigned>(n_pes - 1)); }

// Those of the lanes, and one in which members agree.
std::size_t areas_bytes(const TeamTable::Shape& shape) {
  return static_cast<std::size_t>(shape.lanes + 1) * sizeof(abi::SyncArea);
}

// A team has this PE's words, and in each round two places for those of a peer.
std::size_t agreement_bytes(const TeamTable::Shape& shape) {
  const std::size_t places = 1 + 2 * static_cast<std::size_t>(rounds(shape.n_pes));
  const std::size_t words = shape.agreement_words() + std::size_t{1};  // and the epoch
  return places * words * sizeof(std::uint64_t);
}

std::size_t times(int n, std::size_t bytes) { return static_cast<std::size_t>(n) * bytes; }

std::size_t round_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

// A word for each member.
std::size_t arrivals_bytes(const TeamTable::Shape& shape) {
  return round_up(times(shape.n_pes, sizeof(std::uint64_t)), 64);
}
// A member's share of each half of the scratch: a slot, words, and half as many bytes for what
// words bring, which begin as elements of 16 bytes must.
constexpr std::size_t kLeastWords = 4 * sizeof(std::uint64_t);
constexpr std::size_t kLeastShare = 64 + kLeastWords + kLeastWords / 2;
std::size_t words_bytes(std::size_t share) {
  return std::max(kLeastWords, share / 4 & ~std::size_t{31});
}
std::size_t slot_of_share(std::size_t share) {
  return (share - words_bytes(share) * 3 / 2) & ~std::size_t{63};
}
std::size_t scratch_bytes(const TeamTable::Shape& shape) {
  const std::size_t least = times(shape.n_pes, 2 * kLeastShare);
  return round_up(std::max(std::size_t{shape.asked_scratch}, least), 128);
}

std::size_t words_of_bits(int bits) { return (static_cast<std::size_t>(bits) + 63) / 64; }

bool has_bit(const std::vector<std::uint64_t>& bits, int at) {
  return (bits[static_cast<std::size_t>(at) / 64] >> (at % 64) & 1) != 0;
}
void set_bit(std::vector<std::uint64_t>& bits, int at) {
  bits[static_cast<std::size_t>(at) / 64] |= std::uint64_t{1} << at % 64;
}
void clear_bit(std::vector<std::uint64_t>& bits, int at) {
  bits[static_cast<std::size_t>(at) / 64] &= ~(std::uint64_t{1} << at % 64);
}

}  // namespace

std::size_t TeamTable::Shape::zero_bytes() const {
  return round_up(times(teams, areas_bytes(*this) + agreement_bytes(*this)), 128) +
         times(teams * lanes, arrivals_bytes(*this));
}
std::size_t TeamTable::Shape::heap_bytes() const {
  return round_up(round_up(zero_bytes(), 128) + times(teams * lanes, scratch_bytes(*this)),
                  kGranule);
}

std::size_t TeamTable::Shape::slot_bytes(std::size_t members) const {
  return slot_of_share(scratch_bytes(*this) / 2 / members);
}

// The largest number, two words by which calls are compared, and the bits.
unsigned TeamTable::Shape::agreement_words() const {
  return static_cast<unsigned>(3 + words_of_bits(teams));
}

TeamTable::TeamTable(Gpu& gpu, std::byte* memory, const Shape& shape, int my_pe,
                     std::vector<int> mapped)
    : gpu_(gpu),
      memory_of_heap_(memory),
      shape_(shape),
      my_pe_(my_pe),
      mapped_(std::move(mapped)),
      memory_(gpu.allocate_device(
          times(shape.teams, sizeof(abi::Team) + times(shape.n_pes, sizeof(std::int32_t))))),
      entries_(reinterpret_cast<abi::Team*>(memory_->address())),
      known_(static_cast<std::size_t>(shape.teams)),
      free_(words_of_bits(shape.teams)) {
  for (int index = kFirstOfProgram; index < shape.teams; ++index) set_bit(free_, index);
  const std::vector<abi::Team> none(known_.size());
  gpu_.copy(entries_, none.data(), none.size() * sizeof(abi::Team));
  add_predefined(CHIME_TEAM_WORLD, Members(Triplet{0, 1, shape.n_pes}));
}

abi::Teams TeamTable::view() const {
  const std::size_t zero = shape_.zero_bytes();
  const std::size_t arrivals = zero - times(shape_.teams * shape_.lanes, arrivals_bytes(shape_));
  return {.entries = entries_,
          .count = shape_.teams,
          .lanes = shape_.lanes,
          .arrivals = memory_of_heap_ + arrivals,
          .scratch = memory_of_heap_ + round_up(zero, 128),
          .arrivals_bytes = static_cast<std::uint32_t>(arrivals_bytes(shape_)),
          .scratch_bytes = static_cast<std::uint32_t>(scratch_bytes(shape_))};
}

abi::Team TeamTable::entry_of(const KnownTeam& team) const {
  const int index = abi::team_index(team.handle);
  abi::Team entry;
  entry.handle = team.handle;
  entry.size = team.members.size();
  entry.my_rank = team.my_rank;
  entry.start = team.members.triplet().start;
  entry.stride = team.members.triplet().stride;
  entry.lanes = static_cast<std::int16_t>(shape_.lanes);
  entry.areas =
      reinterpret_cast<abi::SyncArea*>(memory_of_heap_ + times(index, areas_bytes(shape_)));
  entry.first_epoch = team.number << kEpochBits;
  entry.agreement = agreement(team);
  const auto members = static_cast<std::size_t>(entry.size);
  const std::size_t slot_bytes = shape_.slot_bytes(members);
  entry.slot_bytes = static_cast<std::uint32_t>(slot_bytes);
  entry.words_bytes = static_cast<std::uint32_t>(words_bytes(scratch_bytes(shape_) / 2 / members));
  const bool doubles = are_doubled(shape_.algorithms, members);
  entry.doubles = doubles ? 1 : 0;
  const bool is_mapped = are_all_mapped(team.members);
  entry.meets_directly = meets_directly(shape_.algorithms, members, is_mapped) ? 1 : 0;
  entry.node_members = members_of_node(team.members);
  entry.switch_at = switch_sizes(shape_.algorithms, {members, slot_bytes, doubles, is_mapped});
  if (are_all_of_multicast(team.members)) {
    entry.multicast_heap = multicast_heaps_;
    entry.by_multimem = shape_.algorithms.by_multimem;
  }
  return entry;
}

bool TeamTable::are_all_of_multicast(const Members& members) const {
  if (multicast_heaps_ == nullptr) return false;
  std::vector<int> pes;
  for (int rank = 0; rank < members.size(); ++rank) pes.push_back(members.pe(rank));
  std::ranges::sort(pes);
  return pes == multicast_pes_;
}

void TeamTable::use_multicast(std::byte* heaps, const std::vector<int>& pes) {
  const std::lock_guard lock(mutex_);
  multicast_heaps_ = heaps;
  multicast_pes_ = pes;
  std::ranges::sort(multicast_pes_);
  for (const std::optional<KnownTeam>& team : known_)
    if (team) write(*team);
}

bool TeamTable::are_all_mapped(const Members& members) const {
  for (int rank = 0; rank < members.size(); ++rank)
    if (std::ranges::find(mapped_, members.pe(rank)) == mapped_.end()) return false;
  return true;
}

int TeamTable::members_of_node(const Members& members) const {
  const auto is_mapped = [&](int rank) {
    return std::ranges::find(mapped_, members.pe(rank)) != mapped_.end();
  };
  int first = 0, count = 0;
  for (int rank = 0; rank < members.size(); ++rank)
    if (is_mapped(rank) && count++ == 0) first = rank;
  if (count < 2 || first % count != 0 || members.size() % count != 0) return 0;
  for (int rank = first; rank < first + count; ++rank)
    if (!is_mapped(rank)) return 0;
  return count;
}

std::uint64_t* TeamTable::agreement(const KnownTeam& team) const {
  const std::size_t at = times(shape_.teams, areas_bytes(shape_)) +
                         times(abi::team_index(team.handle), agreement_bytes(shape_));
  return reinterpret_cast<std::uint64_t*>(memory_of_heap_ + at);
}

void TeamTable::write(const KnownTeam& team) {
  abi::Team entry = entry_of(team);
  const auto index = index_of(team.handle);
  if (team.members.is_list()) {
    auto* const lists = reinterpret_cast<std::int32_t*>(entries_ + shape_.teams);
    std::int32_t* const list = lists + index * static_cast<std::size_t>(shape_.n_pes);
    const std::vector<std::int32_t>& pes = team.members.list();
    gpu_.copy(list, pes.data(), pes.size() * sizeof(std::int32_t));
    entry.pes = list;
  }
  gpu_.copy(entries_ + index, &entry, sizeof(entry));
}

void TeamTable::add_predefined(chime_team_t handle, Members members) {
  const int my_rank = members.rank(my_pe_);
  KnownTeam team{handle, std::move(members), my_rank};
  const std::lock_guard lock(mutex_);
  if (known_[index_of(handle)]) return;  // by another thread
  write(team);
  known_[index_of(handle)] = std::move(team);
}

void TeamProposal::combine(const TeamProposal& other) {
  last = std::max(last, other.last);
  for (std::size_t i = 0; i < free.size(); ++i) free[i] &= other.free[i];
}

TeamProposal TeamTable::propose() {
  const std::lock_guard lock(mutex_);
  return {last_, free_};
}

bool TeamTable::has_room(const TeamProposal& agreed, std::size_t teams) const {
  std::size_t free = 0;
  for (const std::uint64_t bits : agreed.free)
    free += static_cast<std::size_t>(std::popcount(bits));
  return free >= teams;
}

void TeamTable::check_numbers(const TeamProposal& agreed) const {
  if (agreed.last >= kLastNumber)
    throw Error(
        "", CHIMEX_ERR_INVALID,
        fmt::format("{} teams have been made one after another, and there are no numbers for "
                    "more",
                    agreed.last));
}

void TeamTable::leave_to_others(const TeamProposal& agreed, std::size_t teams) {
  const std::lock_guard lock(mutex_);
  last_ = std::max(last_, agreed.last + 1);
  for (int index = 0; teams > 0; ++index) {
    if (!has_bit(agreed.free, index)) continue;
    clear_bit(free_, index);
    --teams;
  }
}

void TeamTable::give_up_free_entries() {
  const std::lock_guard lock(mutex_);
  std::fill(free_.begin(), free_.end(), 0);
}

std::vector<chime_team_t> TeamTable::accept(const TeamProposal& agreed,
                                            std::span<const Plan> teams) {
  const std::lock_guard lock(mutex_);
  last_ = agreed.last + 1;
  const auto generation =
      static_cast<int>((last_ - 1) % static_cast<std::uint64_t>(abi::kLastTeamGeneration)) + 1;
  std::vector<chime_team_t> made;
  int index = -1;
  for (const Plan& plan : teams) {
    while (!has_bit(agreed.free, ++index)) {
    }
    const int my_rank = plan.members.rank(my_pe_);
    if (my_rank < 0) {
      made.push_back(CHIME_TEAM_INVALID);
      continue;
    }
    clear_bit(free_, index);
    std::optional<KnownTeam>& team = known_[static_cast<std::size_t>(index)];
    team.emplace(KnownTeam{abi::team_handle(index, generation), plan.members, my_rank,
                           plan.num_contexts, last_});
    write(*team);
    made.push_back(team->handle);
  }
  return made;
}

std::optional<KnownTeam> TeamTable::find(chime_team_t team) const {
  if (team < 0 || abi::team_lane(team) >= shape_.lanes || abi::team_index(team) >= shape_.teams)
    return std::nullopt;
  const std::lock_guard lock(mutex_);
  const std::optional<KnownTeam>& known = known_[index_of(team)];
  return known && known->handle == abi::team_without_lane(team) ? known : std::nullopt;
}

void TeamTable::remove(chime_team_t team, bool has_failed) {
  const std::lock_guard lock(mutex_);
  const abi::Team none;
  gpu_.copy(entries_ + index_of(team), &none, sizeof(none));
  // What its members agree on has failed, too, if that is so.
  std::uint64_t failure = 0;
  const std::size_t last_area = times(abi::team_index(team) + 1, areas_bytes(shape_));
  const auto* const agreements =
      reinterpret_cast<const abi::SyncArea*>(memory_of_heap_ + last_area) - 1;
  gpu_.copy(&failure, &agreements->failed, sizeof(failure));
  known_[index_of(team)].reset();
  if (!has_failed && failure == 0) set_bit(free_, abi::team_index(team));
}

std::optional<chime_team_t> TeamTable::team_at(const std::byte* address) const {
  if (address < memory_of_heap_) return std::nullopt;
  const auto offset = static_cast<std::size_t>(address - memory_of_heap_);
  const abi::Teams all = view();
  // The address is in an area of a lane, or in the arrivals of one.
  std::size_t index = offset / areas_bytes(shape_);
  std::size_t lane = offset % areas_bytes(shape_) / sizeof(abi::SyncArea);
  if (address >= all.arrivals) {
    const std::size_t number =
        static_cast<std::size_t>(address - all.arrivals) / all.arrivals_bytes;
    index = number / static_cast<std::size_t>(shape_.lanes);
    lane = number % static_cast<std::size_t>(shape_.lanes);
  }
  if (index >= known_.size()) return std::nullopt;
  const std::lock_guard lock(mutex_);
  const std::optional<KnownTeam>& team = known_[index];
  if (!team) return std::nullopt;
  return team->handle | static_cast<int>(lane) << abi::kTeamIndexBits;
}

std::optional<Members> TeamTable::awaited_with(int pe, const std::byte* address) const {
  const auto team = address < view().arrivals ? std::nullopt : team_at(address);
  const auto known = team ? find(abi::team_without_lane(*team)) : std::nullopt;
  const int rank = known ? known->members.rank(pe) : -1;
  if (rank < 0 || rank == known->my_rank) return std::nullopt;
  const int size = known->members.size();
  if (!are_doubled(shape_.algorithms, static_cast<std::size_t>(size))) return std::nullopt;
  // The group of the step in which the two send to each other (device/coll/step.cuh).
  const auto apart = static_cast<unsigned>(rank ^ known->my_rank);
  const auto most = static_cast<int>(std::bit_floor(apart));
  const int first = rank / most * most, count = std::min(most, size - first);
  const bool is_sender = rank == first + known->my_rank % most % count;
  if (count == 1 || !is_sender) return std::nullopt;
  return known->members.subset({first, 1, count});
}

std::string TeamTable::words(chime_team_t team) const {
  const auto known = team < 0 ? std::nullopt : find(abi::team_without_lane(team));
  return known ? fmt::format("team {} ({})", known->handle, known->members.words())
               : fmt::format("team {}", team);
}

}  // namespace chime::host
