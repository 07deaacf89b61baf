// The litmus set of channels: few threads, stores delayed and schedules drawn by seed, as many as
// CHIME_TEST_SEEDS sets (50; CTest: 25, soak: 10^6 of each). Stores of 16 bytes come in halves.
//
// The stand-in's thread reads the heaps after each request, or step of one, that it has carried
// out: it detects a flag that overtakes its data, however briefly.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>

#include "any_job.hpp"
#include "chime/device/amo.cuh"
#include "chime/device/rma.cuh"
#include "chime/device/signal.cuh"

namespace chime::tests {
namespace {

using Word = std::uint64_t;

Word seeds() {
  const char* const text = std::getenv("CHIME_TEST_SEEDS");
  return text ? std::strtoull(text, nullptr, 10) : 50;
}

// TSan does not see the order of stores to a FIFO that weak mode delays: under TSan the seeds
// change the schedule alone.
bool keeps_stores(Kind kind) {
#ifdef CHIME_TSAN
  return !is_of_proxy(kind);
#else
  static_cast<void>(kind);
  return true;
#endif
}

// PE 0 sends the number of the seed to PEs 1 and 2, so that values only grow. Blocks 0 and 1 have
// separate channels.
class Litmus : public EachKind {
 protected:
  static constexpr std::size_t kWords = 5;  // too many for a request to carry
  static constexpr std::size_t kBytes = kWords * sizeof(Word);

  Litmus() {
    job_.watch([this] {
      if (flag_is_early()) has_overtaken_ = true;
    });
  }

  const Context& ctx() { return job_.context(); }
  Word* data(int pe = 0) { return job_.data<Word>(pe); }
  Word* flag(int pe = 0) { return job_.data<Word>(pe, 64); }
  Word* sum(int pe = 0) { return job_.data<Word>(pe, 128); }
  Word* baton() { return job_.data<Word>(0, 192); }
  Word* source() { return job_.data<Word>(0, 256); }

  // A flag on either PE announces the data on PE 1.
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
  void put_data() { put_nbi(ctx(), Thread{}, data(), source(), kWords, 1); }
  void put_data_and_signal(Word value, SignalOp op) {
    put_signal_nbi(ctx(), Thread{}, data(), source(), kWords, {flag(), value, op}, 1);
  }

  // Two blocks of two threads run `body(seed, rank in the grid)`, then quiet.
  template <class Body>
  void explore(Body body) {
    for (Word seed = 1; seed <= seeds(); ++seed) {
      const WeakMemory weak(seed, keeps_stores(GetParam()));
      run_grid(2, 2, [&] {
        body(seed, exec::grid_rank());
        job_.quiet();
      });
      for (std::size_t i = 0; i < kWords; ++i) EXPECT_EQ(data(1)[i], seed) << "word " << i;
      EXPECT_FALSE(has_overtaken_) << "a flag was there before its data";
      EXPECT_EQ(job_.complaints(), "");
      EXPECT_EQ(job_.error().claimed, 0u);
      if (HasFailure()) FAIL() << "seed " << seed;
    }
  }

  AnyJob job_{GetParam(), 3, 2};
  std::atomic<bool> has_overtaken_{false};  // set by its thread, before quiet's completion
};

TEST_P(Litmus, WhoSeesTheSignalSeesTheData) {
  explore([&](Word seed, Word rank) {
    if (rank != 0) return atomic_add(ctx(), sum(), Word{1}, 1);
    fill_source(seed);
    put_data_and_signal(seed, SignalOp::kSet);
  });
  EXPECT_EQ(*sum(1), 3 * seeds());
}

TEST_P(Litmus, AReaderOfTheAddedSignalSeesTheData) {
  explore([&](Word seed, Word rank) {
    if (rank != 0) return;
    fill_source(seed);
    put_data_and_signal(1, SignalOp::kAdd);  // seeds count from 1
  });
}

TEST_P(Litmus, AFenceKeepsPutsBeforeIt) {
  explore([&](Word seed, Word rank) {
    if (rank != 0) return;
    fill_source(seed);
    put_data();
    job_.fence();
    p(ctx(), flag(), seed, 1);
  });
}

TEST_P(Litmus, AFenceKeepsPutsBeforeAnAtomic) {
  explore([&](Word seed, Word rank) {
    if (rank != 0) return;
    fill_source(seed);
    put_data();
    job_.fence();
    atomic_set(ctx(), flag(), seed, 1);
  });
}

// The fence is for the peer, not for the caller's channel.
TEST_P(Litmus, AFenceKeepsPutsOfAnotherBlockBeforeIt) {
  explore([&](Word seed, Word rank) {
    if (rank == 0) {
      fill_source(seed);
      put_data();
      exec::st<exec::Order::kRelease, exec::Scope::kDevice>(baton(), seed);
    } else if (rank == 2) {
      while (exec::ld<exec::Order::kAcquire, exec::Scope::kDevice>(baton()) != seed) exec::pause();
      job_.fence();
      p(ctx(), flag(), seed, 1);
    }
  });
}

TEST_P(Litmus, AQuietKeepsPutsBeforeWhatAnotherPeerSees) {
  explore([&](Word seed, Word rank) {
    if (rank != 0) return;
    fill_source(seed);
    put_data();
    job_.quiet();
    p(ctx(), flag(), seed, 2);
  });
}

TEST_P(Litmus, ASourceMayChangeWhenPutReturns) {
  explore([&](Word seed, Word rank) {
    if (rank != 0) return;
    fill_source(seed);
    put(ctx(), Thread{}, data(), source(), kWords, 1);
    fill_source(~Word{0});
  });
}

// Requests that carry their data, from lanes that meet: the stand-in takes no request half written.
TEST_P(Litmus, NoRequestIsTakenHalf) {
  explore([&](Word seed, Word rank) {
    for (Word i = 0; i < 24; ++i) {  // more than a lap of both
      const Word value = seed << 16 | rank << 8 | i;
      p(ctx(), data() + 64 + rank, value, 2);
      job_.quiet();
      EXPECT_EQ(g(ctx(), data() + 64 + rank, 2), value) << "rank " << rank;
    }
    if (rank != 0) return;
    fill_source(seed);
    put(ctx(), Thread{}, data(), source(), kWords, 1);
  });
}

// A result belongs to this request, not to that of the lap before.
TEST_P(Litmus, AResultIsOfItsRequest) {
  explore([&](Word seed, Word rank) {
    Word* const mine = data() + 128 + rank;
    for (Word i = 0; i < 24; ++i) {
      const Word before = atomic_swap(ctx(), mine, seed << 8 | i, 1);
      EXPECT_EQ(before, i == 0 ? (seed == 1 ? 0 : (seed - 1) << 8 | 23) : seed << 8 | (i - 1));
    }
    if (rank != 0) return;
    fill_source(seed);
    put(ctx(), Thread{}, data(), source(), kWords, 1);
  });
}

// The data of a get is there when it returns, also for a thread that did not poll.
TEST_P(Litmus, AGetBringsWhatWasThere) {
  explore([&](Word seed, Word rank) {
    if (rank == 0) {
      fill_source(seed);
      put(ctx(), Thread{}, data(), source(), kWords, 1);
      job_.quiet();
    }
    Word* const back = job_.data<Word>(0, 4096) + 8 * rank;
    get(ctx(), Thread{}, back, data(), kWords, 1);
    const Word least = rank == 0 ? seed : seed - 1;
    for (std::size_t i = 0; i < kWords; ++i) EXPECT_GE(exec::ld(back + i), least);
  });
}

IN_EACH_KIND(Litmus);

// A fetched value is newer than the earlier puts of its thread, where a queue pair keeps order.
class OrderedLitmus : public Litmus {};

TEST_P(OrderedLitmus, AFetchFollowsThePutsOfItsQueue) {
  explore([&](Word seed, Word rank) {
    if (rank != 0) return atomic_add(ctx(), sum(), Word{1}, 1);
    fill_source(seed);
    put_data();
    EXPECT_EQ(g(ctx(), data() + kWords - 1, 1), seed);
  });
  EXPECT_EQ(*sum(1), 3 * seeds());
}
INSTANTIATE_TEST_SUITE_P(Each, OrderedLitmus, testing::Values(Kind::kCollapsed, Kind::kRing),
                         name_of_kind);

// The test can fail: if a channel is wrongly taken for an ordered one, a flag overtakes its data.
class TakenForOrdered : public Litmus {};

TEST_P(TakenForOrdered, IsOvertaken) {
  job_.claim_order();
  for (Word seed = 1; seed <= 1000 && !has_overtaken_; ++seed) {
    const WeakMemory weak(seed);
    run_threads(1, [&] {
      fill_source(seed);
      if (is_of_proxy(GetParam())) {
        put_data();
        job_.fence();
        p(ctx(), flag(), seed, 1);
      } else {  // a proxy has one request for both
        put_data_and_signal(seed, SignalOp::kSet);
      }
      job_.quiet();
    });
  }
  EXPECT_TRUE(has_overtaken_);
}
INSTANTIATE_TEST_SUITE_P(Each, TakenForOrdered,
                         testing::Values(Kind::kUnorderedCollapsed, Kind::kUnorderedRing,
                                         Kind::kAny),
                         name_of_kind);

}  // namespace
}  // namespace chime::tests
