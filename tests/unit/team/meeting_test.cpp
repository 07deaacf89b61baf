// The protocol of collective calls by messages, without threads: many PEs whose messages arrive in
// random order, and which give up and die at random moments. tests/models searches all moments of a
// few PEs.
#include "host/collective/meeting.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <deque>
#include <functional>
#include <map>
#include <random>

#include "chime/device/simt/exec/export.hpp"
#include "net/socket/error.hpp"

namespace chime::host {
namespace {

// TSan has nothing to check here: one thread plays all PEs. Its build only executes the code.
constexpr int kSeeds = CHIME_SIMT_TSAN ? 5 : 100;

CollectiveCall call_of(std::uint64_t bytes) { return {CollectiveCall::Kind::kMalloc, bytes}; }

// A job of PEs that make `calls` calls each, one action at a time.
class Job {
 public:
  struct Pe {
    explicit Pe(int pe, int n_pes) : meeting(pe, n_pes) {}
    Meeting meeting;
    bool is_in_call = false, has_given_up = false, is_dead = false;
    std::vector<bool> met;  // by call
    std::uint64_t messages = 0;
  };

  Job(int n_pes, int calls, unsigned seed) : calls_(calls), random(seed) {
    for (int pe = 0; pe < n_pes; ++pe) pes.emplace_back(pe, n_pes);
  }

  std::function<CollectiveCall(int pe)> what = [](int) { return call_of(64); };
  double impatience = 0;  // of each PE at each of its turns

  // Until no action is possible any more.
  void run() {
    while (act_once()) continue;
  }

  void kill(int pe) {
    pes[at(pe)].is_dead = true;
    std::erase_if(wires_, [pe](const auto& wire) { return wire.first.second == pe; });
    for (int other = 0; other < size(); ++other) lost_.push_back(other);
  }

  int size() const { return static_cast<int>(pes.size()); }
  static std::size_t at(int pe) { return static_cast<std::size_t>(pe); }

 private:
  bool act_once() {
    std::vector<std::function<void()>> choices;
    for (int pe = 0; pe < size(); ++pe) add_choices_of(pe, choices);
    for (const auto& [ends, messages] : wires_)
      if (!messages.empty() && may_arrive(ends))
        choices.push_back([this, ends = ends] { deliver(ends); });
    if (choices.empty()) return false;
    choices[random() % choices.size()]();
    return true;
  }

  void add_choices_of(int number, std::vector<std::function<void()>>& choices) {
    Pe& pe = pes[at(number)];
    if (pe.is_dead) return;
    if (pe.is_in_call && pe.meeting.is_settled())
      choices.push_back([&pe] {
        pe.met.push_back(pe.meeting.has_met());
        pe.is_in_call = false;
      });
    else if (!pe.is_in_call && static_cast<int>(pe.met.size()) < calls_)
      choices.push_back([this, number] { come(number); });
    else if (pe.is_in_call && !pe.has_given_up && (knows_of_a_loss(number) || chance(impatience)))
      choices.push_back([this, number] { give_up(number); });
  }

  void come(int number) {
    Pe& pe = pes[at(number)];
    if (pe.meeting.is_broken()) return pe.met.push_back(false);
    pe.is_in_call = true;
    pe.has_given_up = false;
    pe.meeting.come(what(number));
    post(number);
  }

  void give_up(int number) {
    Pe& pe = pes[at(number)];
    pe.has_given_up = true;
    pe.meeting.give_up(CHIMEX_ERR_TIMEOUT, "PE " + std::to_string(number) + "'s words");
    pe.meeting.give_up_directly(CHIMEX_ERR_TIMEOUT, "PE " + std::to_string(number) + "'s words");
    post(number);
  }

  void deliver(std::pair<int, int> ends) {
    auto& messages = wires_[ends];
    const net::Bytes message = messages.front();
    messages.pop_front();
    Pe& pe = pes[at(ends.second)];
    if (ends.first != ends.second) ++pe.messages;
    pe.meeting.receive(ends.first, message);
    post(ends.second);
  }

  void post(int from) {
    Pe& pe = pes[at(from)];
    for (Meeting::Outgoing& message : pe.meeting.take_outgoing()) {
      if (message.to != from) ++pe.messages;
      if (!pes[at(message.to)].is_dead)
        wires_[{from, message.to}].push_back(std::move(message.content));
    }
  }

  // PE 0's own messages arrive after all others (messenger.hpp).
  bool may_arrive(std::pair<int, int> ends) const {
    return ends.first != ends.second ||
           std::none_of(wires_.begin(), wires_.end(), [&](const auto& wire) {
             return wire.first.second == ends.second && wire.first != ends && !wire.second.empty();
           });
  }

  bool knows_of_a_loss(int pe) const {
    return std::find(lost_.begin(), lost_.end(), pe) != lost_.end();
  }
  bool chance(double p) { return std::bernoulli_distribution(p)(random); }

  int calls_;
  std::map<std::pair<int, int>, std::deque<net::Bytes>> wires_;
  std::vector<int> lost_;  // the PEs that know that a PE is gone

 public:
  std::mt19937 random;
  std::deque<Pe> pes;
};

std::uint64_t most_messages(int n_pes) {
  return 2 * static_cast<std::uint64_t>(std::bit_width(static_cast<unsigned>(n_pes - 1))) + 2;
}

// All living PEs have met in the same calls, and in none after one that has not met.
void expect_agreement(const Job& job, int calls) {
  const std::vector<bool>* first = nullptr;
  for (const Job::Pe& pe : job.pes) {
    if (pe.is_dead) continue;
    ASSERT_EQ(pe.met.size(), static_cast<std::size_t>(calls)) << "a PE waits for ever";
    if (!first) first = &pe.met;
    EXPECT_EQ(pe.met, *first);
  }
  EXPECT_TRUE(std::is_sorted(first->begin(), first->end(), std::greater<>()));
}

TEST(Meeting, AllMeetInWhateverOrderMessagesArrive) {
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    Job job(1 + static_cast<int>(seed % 40), 3, seed);
    job.run();
    for (const Job::Pe& pe : job.pes) EXPECT_EQ(pe.met, std::vector<bool>(3, true)) << seed;
  }
}

TEST(Meeting, TakesAtMostTwoLogNAndTwoMessagesOfAPe) {
  for (const int n_pes : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 64, 100, 257}) {
    constexpr int kCalls = 4;
    Job job(n_pes, kCalls, 1);
    job.run();
    std::uint64_t all = 0;
    for (const Job::Pe& pe : job.pes) {
      EXPECT_LE(pe.messages, kCalls * most_messages(n_pes)) << n_pes;
      all += pe.messages;
    }
    // Messages are counted at the sender and at the receiver.
    EXPECT_EQ(all, kCalls * 4 * static_cast<std::uint64_t>(n_pes - 1));
  }
}

TEST(Meeting, AllFindTheFirstPeThatDiffersFromPe0) {
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    Job job(1 + static_cast<int>(seed % 20), 1, seed);
    std::vector<std::uint64_t> sizes(job.pes.size());
    for (auto& size : sizes) size = job.random() % 10 < 8 ? 64 : 65 + job.random() % 2;
    job.what = [&](int pe) { return call_of(sizes[Job::at(pe)]); };
    job.run();
    const auto other = std::find_if(sizes.begin(), sizes.end(),
                                    [&](std::uint64_t size) { return size != sizes[0]; });
    for (const Job::Pe& pe : job.pes) {
      const CollectiveCalls& calls = pe.meeting.verdict().calls;
      EXPECT_EQ(calls.call, call_of(sizes[0]));
      EXPECT_EQ(calls.pes.first(), 0);
      ASSERT_EQ(calls.others.empty(), other == sizes.end()) << seed;
      if (other != sizes.end()) {
        EXPECT_EQ(calls.others.first(), other - sizes.begin()) << seed;
      }
      EXPECT_EQ(calls.others_call, other == sizes.end() ? CollectiveCall{} : call_of(*other));
    }
  }
}

TEST(Meeting, AllAgreeWhicheverGivesUpAndWhenever) {
  int met = 0, given_up = 0;
  for (unsigned seed = 0; seed < 10 * kSeeds; ++seed) {
    Job job(2 + static_cast<int>(seed % 12), 3, seed);
    job.impatience = 0.01 * (seed % 7);
    job.run();
    expect_agreement(job, 3);
    (job.pes[0].met.back() ? met : given_up) += 1;
    if (HasFailure()) FAIL() << "seed " << seed;
  }
  EXPECT_GT(met, kSeeds);
  EXPECT_GT(given_up, kSeeds);
}

TEST(Meeting, TheOthersAgreeWhenAPeDies) {
  for (unsigned seed = 0; seed < 10 * kSeeds; ++seed) {
    Job job(3 + static_cast<int>(seed % 12), 3, seed);
    const int victim = 1 + static_cast<int>(job.random() % (job.pes.size() - 1));
    unsigned turns = job.random() % 60;
    job.what = [&](int) {
      if (turns-- == 0) job.kill(victim);
      return call_of(64);
    };
    job.run();
    expect_agreement(job, 3);
    if (HasFailure()) FAIL() << "seed " << seed;
  }
}

TEST(Meeting, AllGetThePeThatGaveUpAndItsReason) {
  Job job(6, 0, 1);
  job.run();
  Meeting& leaf = job.pes[5].meeting;
  leaf.come(call_of(64));
  leaf.give_up(CHIMEX_ERR_TIMEOUT, "no patience");
  // Through PE 2, which has not come: to PE 0, and down again.
  std::deque<std::pair<int, Meeting::Outgoing>> messages;
  const auto collect = [&](int from) {
    for (auto& message : job.pes[Job::at(from)].meeting.take_outgoing())
      messages.emplace_back(from, std::move(message));
  };
  for (collect(5); !messages.empty(); messages.pop_front()) {
    const auto& [from, message] = messages.front();
    job.pes[Job::at(message.to)].meeting.receive(from, message.content);
    collect(message.to);
  }
  for (const Job::Pe& pe : job.pes) {
    const Verdict& verdict = pe.meeting.verdict();
    EXPECT_EQ(verdict.given_up, 1u);
    EXPECT_EQ(verdict.by, 5);
    EXPECT_EQ(verdict.absent, 2);
    EXPECT_EQ(verdict.why, "no patience");
  }
}

// PEs whose messages arrive at once, until none is left.
class Straight {
 public:
  explicit Straight(int n_pes) {
    for (int pe = 0; pe < n_pes; ++pe) pes.emplace_back(pe, n_pes);
  }
  void deliver_all() {
    for (bool again = true; again;) {
      again = false;
      for (int from = 0; from < static_cast<int>(pes.size()); ++from)
        for (const Meeting::Outgoing& message : pes[Job::at(from)].take_outgoing()) {
          pes[Job::at(message.to)].receive(from, message.content);
          again = true;
        }
    }
  }
  void all_come() {
    for (Meeting& pe : pes) pe.come(call_of(64));
    deliver_all();
  }
  std::deque<Meeting> pes;
};

GiveUp give_up_of(std::uint64_t call, int by) {
  return {call, by, -1, CHIMEX_ERR_TIMEOUT, "no patience"};
}

// "Give up" may be in flight while the call meets. The next call is another one.
TEST(Meeting, AGiveUpThatComesAfterTheCallHasMetEndsNothing) {
  for (const int late : {0, 1, 3}) {  // where it arrives: the decider, on the path up, below
    Straight job(7);
    job.all_come();
    job.pes[Job::at(late)].receive(late == 3 ? 1 : 2 * late + 1,
                                   write(give_up_of(1, 2 * late + 1)));
    job.deliver_all();
    for (const Meeting& pe : job.pes) EXPECT_FALSE(pe.is_broken());
    job.all_come();
    for (const Meeting& pe : job.pes) EXPECT_TRUE(pe.has_met()) << late;
    job.pes[3].come(call_of(64));
    job.pes[3].give_up(CHIMEX_ERR_TIMEOUT, "no patience");
    job.deliver_all();
    for (const Meeting& pe : job.pes) {
      EXPECT_EQ(pe.verdict().given_up, 3u) << "and who gives up the next is heard, though one of "
                                              "before came the same way";
      EXPECT_EQ(pe.verdict().by, 3);
    }
  }
}

TEST(Meeting, APeThatHasMetNeverGivesUp) {
  Straight job(3);
  job.all_come();
  for (Meeting& pe : job.pes) {
    pe.give_up(CHIMEX_ERR_TIMEOUT, "late");
    pe.give_up_directly(CHIMEX_ERR_TIMEOUT, "late");
    pe.be_unsure(CHIMEX_ERR_TIMEOUT, "late");
    EXPECT_TRUE(pe.take_outgoing().empty());
    EXPECT_FALSE(pe.is_broken());
  }
}

TEST(Meeting, APeThatHasNotComeGetsTheQueryAndMayGiveUpForAll) {
  for (const int absent : {0, 1, 2, 6}) {
    Straight job(7);
    job.all_come();
    for (int pe = 0; pe < 7; ++pe)
      if (pe != absent) job.pes[Job::at(pe)].come(call_of(128));
    job.deliver_all();
    for (int pe = 0; pe < 7; ++pe)
      if (pe != absent) job.pes[Job::at(pe)].ask();
    job.deliver_all();
    for (int pe = 0; pe < 7; ++pe)
      EXPECT_EQ(job.pes[Job::at(pe)].awaited() != nullptr, pe == absent) << pe;
    EXPECT_EQ(job.pes[Job::at(absent)].awaited()->what, call_of(128));
    job.pes[Job::at(absent)].give_up_awaited(CHIMEX_ERR_MISMATCH, "elsewhere");
    job.deliver_all();
    for (const Meeting& pe : job.pes) {
      EXPECT_EQ(pe.verdict().given_up, 2u);
      EXPECT_EQ(pe.verdict().by, absent);
      EXPECT_EQ(pe.verdict().code, CHIMEX_ERR_MISMATCH);
      EXPECT_FALSE(pe.awaited());
    }
  }
}

TEST(Meeting, APeThatComesIsAwaitedNoLonger) {
  Straight job(3);
  job.pes[0].come(call_of(64));
  job.pes[0].ask();
  job.deliver_all();
  EXPECT_TRUE(job.pes[2].awaited());
  job.pes[2].come(call_of(64));
  EXPECT_FALSE(job.pes[2].awaited());
  job.pes[2].give_up_awaited(CHIMEX_ERR_MISMATCH, "elsewhere");
  job.pes[1].come(call_of(64));
  job.deliver_all();
  for (const Meeting& pe : job.pes) EXPECT_TRUE(pe.has_met());
}

TEST(FewPes, AreRangesAndTheLowestOfMany) {
  const auto of = [](const std::vector<int>& pes) {
    FewPes few;
    for (const int pe : pes) few.add(FewPes(pe));
    return few;
  };
  EXPECT_EQ(of({4}).words(), "PE 4");
  EXPECT_EQ(of({7, 1, 0, 2, 3}).words(), "PEs 0-3, 7");
  EXPECT_EQ(of({0, 2, 4}).words(), "PEs 0, 2, 4");
  FewPes odd, even;
  for (int pe = 0; pe < 200; ++pe) (pe % 2 ? odd : even).add(FewPes(pe));
  odd.add(even);
  EXPECT_EQ(odd.words(), "PEs 0-15 and 184 more");
  EXPECT_EQ(odd.first(), 0);
}

TEST(Meeting, RefusesWhatMakesNoSense) {
  Meeting meeting(1, 8);
  const auto refuses = [&](int from, const net::Bytes& message) {
    EXPECT_THROW(meeting.receive(from, message), net::Error);
  };
  refuses(3, {});
  refuses(3, {std::byte{9}});
  refuses(5, write(Come{1, {}}));  // below PE 2
  net::Bytes cut = write(Verdict{});
  cut.pop_back();
  refuses(0, cut);
  EXPECT_FALSE(meeting.is_broken());
}

}  // namespace
}  // namespace chime::host
