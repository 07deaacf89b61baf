// Weak mode with CHIME_CHECK=1 names a word of a group's source that a member wrote and that no
// meeting ordered before the others' reads. It reports nothing for correct sources.
#include <gtest/gtest.h>

#include "chime/device/rma.cuh"
#include "chime/device/signal.cuh"
#include "chime/device/simt/faults/sanitizers.hpp"
#include "chime/device/sync.cuh"
#include "fake_job.hpp"

namespace chime::tests {
namespace {

using Word = std::uint64_t;
constexpr unsigned kThreads = 77;  // the last warp is partly filled
constexpr unsigned kWords = 100;   // that a group moves
constexpr int kPe = 1;

// How a thread writes its word: plainly, or by a store that weak mode may delay.
enum class Write { kPlain, kRelaxed };
enum class Late { kNobody, kFirst, kSecond };

struct Regions {
  Word *target, *source;
  std::uint64_t* signal;
};

struct Put {
  template <class Group>
  static void move(const Context& ctx, Group g, const Regions& to, std::size_t at) {
    put(ctx, g, to.target + at, to.source + at, kWords, kPe);
  }
};
struct PutMemNbi {
  template <class Group>
  static void move(const Context& ctx, Group g, const Regions& to, std::size_t at) {
    putmem_nbi(ctx, g, to.target + at, to.source + at, kWords * sizeof(Word), kPe);
  }
};
struct PutSignal {
  template <class Group>
  static void move(const Context& ctx, Group g, const Regions& to, std::size_t at) {
    put_signal(ctx, g, to.target + at, to.source + at, kWords, {to.signal, 1}, kPe);
  }
};
// Every second word.
struct IPut {
  template <class Group>
  static void move(const Context& ctx, Group g, const Regions& to, std::size_t at) {
    iput(ctx, g, to.target + at, to.source + at, 1, 2, kWords / 2, kPe);
  }
};

template <class Group>
unsigned group_index() {
  return std::is_same_v<Group, Warp> ? exec::warp_id() : 0;
}

template <class Group>
void come_late(Group g, Late late) {
  if (late == Late::kNobody || (g.rank() < g.size() / 2) != (late == Late::kFirst)) return;
  for (int turn = 0; turn < 30; ++turn) exec::pause();
}

void write(Word* word, Word value, Write how) {
  if (how == Write::kPlain) {
    *word = value;
  } else {
    exec::st<exec::Order::kRelaxed, exec::Scope::kSystem>(word, value);
  }
}

// Each member writes words `first`, `first + step`, ... of its group's source and then makes the
// call.
struct Case {
  Write how;
  Late late;
  bool meets;
  unsigned first = 0, step = 1;
};

template <class Op, class Group>
CHIME_KERNEL void write_and_move(Context ctx, Regions to, Case each) {
  const Group g;
  const std::size_t at = group_index<Group>() * kWords;
  come_late(g, each.late);
  for (unsigned i = each.first + g.rank() * each.step; i < kWords; i += g.size() * each.step) {
    write(to.source + at + i, at + i + 1, each.how);
  }
  if (each.meets) g.sync();
  Op::move(ctx, g, to, at);
}

class Sources : public testing::Test {
 protected:
  Sources() {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    job.context().pe.checked = 1;
  }

  // Under many schedules: in some, all members call before the others have written.
  template <class Op, class Group>
  void run(const Case& each) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      std::fill_n(job.data<Word>(0, kSource), 3 * kWords, 0);
      const WeakMemory weak(seed);
      run_block(kThreads, write_and_move<Op, Group>, job.context(), regions(), each);
    }
  }
  template <class Op, class Group>
  void expect_named(const Case& each) {
    EXPECT_DEATH((run<Op, Group>(each)),
                 "chime: simt: thread \\([0-9]+,0,0\\) of block \\(0,0,0\\): "
                 "the source of its group's operation, .*byte [0-9]+");
  }

  Regions regions() {
    return {job.data<Word>(0), job.data<Word>(0, kSource), job.data<Word>(0, kSignal)};
  }

  static constexpr std::size_t kSource = 64 * 1024, kSignal = 128 * 1024;
  FakeJob job{2};
};

TEST_F(Sources, AreNamedWhereAnyMemberIsLate) {
  for (const Late late : {Late::kNobody, Late::kFirst, Late::kSecond}) {
    expect_named<Put, Block>({Write::kPlain, late, false});
    expect_named<Put, Warp>({Write::kPlain, late, false});
  }
}

TEST_F(Sources, OfEveryKindOfPutAreNamed) {
  expect_named<PutMemNbi, Block>({Write::kPlain, Late::kSecond, false});
  expect_named<PutMemNbi, Warp>({Write::kPlain, Late::kSecond, false});
  expect_named<PutSignal, Block>({Write::kPlain, Late::kSecond, false});
  expect_named<PutSignal, Warp>({Write::kPlain, Late::kSecond, false});
  expect_named<IPut, Block>({Write::kPlain, Late::kSecond, false});
  expect_named<IPut, Warp>({Write::kPlain, Late::kSecond, false});
}

// They are not in memory yet, and only their writer would see them.
TEST_F(Sources, WithAStoreInFlightAreNamedWithItsThread) {
  const Case each = {Write::kRelaxed, Late::kNobody, false};
  EXPECT_DEATH((run<Put, Block>(each)), "thread \\([0-9]+,0,0\\) has stored to the word at");
  EXPECT_DEATH((run<IPut, Warp>(each)), "thread \\([0-9]+,0,0\\) has stored to the word at");
}

TEST_F(Sources, ThatTheMembersHaveMetSinceAreNot) {
  for (const Write how : {Write::kPlain, Write::kRelaxed}) {
    for (const Late late : {Late::kNobody, Late::kFirst, Late::kSecond}) {
      run<Put, Block>({how, late, true});
      run<Put, Warp>({how, late, true});
      run<PutMemNbi, Block>({how, late, true});
      run<PutSignal, Warp>({how, late, true});
      run<IPut, Block>({how, late, true});
      run<IPut, Warp>({how, late, true});
    }
  }
}

// The words between its own belong to others.
TEST_F(Sources, OfAStridedPutEndAtItsElements) {
  for (const Write how : {Write::kPlain, Write::kRelaxed}) {
    run<IPut, Block>({how, Late::kSecond, false, 1, 2});
    run<IPut, Warp>({how, Late::kSecond, false, 1, 2});
    expect_named<IPut, Warp>({how, Late::kSecond, false, 0, 2});
  }
}

TEST_F(Sources, OfAJobThatIsNotCheckedAreNotLookedAt) {
  job.context().pe.checked = 0;
  run<Put, Block>({Write::kPlain, Late::kSecond, false});
}

// Some are at a later call than others, with another source; and one warp writes its own source
// while another is in a call.
CHIME_KERNEL void many_calls(Context ctx, Regions to) {
  const Warp g;
  for (unsigned call = 0; call < 5; ++call) {
    const std::size_t at = (exec::warp_id() * 5 + call) * kWords;
    for (unsigned i = g.rank(); i < kWords; i += g.size()) to.source[at + i] = at + i;
  }
  g.sync();
  come_late(g, Late::kSecond);
  for (unsigned call = 0; call < 5; ++call) {
    PutMemNbi::move(ctx, g, to, (exec::warp_id() * 5 + call) * kWords);
  }
}

TEST_F(Sources, OfOtherCallsAndOtherGroupsAreKeptApart) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const WeakMemory weak(seed);
    run_block(kThreads, many_calls, job.context(), regions());
  }
}

// The form of the C API: the members meet in the call itself.
CHIME_KERNEL void write_and_call(Context ctx, Regions to) {
  come_late(Block{}, Late::kSecond);
  for (unsigned i = exec::thread_rank(); i < kWords; i += exec::block_threads()) {
    to.source[i] = i + 1;
  }
  const Together<Block> all;
  if (all.acts()) put(ctx, all.group(), to.target, to.source, kWords, kPe);
}

TEST_F(Sources, OfACallThatMeetsAtEntryAreNot) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const WeakMemory weak(seed);
    run_block(kThreads, write_and_call, job.context(), regions());
    for (unsigned i = 0; i < kWords; ++i) ASSERT_EQ(i + 1, job.data<Word>(kPe)[i]);
  }
}

}  // namespace
}  // namespace chime::tests
