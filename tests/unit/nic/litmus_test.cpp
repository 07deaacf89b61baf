// The litmus set of the NIC's path: few threads, stores delayed and schedules drawn by seed, as
// many as CHIME_TEST_SEEDS says (50; soak: 10^6 of each).
//
// The NIC's thread looks at the heaps after each request that it has carried out: a flag that is
// there before its data has overtaken it, however short the moment.
#include <gtest/gtest.h>

#include <cstdlib>

#include "nic_job.hpp"

namespace chime::tests {
namespace {

using Word = std::uint64_t;

Word seeds() {
  const char* const text = std::getenv("CHIME_TEST_SEEDS");
  return text ? std::strtoull(text, nullptr, 10) : 50;
}

// PE 0 sends the number of the seed to PEs 1 and 2, so that values only grow. Blocks 0 and 1 have a
// queue pair each.
class Litmus : public EachMode {
 protected:
  static constexpr std::size_t kWords = 5;  // too many for inline data

  explicit Litmus(NicPlan plan = with_lazy_slots()) : job_(3, plan) {
    job_.nic.watch([this] { has_overtaken_ |= flag_is_early(); });
  }

  static NicPlan with_lazy_slots() {
    NicPlan two = plan();
    two.slots = 2;
    two.is_lazy = true;
    return two;
  }

  Word* data(int pe = 0) { return job_.data<Word>(pe); }
  Word* flag(int pe = 0) { return job_.data<Word>(pe, 64); }
  Word* sum(int pe = 0) { return job_.data<Word>(pe, 128); }
  Word* baton() { return job_.data<Word>(0, 192); }
  Word* source() { return job_.data<Word>(0, 256); }

  // A flag on either PE speaks of the data on PE 1.
  bool flag_is_early() {
    const Word said = std::max(__atomic_load_n(flag(1), __ATOMIC_RELAXED),
                               __atomic_load_n(flag(2), __ATOMIC_RELAXED));
    bool is_early = false;
    for (std::size_t i = 0; i < kWords; ++i)
      is_early |= __atomic_load_n(data(1) + i, __ATOMIC_RELAXED) < said;
    return is_early;
  }

  void fill_source(Word value) {
    for (std::size_t i = 0; i < kWords; ++i) exec::st(source() + i, value);
  }
  void put_data(Until until = Until::kPosted) {
    job_.to(1).put<sizeof(Word)>(Thread{}, {data(), source(), kWords * sizeof(Word), until});
  }

  // Two blocks of two threads run `body(seed, rank in the grid)`, then quiet.
  template <class Body>
  void explore(Body body) {
    for (Word seed = 1; seed <= seeds(); ++seed) {
      const WeakMemory weak(seed);
      run_grid(2, 2, [&] {
        body(seed, exec::grid_rank());
        job_.quiet();
      });
      for (std::size_t i = 0; i < kWords; ++i) EXPECT_EQ(data(1)[i], seed);
      EXPECT_FALSE(has_overtaken_) << "a flag was there before its data";
      EXPECT_EQ(job_.nic.complaints(), "");
      if (HasFailure()) FAIL() << "seed " << seed;
    }
  }

  NicJob job_;
  bool has_overtaken_ = false;  // the NIC's thread writes it before the completion that quiet sees
};

TEST_P(Litmus, WhoSeesTheSignalSeesTheData) {
  explore([&](Word seed, Word rank) {
    if (rank != 0) {
      return job_.to(1).amo(Amo<AmoOp::kAdd, Word>{sum(), 1});
    }
    fill_source(seed);
    job_.to(1).put_signal<sizeof(Word)>(
        Thread{}, {data(), source(), kWords * sizeof(Word), Until::kPosted}, {flag(), seed});
  });
  EXPECT_EQ(*sum(1), 3 * seeds());
}

TEST_P(Litmus, AFenceKeepsPutsBeforeIt) {
  explore([&](Word seed, Word rank) {
    if (rank != 0) return;
    fill_source(seed);
    put_data();
    job_.fence();
    job_.to(1).p(flag(), seed);
  });
}

// The fence is for the peer, not for the caller's queue pair.
TEST_P(Litmus, AFenceKeepsPutsOfAnotherBlockBeforeIt) {
  explore([&](Word seed, Word rank) {
    if (rank == 0) {
      fill_source(seed);
      put_data();
      exec::st<exec::Order::kRelease, exec::Scope::kDevice>(baton(), seed);
    } else if (rank == 2) {
      while (exec::ld<exec::Order::kAcquire, exec::Scope::kDevice>(baton()) != seed) exec::pause();
      job_.fence();
      job_.to(1).p(flag(), seed);
    }
  });
}

TEST_P(Litmus, AQuietKeepsPutsBeforeWhatAnotherPeerSees) {
  explore([&](Word seed, Word rank) {
    if (rank != 0) return;
    fill_source(seed);
    put_data();
    job_.quiet();
    job_.to(2).p(flag(), seed);
  });
}

TEST_P(Litmus, ASourceMayChangeWhenPutReturns) {
  explore([&](Word seed, Word rank) {
    if (rank != 0) return;
    fill_source(seed);
    put_data(Until::kLocal);
    fill_source(~Word{0});
  });
}

// What an atomic fetches is newer than what its thread has put before.
TEST_P(Litmus, AFetchFollowsThePutsOfItsQueue) {
  explore([&](Word seed, Word rank) {
    if (rank == 0) {
      fill_source(seed);
      put_data();
      EXPECT_EQ(job_.to(1).g(data() + kWords - 1), seed);
    } else {
      job_.to(1).amo(Amo<AmoOp::kAdd, Word>{sum(), 1});
    }
  });
  EXPECT_EQ(*sum(1), 3 * seeds());
}

IN_EACH_MODE(Litmus);

// The same where a write may be overtaken by the next ones of its queue.
NicPlan with_unordered_writes(NicPlan plan, std::uint32_t flags) {
  plan.reorders = true;
  plan.flags |= flags;
  return plan;
}

class UnorderedLitmus : public Litmus {
 protected:
  explicit UnorderedLitmus(std::uint32_t flags = abi::kNicUnorderedWrites | abi::kNicSwapsSignals)
      : Litmus(with_unordered_writes(with_lazy_slots(), flags)) {}

  void put_data_and_signal(Word seed, SignalOp op) {
    job_.to(1).put_signal<sizeof(Word)>(
        Thread{}, {data(), source(), kWords * sizeof(Word), Until::kPosted}, {flag(), seed, op});
  }
};

TEST_P(UnorderedLitmus, WhoSeesTheSignalSeesTheData) {
  explore([&](Word seed, Word rank) {
    if (rank != 0) return job_.to(1).amo(Amo<AmoOp::kAdd, Word>{sum(), 1});
    fill_source(seed);
    put_data_and_signal(seed, SignalOp::kSet);
  });
  EXPECT_EQ(*sum(1), 3 * seeds());
}

TEST_P(UnorderedLitmus, WhoSeesTheAddedSignalSeesTheData) {
  explore([&](Word seed, Word rank) {
    if (rank != 0) return;
    fill_source(seed);
    put_data_and_signal(1, SignalOp::kAdd);  // seeds count from 1
  });
}

TEST_P(UnorderedLitmus, AFenceKeepsPutsBeforeIt) {
  explore([&](Word seed, Word rank) {
    if (rank != 0) return;
    fill_source(seed);
    put_data();
    job_.fence();
    job_.to(1).p(flag(), seed);
  });
}

// The witness is awake: who takes such a queue for an ordered one is overtaken.
class TakenForOrdered : public UnorderedLitmus {
 protected:
  TakenForOrdered() : UnorderedLitmus(0) {}
};

TEST_P(TakenForOrdered, ASignalIsThereBeforeItsData) {
  for (Word seed = 1; seed <= 100 && !has_overtaken_; ++seed)
    run_threads(1, [&] {
      fill_source(seed);
      put_data_and_signal(seed, SignalOp::kSet);
      job_.quiet();
    });
  EXPECT_TRUE(has_overtaken_);
}

IN_EACH_MODE(UnorderedLitmus);
IN_EACH_MODE(TakenForOrdered);

}  // namespace
}  // namespace chime::tests
