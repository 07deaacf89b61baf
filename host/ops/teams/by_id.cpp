// Teams of PEs that know no common parent, but a unique id: they find each other by the bootstrap.
//
// Each member leaves its proposal there. The PE that has made the id, a member itself, asks all PEs
// for theirs, and leaves what the members have in common with the list of them, or why there is no
// such team. So a member asks one PE once; the maker of the id asks each PE of the job.
#include <fmt/format.h>

#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "host/errors/error.hpp"
#include "host/errors/step.hpp"
#include "host/ops/teams/published.hpp"
#include "host/ops/teams/teams.hpp"

namespace chime::host {
namespace {

using bootstrap::Answer;
using bootstrap::Bytes;
using bootstrap::Deadline;

// An id: the PE that has made it, and how many that one had made before.
constexpr int kMakerBits = 24;
int maker_of(std::uint64_t id) { return static_cast<int>(id & ((1u << kMakerBits) - 1)); }

std::string key_of_proposal(std::uint64_t id) { return fmt::format("chime.team.{}", id); }
std::string key_of_team(std::uint64_t id) { return fmt::format("chime.team.{}.all", id); }

// A member's: its rank, the team's size, and what it proposes.
Bytes value_of(int rank, int size, const TeamProposal& proposal) {
  std::vector<std::uint64_t> words = {static_cast<std::uint64_t>(rank),
                                      static_cast<std::uint64_t>(size), proposal.last};
  words.insert(words.end(), proposal.free.begin(), proposal.free.end());
  return bytes_of(words);
}

// What all members have in common, and their PEs in order of rank. No PEs: there is no such team,
// for the reason that `status` says.
struct Common {
  chimex_status status = CHIMEX_OK;
  TeamProposal proposal = {};
  std::vector<int> pes = {};
};
Bytes value_of(const Common& common) {
  std::vector<std::uint64_t> words = {static_cast<std::uint64_t>(common.status),
                                      common.proposal.last, common.proposal.free.size()};
  words.insert(words.end(), common.proposal.free.begin(), common.proposal.free.end());
  words.insert(words.end(), common.pes.begin(), common.pes.end());
  return bytes_of(words);
}
Common common_in(const Bytes& value) {
  const std::vector<std::uint64_t> words = words_in(value);
  const auto free = words.begin() + 3, pes = free + static_cast<std::ptrdiff_t>(words[2]);
  return {static_cast<chimex_status>(words[0]), {words[1], {free, pes}}, {pes, words.end()}};
}

// Asks all PEs of the job for their proposals, until those of all ranks have come.
class Gathering {
 public:
  Gathering(const bootstrap::Bootstrap& bootstrap, std::uint64_t id, int size)
      : size_(size), left_(bootstrap.size()) {
    for (int pe = 0; pe < bootstrap.size(); ++pe)
      questions_.push_back(bootstrap.ask(pe, key_of_proposal(id), [this, pe](Answer answer) {
        if (answer.code == CHIMEX_OK)
          take(pe, words_in(answer.value));
        else
          count_as_gone();
      }));
  }

  Common wait_until(Deadline deadline) {
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, deadline,
                        [&] { return differ_ || missing() == 0 || missing() > left_; });
    if (differ_) return {.status = CHIMEX_ERR_MISMATCH};
    if (missing() > left_) return {.status = CHIMEX_ERR_PEER_DEAD};
    if (missing() > 0) return {.status = CHIMEX_ERR_TIMEOUT};
    Common common{.proposal = proposal_};
    for (const auto& [rank, pe] : pes_) common.pes.push_back(pe);
    return common;
  }

 private:
  void take(int pe, const std::vector<std::uint64_t>& words) {
    const std::lock_guard lock(mutex_);
    --left_;
    const auto rank = static_cast<int>(words[0]);
    const bool is_new = pes_.emplace(rank, pe).second;
    differ_ |= !is_new || words[1] != static_cast<std::uint64_t>(size_) || rank >= size_;
    TeamProposal theirs{words[2], {words.begin() + 3, words.end()}};
    if (pes_.size() == 1) {
      proposal_ = std::move(theirs);
    } else {
      proposal_.combine(theirs);
    }
    changed_.notify_all();
  }

  int missing() const { return size_ - static_cast<int>(pes_.size()); }

  // One less that may come.
  void count_as_gone() {
    const std::lock_guard lock(mutex_);
    --left_;
    changed_.notify_all();
  }

  const int size_;
  std::mutex mutex_;  // guards what follows, up to the questions
  std::condition_variable changed_;
  std::map<int, int> pes_;  // by rank
  int left_;                // PEs that have not answered
  TeamProposal proposal_;
  bool differ_ = false;
  std::vector<bootstrap::Question> questions_;  // last: their callbacks use all of the above
};

Common common_of(Runtime& runtime, std::uint64_t id, int size) {
  const Deadline deadline = std::chrono::steady_clock::now() + members_limit(runtime.settings);
  bootstrap::Bootstrap& bootstrap = *runtime.bootstrap;
  if (maker_of(id) != runtime.my_pe())
    return common_in(bootstrap.lookup(maker_of(id), key_of_team(id), deadline + kAskerIsLater));
  const Common common = Gathering(bootstrap, id, size).wait_until(deadline);
  bootstrap.publish(key_of_team(id), value_of(common));
  return common;
}

const char* why_none(chimex_status status) {
  if (status == CHIMEX_ERR_TIMEOUT) return "a member has not come within CHIME_TIMEOUT";
  if (status == CHIMEX_ERR_PEER_DEAD) return "so many PEs have ended that members are missing";
  return "two members have the same rank, or members differ in the team's size";
}

}  // namespace

std::uint64_t make_team_id(Runtime& runtime) {
  const std::uint64_t made = runtime.team_ids.fetch_add(1, std::memory_order_relaxed);
  return made << kMakerBits | static_cast<std::uint64_t>(runtime.my_pe());
}

chime_team_t team_by_id(std::uint64_t id, int size, int my_rank, int num_contexts) {
  Runtime& runtime = ready_runtime();
  if (size <= 0 || my_rank < 0 || my_rank >= size || size > runtime.n_pes())
    throw Error("", CHIMEX_ERR_INVALID,
                fmt::format("member {} of {}: a team has 1 to {} members, numbered from 0", my_rank,
                            size, runtime.n_pes()));
  if (maker_of(id) >= runtime.n_pes())
    throw Error("", CHIMEX_ERR_INVALID,
                fmt::format("{:#x} is no unique id of a team; {} makes them", id,
                            "nvshmemx_team_get_uniqueid"));
  TeamTable& table = *runtime.device->teams;
  const std::lock_guard one_at_a_time(runtime.device->one_team_maker);
  if (!runtime.device->used_team_ids.insert(id).second)
    throw Error("", CHIMEX_ERR_INVALID,
                fmt::format("the unique id {:#x} was used before; each names one team", id));
  Common common;
  try {
    common = step("finding the team's members", [&] {
      runtime.bootstrap->publish(key_of_proposal(id), value_of(my_rank, size, table.propose()));
      return common_of(runtime, id, size);
    });
  } catch (const Error&) {
    table.give_up_free_entries();  // the others may have taken any of them
    throw;
  }
  if (common.status != CHIMEX_OK) throw Error("", common.status, why_none(common.status));
  const auto& pes = common.pes;
  if (pes.size() != static_cast<std::size_t>(size) ||
      pes[static_cast<std::size_t>(my_rank)] != runtime.my_pe())
    throw Error("", CHIMEX_ERR_MISMATCH, why_none(CHIMEX_ERR_MISMATCH));
  need_room(table, common.proposal, 1, "the members");
  const TeamTable::Plan plan = {Members(std::move(common.pes)), num_contexts};
  const chime_team_t made = table.accept(common.proposal, std::span(&plan, 1))[0];
  meet_or_remove(table, made);
  return made;
}

}  // namespace chime::host
