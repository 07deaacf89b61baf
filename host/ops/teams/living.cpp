#include "host/ops/teams/living.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "host/errors/error.hpp"

// The living member of lowest rank decides. Every other member publishes an offer to it and waits.
// If it dies without a decision, the members do the same with the next living rank. The deciding
// member waits until each member of higher rank has made it an offer, has published a decision, or
// is dead. If one has published a decision, it takes that. Else it proposes a team, and decides on
// it when all its members have accepted.
//
// All members that return have the same decision. A member publishes the decision before it
// returns, and makes no more offers. So the next deciding member finds that decision. A member
// whose time is over publishes that there is no team; then it accepts none. Once it has accepted,
// it waits for the deciding member, which is in the call, or for the next one
// (tests/models/meetings/shrink.py). Three things can break this: members that do not agree on who
// is dead, a PE that is stopped for longer than the others wait for it, and a member that dies
// after its time was over, if the deciding member then dies, too.
namespace chime::host {
namespace {

using bootstrap::Answer;
using bootstrap::Bytes;
using bootstrap::Deadline;
using Clock = std::chrono::steady_clock;

// How often a member that waits looks for deaths that the launcher does not report.
constexpr std::chrono::milliseconds kLookAgain{20};

Bytes value_of(const Offer& offer) {
  std::vector<std::uint64_t> words = {offer.refuses ? 1u : 0u, offer.proposal.last,
                                      offer.proposal.free.size()};
  words.insert(words.end(), offer.proposal.free.begin(), offer.proposal.free.end());
  words.insert(words.end(), offer.dead.begin(), offer.dead.end());
  return bytes_of(words);
}
Offer offer_in(const Bytes& value) {
  const std::vector<std::uint64_t> words = words_in(value);
  const auto free = words.begin() + 3, dead = free + static_cast<std::ptrdiff_t>(words[2]);
  return {words[0] != 0, {words[1], {free, dead}}, {dead, words.end()}};
}

Bytes value_of(const Decision& decision) {
  std::vector<std::uint64_t> words = {static_cast<std::uint64_t>(decision.status),
                                      static_cast<std::uint64_t>(decision.by),
                                      decision.proposal.last, decision.proposal.free.size()};
  words.insert(words.end(), decision.proposal.free.begin(), decision.proposal.free.end());
  words.insert(words.end(), decision.pes.begin(), decision.pes.end());
  return bytes_of(words);
}
Decision decision_in(const Bytes& value) {
  const std::vector<std::uint64_t> words = words_in(value);
  const auto free = words.begin() + 4, pes = free + static_cast<std::ptrdiff_t>(words[3]);
  return {static_cast<chimex_status>(words[0]),
          static_cast<int>(words[1]),
          {words[2], {free, pes}},
          {pes, words.end()}};
}

// A call under way: what this PE publishes in it, and how long it waits.
struct Call {
  const Shrink& shrink;
  bool has_accepted = false;  // a team that another member has proposed

  bootstrap::Bootstrap& bootstrap() const { return shrink.bootstrap; }
  int my_rank() const { return shrink.my_rank; }
  int pe(int rank) const { return shrink.members.pe(rank); }
  bool is_dead(int pe) const { return shrink.is_dead(pe); }

  std::string key_of_decision() const {
    return fmt::format("chime.shrink.{}.decided", shrink.name);
  }
  std::string key_of_offer(int to_rank) const {
    return fmt::format("chime.shrink.{}.to.{}", shrink.name, to_rank);
  }
  std::string key_of_proposal() const {
    return fmt::format("chime.shrink.{}.proposed", shrink.name);
  }
  std::string key_of_acceptance(int of_rank) const {
    return fmt::format("chime.shrink.{}.accepted.{}", shrink.name, of_rank);
  }
  // Until when this PE waits for others to come. When it has accepted a team, the members of that
  // may all have accepted it: this PE waits longer than the one that has proposed it.
  Deadline deadline() const {
    const Deadline once = Clock::now() + shrink.limit;
    return has_accepted ? once + shrink.limit + shrink.asker_is_later : once;
  }
  // What this PE has decided, or has heard that another one has. Once.
  void publish(const Decision& decision) const {
    bootstrap().publish(key_of_decision(), value_of(decision));
  }
};

// The answers of each member of higher rank to the one that decides: an offer, or what is decided;
// then that it accepts what this PE proposes, or what is decided.
class Offers {
 public:
  Offers(const Call& call, Offer own) : call_(call) {
    const bootstrap::Bootstrap& bootstrap = call.bootstrap();
    offers_.emplace(call.my_rank(), std::move(own));
    // Those of lower ranks are dead, and another one may have decided after them.
    for (int rank = call.my_rank() + 1; rank < call.shrink.members.size(); ++rank)
      open_.emplace(rank, call.pe(rank));
    for (const auto& [rank, pe] : std::map(open_)) {  // answers change it
      questions_.push_back(bootstrap.ask(pe, call.key_of_decision(), [this](const Answer& answer) {
        if (answer.code == CHIMEX_OK) take_decision(decision_in(answer.value));
      }));
      questions_.push_back(bootstrap.ask(
          pe, call.key_of_offer(call.my_rank()),
          [this, rank = rank](Answer answer) { take_offer(rank, std::move(answer)); }));
    }
  }

  // Throws where nobody can be asked.
  Decision decide() {
    if (auto other = await_answers()) return *std::move(other);
    Decision mine = decision_of_offers();
    ask_for_acceptance(mine);
    if (auto other = await_answers()) return *std::move(other);
    return mine;
  }

 private:
  bool is_complete() const { return decided_ || failure_ || open_.empty(); }

  // Until all that are asked have answered. What another member has decided, or why there is no
  // decision.
  std::optional<Decision> await_answers() {
    const Deadline deadline = call_.deadline();
    std::unique_lock lock(mutex_);
    while (!is_complete() && Clock::now() < deadline) {
      changed_.wait_until(lock, std::min(deadline, Clock::now() + kLookAgain));
      call_.shrink.need_no_abort();
      std::erase_if(open_, [&](const auto& member) { return call_.is_dead(member.second); });
    }
    if (decided_) return decided_;
    if (failure_) throw Error("", failure_->code, failure_->why);
    if (open_.empty()) return std::nullopt;
    return Decision{.status = CHIMEX_ERR_TIMEOUT, .by = open_.begin()->second};
  }

  // The members of a team, or all where there is none: their calls end alike.
  void ask_for_acceptance(const Decision& proposed) {
    const auto is_asked = [&](int rank) {
      const bool is_in = std::ranges::find(proposed.pes, call_.pe(rank)) != proposed.pes.end();
      return rank != call_.my_rank() && (is_in || proposed.pes.empty());
    };
    std::map<int, int> asked;
    {
      const std::lock_guard lock(mutex_);
      for (const auto& [rank, offer] : offers_)
        if (is_asked(rank)) asked.emplace(rank, call_.pe(rank));
      open_ = asked;
    }
    call_.bootstrap().publish(call_.key_of_proposal(), value_of(proposed));
    for (const auto& [rank, pe] : asked)
      questions_.push_back(call_.bootstrap().ask(
          pe, call_.key_of_acceptance(call_.my_rank()),
          [this, rank = rank](Answer answer) { close(rank, std::move(answer)); }));
  }

  void take_decision(Decision decision) {
    const std::lock_guard lock(mutex_);
    decided_ = std::move(decision);
    changed_.notify_all();
  }

  void take_offer(int rank, Answer answer) {
    if (answer.code == CHIMEX_OK) {
      const std::lock_guard lock(mutex_);
      offers_.emplace(rank, offer_in(answer.value));
    }
    close(rank, std::move(answer));
  }
  void close(int rank, Answer answer) {
    const std::lock_guard lock(mutex_);
    if (open_.erase(rank) == 0) return;  // it is dead, and no more awaited
    if (answer.code != CHIMEX_OK && answer.code != CHIMEX_ERR_PEER_DEAD)
      failure_ = std::move(answer);
    changed_.notify_all();
  }

  // Without those that somebody knows to be dead. REQUIRES: no other decision is known.
  Decision decision_of_offers() {
    const std::lock_guard lock(mutex_);  // one that was taken for dead may answer
    Decision decision{.proposal = offers_.begin()->second.proposal};
    for (const auto& [rank, offer] : offers_) {
      const int pe = call_.pe(rank);
      if (offer.refuses) return {.status = CHIMEX_ERR_INVALID, .by = pe};
      decision.proposal.combine(offer.proposal);
      const bool is_gone = std::ranges::any_of(offers_, [&](const auto& of) {
        return std::ranges::find(of.second.dead, pe) != of.second.dead.end();
      });
      if (!is_gone) decision.pes.push_back(pe);
    }
    return decision;
  }

  const Call& call_;
  std::mutex mutex_;  // guards what follows, up to the questions
  std::condition_variable changed_;
  std::map<int, int> open_;      // PEs that have not answered, by rank
  std::map<int, Offer> offers_;  // by rank
  std::optional<Decision> decided_;
  std::optional<Answer> failure_;
  std::vector<bootstrap::Question> questions_;  // last: their callbacks use all of the above
};

// What this PE hears from the member that decides.
class Heard {
 public:
  Heard(const Call& call, int pe) {
    const bootstrap::Bootstrap& bootstrap = call.bootstrap();
    questions_.push_back(bootstrap.ask(pe, call.key_of_decision(), hear(decision_)));
    questions_.push_back(bootstrap.ask(pe, call.key_of_proposal(), hear(proposal_)));
  }

  // The decision, if it has come by then.
  std::optional<Answer> decision(Deadline deadline) {
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, deadline, [&] { return decision_ || is_new(); });
    return decision_;
  }
  // Whether it proposes a team. Once.
  bool take_proposal() {
    const std::lock_guard lock(mutex_);
    const bool is_first = is_new();
    has_taken_ = has_taken_ || is_first;
    return is_first;
  }

 private:
  bool is_new() const { return !has_taken_ && proposal_ && proposal_->code == CHIMEX_OK; }
  bootstrap::OnAnswer hear(std::optional<Answer>& place) {
    return [this, &place](Answer answer) {
      const std::lock_guard lock(mutex_);
      place = std::move(answer);
      changed_.notify_all();
    };
  }

  std::mutex mutex_;  // guards what follows, up to the questions
  std::condition_variable changed_;
  std::optional<Answer> decision_, proposal_;
  bool has_taken_ = false;
  std::vector<bootstrap::Question> questions_;  // last: their callbacks use all of the above
};

// What the member of that rank has decided; nothing: it is dead, and has not said so to this PE.
// Throws where it does not come.
std::optional<Decision> decision_of(Call& call, int rank, const Offer& own) {
  const int pe = call.pe(rank);
  bootstrap::Bootstrap& bootstrap = call.bootstrap();
  bootstrap.publish(call.key_of_offer(rank), value_of(own));
  Heard heard(call, pe);
  Deadline deadline = call.deadline() + call.shrink.asker_is_later;
  std::optional<Answer> answer;
  while (!(answer = heard.decision(std::min(deadline, Clock::now() + kLookAgain)))) {
    call.shrink.need_no_abort();
    if (call.is_dead(pe)) return std::nullopt;
    if (heard.take_proposal()) {
      call.has_accepted = true;
      bootstrap.publish(call.key_of_acceptance(rank), bytes_of({1}));
      deadline = call.deadline() + call.shrink.asker_is_later;
    }
    if (Clock::now() < deadline) continue;
    const Decision none = {.status = CHIMEX_ERR_TIMEOUT, .by = pe};
    call.publish(none);  // for those that come later
    throw_error(none);
  }
  if (answer->code == CHIMEX_ERR_PEER_DEAD) return std::nullopt;
  if (answer->code != CHIMEX_OK) throw Error("", answer->code, answer->why);
  return decision_in(answer->value);
}

}  // namespace

Decision decide(const Shrink& shrink, const Offer& own) {
  Call call = {shrink};
  std::optional<Decision> decision;
  for (int rank = 0; rank < shrink.my_rank && !decision; ++rank)
    decision = decision_of(call, rank, own);
  shrink.need_no_abort();
  if (!decision) {
    try {
      decision = Offers(call, own).decide();
    } catch (const Error&) {
      call.publish({.status = CHIMEX_ERR_TIMEOUT,
                    .by = call.pe(shrink.my_rank)});  // others may have accepted
      throw;
    }
  }
  // Before this PE acts on it. The member that made it may die now, and the next deciding member
  // must find it.
  call.publish(*decision);
  return *std::move(decision);
}

void throw_error(const Decision& none) {
  const char* const why = none.status == CHIMEX_ERR_TIMEOUT ? "has not come within CHIME_TIMEOUT"
                                                            : "refuses the call, and says why";
  throw Error("", none.status, fmt::format("PE {} {}", none.by, why));
}

}  // namespace chime::host
