// The teams that this PE is in: what device code reads of them, and the memory by which they meet.
//
// All of it is reserved at init, for a team is made by some of a job's PEs alone, and the symmetric
// heap is everybody's: the areas of entry i lie at the same offset on every PE, so no PE says to
// another one where they are. What no team has used is not touched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "chime/abi/team.h"
#include "chime/abi/words.h"
#include "chime/types.h"
#include "host/gpu/gpu.hpp"
#include "host/options/collectives.hpp"
#include "host/teams/members.hpp"

namespace chime::host {

// A team, as the host knows it.
struct KnownTeam {
  chime_team_t handle;  // of lane 0
  Members members;
  int my_rank;
  int num_contexts = 0;      // as its config asks
  std::uint64_t number = 0;  // of no other team that this PE makes; predefined teams have 0
};

// What a PE of a team brings to the making of another one, and what all agree on.
struct TeamProposal {
  std::uint64_t last = 0;           // number of a team that the PE has helped to make; the largest
  std::vector<std::uint64_t> free;  // a bit for each entry that no team has; those that all have

  // Leaves what both have in common.
  void combine(const TeamProposal& other);
};

class TeamTable {
 public:
  // Alike on all PEs of a job.
  struct Shape {
    int teams;               // entries
    int lanes;               // of each
    int n_pes;               // of the job
    unsigned asked_scratch;  // bytes a lane, for data that members send each other
    CollectiveOptions algorithms = {};

    // Bytes of the heap that a table of this shape takes: first those that are to be zero.
    std::size_t heap_bytes() const;
    std::size_t zero_bytes() const;
    // The slot of a member, in each half of a lane's scratch, where a team has so many.
    std::size_t slot_bytes(std::size_t members) const;
    // The 64-bit words of a proposal, and of what the members compare.
    unsigned agreement_words() const;
  };

  // Teams that a program makes have the entries from here on: those before have fixed numbers.
  static constexpr int kFirstOfProgram = 7;

  // `memory`: heap_bytes() of the heap, which outlive the table. `mapped`: PEs that all map each
  // other, this one too; the same on all of them. Empty: none are known.
  TeamTable(Gpu& gpu, std::byte* memory, const Shape& shape, int my_pe,
            std::vector<int> mapped = {});

  const Shape& shape() const { return shape_; }

  // For Contexts. All PEs are a team from the start.
  abi::Teams view() const;

  // Makes the predefined team `handle` of `members`, one of which is this PE.
  void add_predefined(chime_team_t handle, Members members);

  // From now on teams that have just these PEs, and those that they have already, may go by
  // multimem where the settings say so: `heaps` is where kernels reach the heaps of all.
  void use_multicast(std::byte* heaps, const std::vector<int>& pes);

  // What this PE proposes. One proposal at a time, until accept() or the next one.
  TeamProposal propose();
  // Throws where teams have been numbered up to the last number.
  void check_numbers(const TeamProposal& agreed) const;
  // Makes one team of each of `teams`, in the lowest entries that are free in `agreed`; where this
  // PE is no member of one, its entry stays free here. REQUIRES: has_room().
  struct Plan {
    Members members;
    int num_contexts = 0;
  };
  std::vector<chime_team_t> accept(const TeamProposal& agreed, std::span<const Plan> teams);
  bool has_room(const TeamProposal& agreed, std::size_t teams) const;
  // Other members may have made these `teams`, and this PE has not: it uses their entries and their
  // number no more. REQUIRES: has_room().
  void leave_to_others(const TeamProposal& agreed, std::size_t teams);
  // Others may have made a team in any entry that this PE has proposed: it makes no more teams.
  void give_up_free_entries();

  // The words in which members agree, of `team`, in the heap.
  std::uint64_t* agreement(const KnownTeam& team) const;

  // Whatever the handle's lane; none: this PE is in no such team. By any thread.
  std::optional<KnownTeam> find(chime_team_t team) const;

  // Takes a team that the program has made out of the table. Where a call of it has failed,
  // arrivals may still be in flight, and the entry is not used again. REQUIRES: find(team), no call
  // uses it.
  void remove(chime_team_t team, bool has_failed);

  // The team, with its lane, by whose words PEs meet at `address`; none: there are no such words.
  std::optional<chime_team_t> team_at(const std::byte* address) const;

  // Where the message of member `pe` is awaited at `address`, perhaps by recursive doubling: the
  // members that it may wait for itself, and it. None: it waits for none before it sends, or sends
  // to others than this PE.
  std::optional<Members> awaited_with(int pe, const std::byte* address) const;

  // "team 3 (PEs 0-3)" of a team that find() knows, else "team 3".
  std::string words(chime_team_t team) const;

 private:
  abi::Team entry_of(const KnownTeam& team) const;
  bool are_all_mapped(const Members& members) const;
  int members_of_node(const Members& members) const;
  bool are_all_of_multicast(const Members& members) const;
  void write(const KnownTeam& team);
  std::size_t index_of(chime_team_t team) const {
    return static_cast<std::size_t>(abi::team_index(team));
  }

  Gpu& gpu_;
  std::byte* const memory_of_heap_;
  const Shape shape_;
  const int my_pe_;
  const std::vector<int> mapped_;
  std::byte* multicast_heaps_ = nullptr;         // null: there is none
  std::vector<int> multicast_pes_;               // ascending
  std::unique_ptr<DeviceMemory> memory_;         // entries, then a list of PEs for each
  abi::Team* entries_;                           // in it
  mutable std::mutex mutex_;                     // guards what follows
  std::vector<std::optional<KnownTeam>> known_;  // by entry
  std::vector<std::uint64_t> free_;  // as in a proposal: without those that a failure took
  std::uint64_t last_ = 0;           // number of a team that this PE has helped to make
};

}  // namespace chime::host
