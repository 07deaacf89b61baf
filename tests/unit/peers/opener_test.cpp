// Paths that are opened on demand: whichever end asks, in whatever order messages arrive, both ends
// agree in the end, and every waiter gets an answer.
#include "host/peers/opener.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "fabric_double.hpp"
#include "host/errors/error.hpp"
#include "net/socket/error.hpp"

namespace chime::host {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Holds QP sets for its peers, as a NIC's transport does.
class DemandDouble final : public Transport {
 public:
  DemandDouble(int my_pe, std::size_t places) : my_pe_(my_pe), places_(places) {}

  std::set<int> held, connected;  // QP sets
  std::map<int, bool> confirmed;  // whether it could receive from this PE at its confirmation
  std::map<int, bool> answers;    // whether it is reached
  std::set<int> misfits;          // accept() throws
  std::set<int> unoffered;        // offer() throws, after it has taken a QP set
  std::set<int> unwanted;         // accept() declines
  bool receipts_make_sense = true;

  Capabilities capabilities() const override { return {Path::kNic, Reach::kJob, false, true}; }
  std::string describe() const override { return "a transport of the test's"; }
  OwnEndpointInfo own_endpoint_info() const override {
    return {FabricDouble::text("endpoint info " + std::to_string(my_pe_))};
  }
  bool opens_on_demand() const override { return true; }
  std::string why_no_offer(int pe) const override {
    return held.contains(pe) || held.size() < places_ ? "" : "no place is left";
  }
  EndpointInfoBytes offer(int pe) override {
    EXPECT_TRUE(held.insert(pe).second) << "one place for a peer";
    EXPECT_LE(held.size(), places_);
    if (unoffered.contains(pe)) throw Error("NIC", CHIMEX_ERR_NETWORK, "no queue pair is made");
    return FabricDouble::text(FabricDouble::pair("offer", my_pe_, pe));
  }
  void withdraw(int pe) override {
    if (!connected.contains(pe)) held.erase(pe);
  }
  Acceptance accept(int pe, const PeerEndpointInfo& theirs) override {
    EXPECT_EQ(FabricDouble::text(theirs.bytes), "endpoint info " + std::to_string(pe));
    EXPECT_EQ(FabricDouble::text(theirs.offer), FabricDouble::pair("offer", pe, my_pe_));
    EXPECT_TRUE(held.contains(pe));
    if (misfits.contains(pe)) throw Error("NIC", CHIMEX_ERR_MISMATCH, "they do not fit together");
    if (unwanted.contains(pe)) return {};
    EXPECT_TRUE(connected.insert(pe).second) << "a queue pair is connected once";
    return {.is_accepted = true,
            .receipt = FabricDouble::text(FabricDouble::pair("receipt", my_pe_, pe))};
  }
  void confirm(int pe, std::span<const std::byte> receipt) override {
    EXPECT_EQ(FabricDouble::text(receipt), FabricDouble::pair("receipt", pe, my_pe_));
    if (!receipts_make_sense) throw Error("NIC", CHIMEX_ERR_MISMATCH, "another version");
    EXPECT_TRUE(connected.contains(pe));
    confirmed[pe] = true;
  }
  std::string why_not(int pe) const override { return "PE " + std::to_string(pe) + " is unwanted"; }
  void answer(int pe, bool is_reached) override {
    EXPECT_TRUE(answers.emplace(pe, is_reached).second) << "answered once";
    EXPECT_EQ(is_reached, confirmed.contains(pe));
  }
  void make_view(ChannelTables&) override {}

 private:
  const int my_pe_;
  const std::size_t places_;
};

// PEs whose messages are delivered one by one, each pair's in order, by a seed.
class Job {
 public:
  explicit Job(int n_pes, std::size_t places = 100, unsigned seed = 1) : random_(seed) {
    for (int pe = 0; pe < n_pes; ++pe)
      pes_.push_back(std::make_unique<Pe>(*this, pe, n_pes, places));
  }

  DemandDouble& transport(int pe) { return at(pe).transport; }
  PeerTable& peers(int pe) { return at(pe).peers; }
  PeerState state(int of, int to) { return peers(of).state(to, Path::kNic); }
  void want(int of, int to) { at(of).opener.want(to); }
  bool answer(int of, int to) { return transport(of).answers.at(to); }
  bool is_open(int of, int to) {
    const auto& answers = transport(of).answers;
    return answers.contains(to) && answers.at(to);
  }
  // It sends and receives nothing any more; the others learn of that between other messages.
  void kill(int pe) {
    at(pe).is_dead = true;
    for (auto& [ends, waiting] : mail_)
      if (ends.second == pe) waiting.clear();
    for (int other = 0; other < static_cast<int>(pes_.size()); ++other)
      if (other != pe) mail_[{pe, other}].push_back({});  // an empty message: the end
  }
  using Ends = std::pair<int, int>;  // from, to
  std::vector<Ends> ready() const {
    std::vector<Ends> ready;
    for (const auto& [ends, waiting] : mail_)
      if (!waiting.empty()) ready.push_back(ends);
    return ready;
  }
  bool deliver_one() {
    const auto all = ready();
    if (!all.empty()) deliver(all[random_() % all.size()]);
    return !all.empty();
  }
  void deliver(const Ends& ends) {
    const EndpointInfoBytes message = mail_[ends].front();
    mail_[ends].pop_front();
    Pe& receiver = at(ends.second);
    if (receiver.is_dead) return;
    if (message.empty())
      receiver.opener.on_lost(ends.first, "it has ended");
    else
      receiver.opener.on_message(ends.first, message);
  }
  void deliver_all() {
    while (deliver_one()) {
    }
  }
  // A message from `of` to `to` that no opener would send.
  void forge(int of, int to, EndpointInfoBytes message) { at(to).opener.on_message(of, message); }
  unsigned random() { return static_cast<unsigned>(random_()); }

 private:
  struct Pe {
    Pe(Job& job, int me, int n_pes, std::size_t places)
        : transport(me, places),
          peers({me, n_pes, AmoChoice::kAuto}),
          opener(transport, peers, [&job, me](int pe, const EndpointInfoBytes& message) {
            if (job.at(me).is_dead) return;
            if (job.at(pe).is_dead)
              throw std::runtime_error("PE " + std::to_string(pe) + " is gone");
            job.mail_[{me, pe}].push_back(message);
          }) {
      peers.add(transport);
    }
    DemandDouble transport;
    PeerTable peers;
    Opener opener;
    bool is_dead = false;
  };
  Pe& at(int pe) { return *pes_.at(static_cast<std::size_t>(pe)); }

  std::mt19937 random_;
  std::vector<std::unique_ptr<Pe>> pes_;
  std::map<std::pair<int, int>, std::deque<EndpointInfoBytes>> mail_;
};

void expect_open(Job& job, int a, int b) {
  for (const auto& [of, to] : {std::pair(a, b), std::pair(b, a)}) {
    EXPECT_EQ(job.state(of, to), PeerState::kUsable);
    EXPECT_TRUE(job.answer(of, to));
    EXPECT_EQ(job.peers(of).path(to), Path::kNic);
  }
}

TEST(Opener, OneRequestOpensBothEnds) {
  Job job(2);
  EXPECT_EQ(job.peers(0).path(1), Path::kNic) << "it will be";
  job.want(0, 1);
  EXPECT_EQ(job.state(0, 1), PeerState::kAsked);
  job.want(0, 1);  // it has asked already
  job.deliver_all();
  expect_open(job, 0, 1);
  job.want(1, 0);
  job.deliver_all();
  expect_open(job, 0, 1);
}

TEST(Opener, BothAskAndThereIsOneWay) {
  Job job(2);
  job.want(0, 1);
  job.want(1, 0);
  job.deliver_all();
  expect_open(job, 0, 1);
  EXPECT_EQ(job.transport(0).held.size(), 1u);
  EXPECT_EQ(job.transport(1).held.size(), 1u);
}

TEST(Opener, WhoeverHasNoPlaceRefusesWithTheReason) {
  Job job(3, 1);
  job.want(0, 1);
  job.deliver_all();
  job.want(2, 0);
  job.deliver_all();
  expect_open(job, 0, 1);
  for (const auto& [of, to] : {std::pair(0, 2), std::pair(2, 0)}) {
    EXPECT_EQ(job.state(of, to), PeerState::kRefused);
    EXPECT_FALSE(job.answer(of, to));
    EXPECT_EQ(job.peers(of).path(to), Path::kNone);
    EXPECT_EQ(job.peers(of).why_not(to), "no place is left");
  }
  EXPECT_TRUE(job.transport(2).held.empty()) << "what was offered is free again";
  job.want(0, 2);  // a refusal is final
  job.deliver_all();
  EXPECT_FALSE(job.answer(0, 2));
}

TEST(Opener, PesThatDoNotFitTogetherGiveTheReason) {
  for (const int at : {0, 1}) {
    Job job(2);
    job.transport(at).misfits.insert(1 - at);
    job.want(0, 1);
    job.deliver_all();
    for (const int pe : {0, 1}) {
      EXPECT_FALSE(job.answer(pe, 1 - pe));
      EXPECT_THAT(job.peers(pe).why_not(1 - pe), HasSubstr("they do not fit together"));
    }
    EXPECT_TRUE(job.transport(at).held.empty());
  }
}

// A QP set that was connected once cannot be reused.
TEST(Opener, ARefusalAfterAcceptanceFreesNoQpSet) {
  Job job(3, 1);
  job.transport(0).misfits.insert(1);  // after PE 1 has accepted its offer
  job.want(0, 1);
  job.deliver_all();
  EXPECT_EQ(job.state(1, 0), PeerState::kRefused);
  EXPECT_EQ(job.transport(1).connected, std::set{0});
  job.want(2, 1);
  job.deliver_all();
  EXPECT_FALSE(job.answer(2, 1));
  EXPECT_EQ(job.peers(2).why_not(1), "no place is left");
  EXPECT_EQ(job.transport(1).held, std::set{0});
  EXPECT_TRUE(job.transport(2).held.empty());
}

// At either end: only the requesters can get the error, not the thread that serves them.
TEST(Opener, APeWithoutAnOfferIsRefusedWithTheReason) {
  for (const int at : {0, 1}) {
    Job job(2);
    job.transport(at).unoffered.insert(1 - at);
    job.want(0, 1);
    job.deliver_all();
    EXPECT_FALSE(job.answer(0, 1));
    EXPECT_THAT(job.peers(0).why_not(1), HasSubstr("no queue pair is made"));
    EXPECT_TRUE(job.transport(0).held.empty());
    EXPECT_TRUE(job.transport(1).held.empty());
  }
}

TEST(Opener, ADeclinedPeIsRefused) {
  Job job(2);
  job.transport(1).unwanted.insert(0);
  job.want(0, 1);
  job.deliver_all();
  EXPECT_FALSE(job.answer(0, 1));
  EXPECT_EQ(job.peers(0).why_not(1), "PE 0 is unwanted");
}

// At any stage.
TEST(Opener, ThePeersOfOneThatEndsAreAnswered) {
  for (unsigned delivered = 0; delivered < 5; ++delivered)
    for (const bool both : {false, true}) {
      Job job(2);
      job.want(0, 1);
      if (both) job.want(1, 0);
      for (unsigned i = 0; i < delivered; ++i) job.deliver_one();
      job.kill(1);
      job.deliver_all();
      ASSERT_TRUE(job.transport(0).answers.contains(1)) << delivered << " delivered";
      EXPECT_EQ(job.answer(0, 1), job.state(0, 1) == PeerState::kUsable);
    }
}

TEST(Opener, ADeadPeGetsNoRequest) {
  Job job(2);
  job.kill(1);
  job.want(0, 1);
  EXPECT_FALSE(job.answer(0, 1));
  EXPECT_EQ(job.peers(0).why_not(1), "PE 1 is gone");
  EXPECT_TRUE(job.transport(0).held.empty());
}

// At any stage, and whether they ask before or after.
TEST(Opener, AnEndThatOthersHaveFoundIsAnsweredToo) {
  for (unsigned delivered = 0; delivered < 5; ++delivered)
    for (const bool asks_before : {false, true}) {
      Job job(2);
      if (asks_before) job.want(0, 1);
      for (unsigned i = 0; i < delivered; ++i) job.deliver_one();
      job.peers(0).bury(1, "its process has ended");
      job.want(0, 1);
      job.kill(1);
      job.deliver_all();
      ASSERT_TRUE(job.transport(0).answers.contains(1)) << delivered << " delivered";
      EXPECT_EQ(job.transport(0).held, job.transport(0).connected) << delivered << " delivered";
    }
}

TEST(Opener, AnEndThatOthersHaveFoundBeforeTheLossIsAnswered) {
  for (unsigned delivered = 0; delivered < 5; ++delivered) {
    Job job(2);
    job.want(0, 1);
    for (unsigned i = 0; i < delivered; ++i) job.deliver_one();
    job.peers(0).bury(1, "its process has ended");
    job.kill(1);
    job.deliver_all();
    ASSERT_TRUE(job.transport(0).answers.contains(1)) << delivered << " delivered";
    EXPECT_EQ(job.transport(0).held, job.transport(0).connected) << delivered << " delivered";
  }
}

TEST(Opener, MessagesWithoutSenseEndTheConnection) {
  Job job(2);
  const auto forge = [&](std::initializer_list<int> bytes) {
    EndpointInfoBytes message;
    for (const int byte : bytes) message.push_back(std::byte(byte));
    job.forge(1, 0, message);
  };
  EXPECT_THROW(forge({}), net::Error);
  EXPECT_THROW(forge({1, 2}), net::Error);
  const int version = kAbiVersion;
  EXPECT_THROW(forge({9, version, 0, 0, 0}), net::Error);                // no such kind
  EXPECT_THROW(forge({2, version, 0, 0, 0, 0, 0, 0, 0}), net::Error);    // a receipt for nothing
  EXPECT_THROW(forge({1, version, 0, 0, 0, 255, 0, 0, 0}), net::Error);  // cut off
  EXPECT_EQ(job.state(0, 1), PeerState::kUnknown);
  job.want(0, 1);
  job.deliver_all();
  expect_open(job, 0, 1);
}

TEST(Opener, AnotherVersionIsRefused) {
  Job job(2);
  job.want(0, 1);
  job.forge(1, 0,
            {std::byte{1}, std::byte{kAbiVersion + 1}, std::byte{0}, std::byte{0}, std::byte{0}});
  EXPECT_FALSE(job.answer(0, 1));
  EXPECT_EQ(job.peers(0).why_not(1), "PEs 0 and 1 run different versions of Chime");
}

TEST(Opener, ARefusalOfAnotherVersionIsNotAnswered) {
  Job job(2);
  job.forge(1, 0,
            {std::byte{3}, std::byte{kAbiVersion + 1}, std::byte{0}, std::byte{0}, std::byte{0}});
  EXPECT_FALSE(job.answer(0, 1));
  EXPECT_FALSE(job.deliver_one()) << "two versions would refuse each other for ever";
}

TEST(Opener, AReceiptThatTheTransportCannotReadEndsTheConnection) {
  Job job(2);
  job.transport(0).receipts_make_sense = false;
  job.want(0, 1);
  EXPECT_THROW(job.deliver_all(), net::Error);
}

// Many PEs, few QP sets, requests at any time, a death: both ends agree, and no PE waits for ever.
TEST(Opener, AnySeedEndsWithAnswersForAll) {
  for (unsigned seed = 1; seed <= 300; ++seed) {
    constexpr int kPes = 6;
    Job job(kPes, 1 + seed % 5, seed);
    std::vector<std::pair<int, int>> asked;
    const int dying = seed % 3 == 0 ? static_cast<int>(job.random() % kPes) : -1;
    bool is_killed = false;
    for (int step = 0; step < 60; ++step) {
      const int of = static_cast<int>(job.random() % kPes),
                to = static_cast<int>(job.random() % kPes);
      if (job.random() % 2 == 0)
        job.deliver_one();
      else if (of != to && !(is_killed && of == dying)) {
        job.want(of, to);
        asked.emplace_back(of, to);
      }
      if (step == 30 && dying >= 0) {
        job.kill(dying);
        is_killed = true;
      }
    }
    job.deliver_all();
    for (const auto& [of, to] : asked) {
      if (of == dying) continue;
      ASSERT_TRUE(job.transport(of).answers.contains(to)) << "seed " << seed;
      if (to == dying) continue;
      EXPECT_EQ(job.answer(of, to), job.is_open(to, of)) << "seed " << seed;
      EXPECT_EQ(job.answer(of, to), job.transport(of).held.contains(to)) << "seed " << seed;
    }
  }
}

// Calls `run(choose)` for every sequence of results of choose(n), 0 to n - 1; returns their number.
template <class Run>
int for_all_choices(Run run) {
  std::vector<std::pair<std::size_t, std::size_t>> taken;  // with the number of choices
  for (int runs = 1;; ++runs) {
    std::size_t depth = 0;
    run([&](std::size_t n) {
      if (depth == taken.size()) taken.emplace_back(0, n);
      return taken[depth++].first;
    });
    while (!taken.empty() && taken.back().first + 1 == taken.back().second) taken.pop_back();
    if (taken.empty() || testing::Test::HasFailure()) return runs;
    ++taken.back().first;
  }
}

struct Story {
  int pes;
  std::size_t places;
  std::vector<Job::Ends> asks;
  int dying;                 // -1: none
  std::vector<int> misfits;  // PEs that cannot accept PE 0
};

void play(const Story& story, const std::function<std::size_t(std::size_t)>& choose) {
  Job job(story.pes, story.places);
  for (const int pe : story.misfits) job.transport(pe).misfits.insert(0);
  std::vector<Job::Ends> asks = story.asks;
  bool dies = story.dying >= 0;
  for (;;) {
    const auto ready = job.ready();
    const std::size_t n = ready.size() + asks.size() + dies;
    if (n == 0) break;
    const std::size_t choice = choose(n);
    if (choice < ready.size()) {
      job.deliver(ready[choice]);
    } else if (choice < ready.size() + asks.size()) {
      const auto ask = asks.begin() + static_cast<std::ptrdiff_t>(choice - ready.size());
      if (dies || ask->first != story.dying) job.want(ask->first, ask->second);
      asks.erase(ask);
    } else {
      job.kill(story.dying);
      dies = false;
    }
  }
  for (const auto& [of, to] : story.asks) {
    if (of == story.dying) continue;
    ASSERT_TRUE(job.transport(of).answers.contains(to)) << of << " waits for " << to;
    if (to == story.dying) continue;
    EXPECT_EQ(job.answer(of, to), job.is_open(to, of)) << of << " and " << to;
    const bool is_taken = job.transport(of).connected.contains(to);
    EXPECT_EQ(job.transport(of).held.contains(to), is_taken);
    if (job.answer(of, to)) {
      EXPECT_TRUE(is_taken);
    }
  }
}

// The code, in every order of asks, messages and an end. (tests/models/connections/opening.py goes
// on to more steps of a model.)
TEST(Opener, EveryOrderEndsWithAnswersForAll) {
  const Story stories[] = {
      {2, 1, {{0, 1}, {1, 0}}, -1, {}},  {2, 1, {{0, 1}, {1, 0}}, 1, {}},
      {2, 1, {{0, 1}, {1, 0}}, 0, {}},   {2, 1, {{0, 1}, {1, 0}}, -1, {1}},
      {3, 1, {{0, 1}, {2, 1}}, -1, {}},  {3, 1, {{0, 1}, {1, 2}}, -1, {}},
      {3, 1, {{0, 1}, {2, 1}}, -1, {1}},
  };
  for (const Story& story : stories) {
    SCOPED_TRACE(testing::Message() << "story " << &story - stories);
    const int runs = for_all_choices([&](const auto& choose) { play(story, choose); });
    EXPECT_GT(runs, 10);
    RecordProperty("runs " + std::to_string(&story - stories), runs);
  }
}

}  // namespace
}  // namespace chime::host
