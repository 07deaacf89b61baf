// Threads that make collective calls through words on control pages that all of them share.
#include "host/collective/mapped_rendezvous.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <thread>
#include <vector>

#include "host/errors/abort.hpp"
#include "host/errors/error.hpp"
#include "host/peers/control.hpp"
#include "host/peers/shared_word.hpp"

namespace chime::host {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr std::uint64_t kLong = 60'000'000'000;
constexpr std::uint64_t kShort = 300'000'000;
using Kind = CollectiveCall::Kind;

CollectiveCall call_of(std::uint64_t bytes) { return {Kind::kMalloc, bytes}; }

// PEs as threads.
class Job {
 public:
  Job(int n_pes, std::uint64_t timeout_ns, const Beside& beside = {})
      : controls(static_cast<std::size_t>(n_pes)) {
    for (int pe = 0; pe < n_pes; ++pe) {
      peers_.emplace_back(PeerTable::Job{pe, n_pes, AmoChoice::kAuto});
      for (int other = 0; other < n_pes; ++other)
        peers_.back().set_control(other, &controls[at(other)]);
      rendezvous_.push_back(make_mapped_rendezvous(peers_.back(), timeout_ns, beside));
    }
  }

  template <class Body>
  void run(Body body) {
    std::vector<std::thread> threads;
    for (int pe = 0; pe < size(); ++pe)
      threads.emplace_back([&, pe] { body(pe, *rendezvous_[at(pe)]); });
    for (std::thread& thread : threads) thread.join();
  }

  // The error of each PE's meeting for `call(pe)`; "" if it has met.
  template <class Call>
  std::vector<std::string> errors_of(Call call) {
    std::vector<std::string> errors(rendezvous_.size());
    run([&](int pe, Rendezvous& rendezvous) {
      try {
        rendezvous.meet(call(pe));
      } catch (const Error& error) {
        errors[at(pe)] = std::to_string(error.code()) + ": " + error.what();
      }
    });
    return errors;
  }

  int size() const { return static_cast<int>(rendezvous_.size()); }
  static std::size_t at(int pe) { return static_cast<std::size_t>(pe); }

  std::deque<ControlBlock> controls;

 private:
  std::deque<PeerTable> peers_;
  std::vector<std::unique_ptr<Rendezvous>> rendezvous_;
};

std::string code(chimex_status status) { return std::to_string(status) + ": "; }

TEST(MappedRendezvous, NonePassesBeforeAllHaveCome) {
  Job job(7, kLong);
  std::atomic<int> come{0};
  job.run([&](int pe, Rendezvous& rendezvous) {
    for (int call = 1; call <= 50; ++call) {
      if (pe == call % 7) std::this_thread::sleep_for(500us);
      ++come;
      rendezvous.meet(call_of(64));
      EXPECT_GE(come, call * 7);
    }
  });
}

// Any difference, of any PE: at first only the sizes of PEs were compared.
TEST(MappedRendezvous, ADifferenceInAnyPartOfTheCallReachesAll) {
  const CollectiveCall usual = {Kind::kAlign, 64, 64, 65536};
  const struct {
    CollectiveCall call;
    chimex_status status;
    std::string says;
  } rows[] = {
      {{Kind::kMalloc, 64, 64, 65536}, CHIMEX_ERR_MISMATCH, "chime_malloc(64)"},
      {{Kind::kAlign, 65, 64, 65536}, CHIMEX_ERR_MISMATCH, "chime_align(64, 65)"},
      {{Kind::kAlign, 64, 128, 65536}, CHIMEX_ERR_MISMATCH, "chime_align(128, 64)"},
      {{Kind::kAlign, 64, 64, 65552}, CHIMEX_ERR_MISMATCH, "heap + 65552"},
      {{Kind::kAlign, 64, 64, CollectiveCall::kNoRoom},
       CHIMEX_ERR_OUT_OF_MEMORY,
       "had no room for it"},
      {{Kind::kAlign, 64, 64, CollectiveCall::kFails}, CHIMEX_ERR_INVALID, "could not do it"}};
  for (const auto& row : rows)
    for (const int other : {0, 1, 4}) {
      Job job(5, kLong);
      const auto errors = job.errors_of([&](int pe) { return pe == other ? row.call : usual; });
      for (const std::string& error : errors) {
        EXPECT_EQ(error, errors[0]);
        EXPECT_THAT(error, HasSubstr(code(row.status)));
        EXPECT_THAT(error, HasSubstr(row.says));
        EXPECT_THAT(error, HasSubstr("PE " + std::to_string(other)));
      }
      for (const std::string& error : job.errors_of([&](int) { return usual; }))
        EXPECT_EQ(error, "") << "all have met, and may go on";
    }
}

TEST(MappedRendezvous, ACallThatOneDoesNotComeToFailsOnAllAndSoDoLaterOnes) {
  for (const int late : {0, 1, 3}) {
    Job job(4, kShort);
    std::atomic<int> failed{0};
    job.run([&](int pe, Rendezvous& rendezvous) {
      rendezvous.meet(call_of(64));
      if (pe == late)
        while (failed < 3) std::this_thread::sleep_for(1ms);
      for (int call = 0; call < 2; ++call) EXPECT_THROW(rendezvous.meet(call_of(64)), Error);
      ++failed;
    });
  }
}

// Consecutive calls use separate words.
TEST(MappedRendezvous, EachDifferenceIsThatOfItsOwnCall) {
  Job job(3, kLong);
  const std::vector<int> different = {2, 3, 6, 8};
  job.run([&](int pe, Rendezvous& rendezvous) {
    for (int call = 1; call <= 9; ++call) {
      const bool differs = std::find(different.begin(), different.end(), call) != different.end();
      const auto bytes = static_cast<std::uint64_t>(1000 * call + (differs && pe == call % 3));
      std::string error;
      try {
        rendezvous.meet(call_of(bytes));
      } catch (const Error& thrown) {
        error = thrown.what();
      }
      EXPECT_EQ(error.empty(), !differs) << call << ": " << error;
      if (differs) {
        EXPECT_THAT(error, HasSubstr("(" + std::to_string(1000 * call) + ")"));
        EXPECT_THAT(error, HasSubstr("(" + std::to_string(1000 * call + 1) + ")"));
      }
    }
  });
}

// PE 0 of two PEs, in its first call. The test is PE 1, and PE 0 finds PE 1's words as if it had
// not run for a while.
class StandsStill {
 public:
  StandsStill() {
    for (int pe = 0; pe < 2; ++pe) peers_.set_control(pe, &controls_[Job::at(pe)]);
    rendezvous_ = make_mapped_rendezvous(peers_, kLong);
  }

  // PE 1 asks for `bytes`; leave(words) returns the verdict. Returns the error of PE 0's call, or
  // "".
  template <class Leave>
  std::string error_after(Leave leave, std::uint64_t bytes = 64) {
    std::string error;
    std::thread pe0([&] {
      try {
        rendezvous_->meet(call_of(64));
      } catch (const Error& thrown) {
        error = thrown.what();
      }
    });
    std::atomic_ref come(controls_[0].come);
    while (come != 1) std::this_thread::sleep_for(1ms);
    controls_[1].collective[1] = {1, static_cast<std::uint64_t>(Kind::kMalloc), bytes, 0, 0};
    controls_[1].come = 1;
    ++come;
    const std::uint64_t verdict = leave(controls_[0].verdict);
    SharedWord(controls_[0].verdict.word, controls_[0].verdict.sleepers).replace(0, verdict);
    pe0.join();
    return error;
  }

  static std::uint64_t met(std::uint64_t call) { return call << 24; }
  static std::uint64_t given_up_by_pe1(std::uint64_t call) { return met(call) | 2; }

 private:
  std::deque<ControlBlock> controls_ = std::deque<ControlBlock>(2);
  PeerTable peers_{{0, 2, AmoChoice::kAuto}};
  std::unique_ptr<Rendezvous> rendezvous_;
};

TEST(MappedRendezvous, ACallHasMetAlsoForAPeThatFindsTheNextOneGivenUp) {
  EXPECT_EQ(StandsStill().error_after([](VerdictWords&) { return StandsStill::met(1); }), "");
  EXPECT_EQ(StandsStill().error_after([](VerdictWords&) { return StandsStill::met(2); }), "");
  EXPECT_EQ(
      StandsStill().error_after([](VerdictWords&) { return StandsStill::given_up_by_pe1(2); }), "");
  EXPECT_THAT(
      StandsStill().error_after([](VerdictWords&) { return StandsStill::given_up_by_pe1(1); }),
      HasSubstr("PE 1 gave up"));
}

// Others that are in the next call write beside it.
TEST(MappedRendezvous, ADifferenceInTheNextCallHidesNoneInThisAndMakesNone) {
  const auto next_differs = [](VerdictWords& words) {
    words.differs[0] = 2;
    return StandsStill::met(1);
  };
  EXPECT_EQ(StandsStill().error_after(next_differs), "");
  const auto both_differ = [&](VerdictWords& words) {
    words.differs[1] = 1;
    return next_differs(words);
  };
  EXPECT_THAT(StandsStill().error_after(both_differ, 65),
              HasSubstr("PE 0 called chime_malloc(64) but PE 1 called chime_malloc(65)"));
}

// Stopped between two of its stores. Seen before: another PE was blamed, the last one of the job.
TEST(MappedRendezvous, APeStoppedBetweenItsPostAndItsCountBlamesNoOther) {
  Job job(4, kShort);
  CollectiveSlot& slot = job.controls[2].collective[1];
  slot.kind = static_cast<std::uint64_t>(Kind::kMalloc);
  slot.first = 64;
  slot.sequence = 1;
  std::vector<std::string> errors(4);
  job.run([&](int pe, Rendezvous& rendezvous) {
    if (pe == 2) return;
    try {
      rendezvous.meet(call_of(64));
    } catch (const Error& error) {
      errors[Job::at(pe)] = error.what();
    }
  });
  for (const int pe : {0, 1, 3})
    EXPECT_THAT(errors[Job::at(pe)], HasSubstr("a PE that has come, and does not run,"));
}

TEST(MappedRendezvous, TheAbortWordEndsTheWaitAndIsReported) {
  Job job(3, kLong);
  const auto begin = std::chrono::steady_clock::now();
  const auto raise = [&](int pe) {
    std::this_thread::sleep_for(50ms);
    raise_abort(job.controls[Job::at(pe)].abort,
                {CHIMEX_ERR_PEER_DEAD, 2, Path::kP2p, "PE 2 fell asleep", 1});
  };
  job.run([&](int pe, Rendezvous& rendezvous) {
    if (pe == 2) return raise(0), raise(1);
    try {
      rendezvous.meet(call_of(64));
      ADD_FAILURE() << "it has met";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("PE 2 fell asleep"));
    }
  });
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 20s);
}

// The two wait for each other. Seen before: no error until CHIME_TIMEOUT.
TEST(MappedRendezvous, PesThatStandInABarrierMeanwhileAreNamedToAll) {
  for (const std::vector<int>& there : {std::vector{1}, {0}, {2, 3}}) {
    Job job(4, kLong, {.barrier = [] { return 0; }, .kernels_run = [] { return false; }});
    for (const int pe : there) job.controls[Job::at(pe)].in_barrier = barrier_word(7, pe == 0);
    const auto is_there = [&](int pe) {
      return std::find(there.begin(), there.end(), pe) != there.end();
    };
    const auto begin = std::chrono::steady_clock::now();
    job.run([&](int pe, Rendezvous& rendezvous) {
      if (is_there(pe)) return;
      try {
        rendezvous.meet(call_of(64));
        ADD_FAILURE() << "it has met";
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), CHIMEX_ERR_MISMATCH);
      }
    });
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 20s);
    for (ControlBlock& control : job.controls) {
      const auto cause = abort_cause(control.abort);
      ASSERT_TRUE(cause);
      EXPECT_THAT(cause->why, HasSubstr(there.size() == 2 ? "PEs 2-3 called chime_barrier_all"
                                        : there[0] == 1   ? "PE 1 called chime_barrier_all"
                                                          : "PE 0 called chime_sync_all"));
      EXPECT_THAT(cause->why, HasSubstr("called chime_malloc(64)"));
    }
  }
}

// This does not apply to a barrier that goes on, or one to which a kernel may still come.
TEST(MappedRendezvous, ABarrierThatMayEndDoesNoHarm) {
  for (const bool kernels_run : {false, true}) {
    Job job(2, kLong, {.barrier = [] { return 0; }, .kernels_run = [=] { return kernels_run; }});
    std::atomic_ref word(job.controls[1].in_barrier);
    word = barrier_word(1, false);
    job.run([&](int pe, Rendezvous& rendezvous) {
      for (std::uint64_t turn = 0; pe == 1 && turn < 200; ++turn) {
        std::this_thread::sleep_for(10ms);
        if (!kernels_run) word = barrier_word(2 + turn, false);
      }
      if (pe == 1) word = 0;
      EXPECT_NO_THROW(rendezvous.meet(call_of(64)));
    });
  }
}

}  // namespace
}  // namespace chime::host
