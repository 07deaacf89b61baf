// What the living members of a team decide: each member dies at each step, before and after others
// see it.
#include "host/ops/teams/living.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "host/errors/error.hpp"

namespace chime::host {
namespace {

using namespace std::chrono_literals;
using bootstrap::Answer;
using bootstrap::Bytes;
using bootstrap::OpenQuestions;

// ---- Jobs ---------------------------------------------------------------------------------------

// A job: the values that its PEs have published, and who is dead.
class Job {
 public:
  // Called by the PE that publishes, without a lock. Throws Died.
  using Hook = std::function<void(int, const std::string&)>;  // PE, key
  Hook before, after;
  bool reports_deaths = true;  // in answers

  void publish(int pe, const std::string& key, Bytes value) {
    if (before) before(pe, key);
    {
      const std::lock_guard lock(mutex_);
      values_.emplace(std::pair(pe, key), std::move(value));
      changed_.notify_all();
    }
    tell();
    if (after) after(pe, key);
  }
  void die(int pe) {
    {
      const std::lock_guard lock(mutex_);
      dead_.insert(pe);
      changed_.notify_all();
    }
    tell();
  }
  bool is_dead(int pe) const {
    const std::lock_guard lock(mutex_);
    return dead_.count(pe) != 0;
  }
  void await_published(int pe, const std::string& part) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return has_published(pe, part); });
  }
  bool is_published(int pe, const std::string& part) const {
    const std::lock_guard lock(mutex_);
    return has_published(pe, part);
  }

  struct Asked {
    std::shared_ptr<OpenQuestions> all;
    OpenQuestions::Id id;
    int pe;
    std::string key;
  };
  void ask(Asked asked) {
    const std::lock_guard lock(mutex_);
    asked_.push_back(std::move(asked));
  }
  // Answers all questions that can be. By any thread that has changed something, and by askers.
  void tell() {
    std::vector<std::pair<Asked, Answer>> answers;
    {
      const std::lock_guard lock(mutex_);
      std::erase_if(asked_, [&](const Asked& asked) {
        const auto value = values_.find({asked.pe, asked.key});
        if (value != values_.end())
          answers.emplace_back(asked, Answer{value->second});
        else if (reports_deaths && dead_.count(asked.pe) != 0)
          answers.emplace_back(asked, Answer{{}, CHIMEX_ERR_PEER_DEAD, "it is dead"});
        else
          return false;
        return true;
      });
    }
    for (auto& [asked, answer] : answers) asked.all->answer(asked.id, std::move(answer));
  }

 private:
  bool has_published(int pe, const std::string& part) const {
    return std::any_of(values_.begin(), values_.end(), [&](const auto& value) {
      return value.first.first == pe && value.first.second.find(part) != std::string::npos;
    });
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::pair<int, std::string>, Bytes> values_;
  std::set<int> dead_;
  std::vector<Asked> asked_;
};

class Died {};

class PeOfJob final : public bootstrap::Bootstrap {
 public:
  PeOfJob(Job& job, int pe, int pes) : job_(job), pe_(pe), pes_(pes) {}
  int rank() const override { return pe_; }
  int size() const override { return pes_; }
  std::string job_id() const override { return "job"; }
  Bytes job_secret() const override { return Bytes(32); }
  void publish(std::string_view key, std::span<const std::byte> value) override {
    job_.publish(pe_, std::string(key), {value.begin(), value.end()});
  }
  void abort(int, std::string_view) noexcept override {}
  void on_peer_lost(std::function<void(int, std::string)>) override {}
  std::string why_lost(int) const override { return ""; }
  std::string describe() const override { return "a job of threads"; }

 private:
  bootstrap::NodeInfo find_node() const override { return {}; }
  void look_for(OpenQuestions::Id question, int pe, std::string_view key, bool) const override {
    job_.ask({questions(), question, pe, std::string(key)});
    answers_.emplace_back([this] { job_.tell(); });  // never within ask()
  }
  std::string why_open(OpenQuestions::Id) const override { return ""; }

  Job& job_;
  const int pe_, pes_;
  mutable std::vector<std::jthread> answers_;
};

// ---- Members ------------------------------------------------------------------------------------

struct Waits {
  std::chrono::nanoseconds limit = 60s, asker_is_later = 60s;
};

// The PEs that the member's team has; empty: it failed; nothing: the member has died.
using Result = std::optional<std::vector<int>>;

Result result_of(Job& job, int pe, int pes, Waits waits) {
  PeOfJob bootstrap(job, pe, pes);
  const Members members(Triplet{0, 1, pes});
  const Shrink shrink = {.bootstrap = bootstrap,
                         .members = members,
                         .my_rank = pe,
                         .name = "1",
                         .is_dead = [&](int other) { return job.is_dead(other); },
                         .need_no_abort = [] {},
                         .limit = waits.limit,
                         .asker_is_later = waits.asker_is_later};
  try {
    const Decision decision = decide(shrink, {.proposal = {.last = 7, .free = {~0ull}}});
    return decision.status == CHIMEX_OK ? decision.pes : std::vector<int>();
  } catch (const Error&) {
    return std::vector<int>();
  } catch (const Died&) {
    job.die(pe);
    return std::nullopt;
  }
}

// Each PE's result. `waits` has the limits of some PEs, `others` those of the rest.
std::vector<Result> results_of(Job& job, int pes, const std::map<int, Waits>& waits = {},
                               Waits others = {}) {
  std::vector<Result> results(static_cast<std::size_t>(pes));
  {
    std::vector<std::jthread> threads;
    for (int pe = 0; pe < pes; ++pe)
      threads.emplace_back([&, pe] {
        const auto own = waits.find(pe);
        results[static_cast<std::size_t>(pe)] =
            result_of(job, pe, pes, own == waits.end() ? others : own->second);
      });
  }
  return results;
}

// All members that live have one result, which is returned.
std::vector<int> expect_one(const std::vector<Result>& results) {
  std::optional<std::vector<int>> first;
  for (const Result& result : results)
    if (result && !first) first = result;
  for (const Result& result : results)
    if (result) EXPECT_EQ(*first, *result);
  return first.value_or(std::vector<int>());
}

// ---- Tests --------------------------------------------------------------------------------------

TEST(Living, AllAreInTheTeam) {
  for (const int pes : {1, 2, 5}) {
    Job job;
    const std::vector<Result> results = results_of(job, pes, {}, {10s, 0s});
    EXPECT_EQ(expect_one(results).size(), static_cast<std::size_t>(pes));
  }
}

// Nor where the launcher does not report them.
TEST(Living, TheDeadAreNotAwaited) {
  for (const bool is_reported : {true, false})
    for (int dead = 0; dead < 4; ++dead) {
      Job job;
      job.reports_deaths = is_reported;
      job.before = [&](int pe, const std::string&) {
        if (pe == dead) throw Died();
      };
      job.die(dead);
      std::vector<int> living = {0, 1, 2, 3};
      std::erase(living, dead);
      EXPECT_EQ(expect_one(results_of(job, 4, {}, {10s, 0s})), living);
    }
}

// The n-th value that a member publishes is its last: others see it or not. They may see the death
// first.
TEST(Living, DecideAlikeWhereverAMemberDies) {
  constexpr int kPes = 4, kMost = 6;
  for (int victim = 0; victim < kPes; ++victim)
    for (int last = 0; last < kMost; ++last)
      for (const bool is_seen : {false, true})
        for (const bool is_late : {false, true}) {
          SCOPED_TRACE(testing::Message()
                       << "PE " << victim << " dies " << (is_seen ? "after" : "before") << " value "
                       << last << (is_late ? ", which is late" : ""));
          Job job;
          int published = 0;  // by the victim's thread alone
          job.before = [&](int pe, const std::string&) {
            if (pe != victim || published != last) return;
            if (is_late) job.die(victim);
            if (!is_seen) throw Died();
          };
          job.after = [&](int pe, const std::string&) {
            if (pe == victim && published++ == last) throw Died();
          };
          const std::vector<Result> results = results_of(job, kPes);
          const std::vector<int> team = expect_one(results);
          for (int pe = 0; pe < kPes; ++pe)
            if (pe != victim) EXPECT_THAT(team, testing::Contains(pe));
        }
}

// A member does not come: all others fail, whoever notices it first.
TEST(Living, FailAlikeWhereOneDoesNotCome) {
  for (const int impatient : {0, 1}) {
    Job job;
    std::vector<Result> results(2);
    const auto start = std::chrono::steady_clock::now();
    {
      std::vector<std::jthread> threads;
      for (int pe = 0; pe < 2; ++pe)
        threads.emplace_back([&, pe] {
          const Waits waits = pe == impatient ? Waits{300ms, 0s} : Waits{20s, 0s};
          results[static_cast<std::size_t>(pe)] = result_of(job, pe, 3, waits);
        });
    }
    EXPECT_LT(std::chrono::steady_clock::now() - start, 10s);  // one of them would wait for 20
    EXPECT_EQ(expect_one(results), std::vector<int>());
    // PE 2 comes when the others have failed, and fails like them.
    EXPECT_EQ(result_of(job, 2, 3, {}), std::vector<int>());
  }
}

// Its time is over while the deciding member proposes a team: there is none.
TEST(Living, TakeNoTeamThatAMemberDoesNotAccept) {
  Job job;
  job.before = [&](int pe, const std::string& key) {
    if (pe == 0 && key.find("proposed") != std::string::npos) job.await_published(2, "decided");
  };
  EXPECT_EQ(expect_one(results_of(job, 3, {{2, {300ms, 0s}}})), std::vector<int>());
}

// A member that has accepted waits for the decision, though its time is over.
TEST(Living, WaitForTheDecisionOnATeamThatTheyAccepted) {
  Job job;
  job.before = [&](int pe, const std::string& key) {
    if (pe != 0 || key.find("decided") == std::string::npos) return;
    job.await_published(2, "accepted");
    std::this_thread::sleep_for(3500ms);
    EXPECT_FALSE(job.is_published(2, "decided"));
  };
  EXPECT_EQ(expect_one(results_of(job, 3, {{2, {2s, 500ms}}})), (std::vector<int>{0, 1, 2}));
}

// The next one decides likewise: it waits for those that have not accepted yet.
TEST(Living, StillWaitWhenTheNextOneDecides) {
  Job job;
  job.before = [&](int pe, const std::string& key) {
    if (pe == 0 && key.find("decided") != std::string::npos) throw Died();
    if (pe == 2 && key.find("to.1") != std::string::npos) std::this_thread::sleep_for(1500ms);
  };
  const std::vector<int> team = expect_one(results_of(job, 3, {{1, {500ms, 20s}}}));
  EXPECT_THAT(team, testing::Contains(1));
  EXPECT_THAT(team, testing::Contains(2));
}

TEST(Living, AreNotWhatAMemberKnowsToBeDead) {
  Job job;
  PeOfJob bootstrap(job, 0, 3);
  std::vector<Result> results(2);
  {
    std::jthread other([&] { results[1] = result_of(job, 1, 3, {}); });
    const Members members(Triplet{0, 1, 3});
    const Shrink shrink = {.bootstrap = bootstrap,
                           .members = members,
                           .my_rank = 0,
                           .name = "1",
                           .is_dead = [](int) { return false; },
                           .need_no_abort = [] {},
                           .limit = 60s};
    std::jthread third([&] { result_of(job, 2, 3, {}); });
    results[0] = decide(shrink, {.proposal = {.last = 7, .free = {~0ull}}, .dead = {2}}).pes;
  }
  EXPECT_EQ(expect_one(results), (std::vector<int>{0, 1}));
}

// All of them hear of a member whose arguments are wrong.
TEST(Living, RefuseAlike) {
  Job job;
  Decision decision;
  {
    std::jthread other([&] {
      PeOfJob bootstrap(job, 1, 2);
      const Members members(Triplet{0, 1, 2});
      decision = decide({.bootstrap = bootstrap,
                         .members = members,
                         .my_rank = 1,
                         .name = "1",
                         .is_dead = [](int) { return false; },
                         .need_no_abort = [] {},
                         .limit = 60s},
                        {.refuses = true, .proposal = {.last = 7, .free = {1}}});
    });
    EXPECT_EQ(result_of(job, 0, 2, {}), std::vector<int>());
  }
  EXPECT_EQ(decision.status, CHIMEX_ERR_INVALID);
  EXPECT_EQ(decision.by, 1);
}

}  // namespace
}  // namespace chime::host
