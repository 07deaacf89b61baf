// The refusals of CHIME_CHECK=2: memory of the heap that no single allocation contains, at either
// end of every operation, by a table that the host changes meanwhile.
//
// tests/faults/bounds tests the messages for users.
#include "chime/device/bounds.cuh"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "chime/device/amo.cuh"
#include "chime/device/coll/barrier.cuh"
#include "chime/device/rma.cuh"
#include "chime/device/signal.cuh"
#include "chime/device/sync.cuh"
#include "fake_job.hpp"
#include "operations_counter.hpp"

namespace chime::tests {
namespace {

// The table as the host fills it.
class Known {
 public:
  explicit Known(std::vector<abi::Allocation> now) { tell(std::move(now)); }

  void tell(std::vector<abi::Allocation> now) {
    const std::uint64_t next = all.generation + 1;
    std::vector<abi::Allocation>& rows = rows_[next % 2];
    std::copy(now.begin(), now.end(), rows.begin());
    all.tables[next % 2] = {now.size(), rows.data()};
    all.generation = next;
  }

  abi::Allocations all{};

 private:
  static constexpr std::size_t kMost = 64;
  std::array<std::vector<abi::Allocation>, 2> rows_ = {std::vector<abi::Allocation>(kMost),
                                                       std::vector<abi::Allocation>(kMost)};
};

// ---- The table against a string with a letter for each byte ------------------------------------

struct Picture {
  std::vector<abi::Allocation> allocations;
  std::string owners;  // a letter for each allocation, '.' for none
};

Picture random_picture(std::mt19937& random, std::size_t bytes) {
  Picture picture{.allocations = {}, .owners = std::string(bytes, '.')};
  std::size_t at = random() % 5;
  for (char name = 'a'; name <= 'z'; ++name) {
    const std::size_t length = 1 + random() % 9;
    if (at + length > bytes) break;
    picture.owners.replace(at, length, length, name);
    picture.allocations.push_back({at, at + length});
    at += length + random() % 3;  // often without a gap
  }
  return picture;
}

bool is_of_one_owner(const std::string& owners, std::size_t at, std::size_t bytes) {
  const std::string range = owners.substr(at, bytes);
  return range.size() == bytes && range[0] != '.' &&
         range.find_first_not_of(range[0]) == std::string::npos;
}

TEST(Bounds, AreThoseOfOneAllocation) {
  constexpr std::size_t kBytes = 60;
  for (unsigned seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const Picture picture = random_picture(random, kBytes);
    const Known known(picture.allocations);
    for (std::size_t at = 0; at < kBytes; ++at)
      for (std::size_t bytes = 1; bytes <= 14; ++bytes)
        ASSERT_EQ(detail::lies_in_one_allocation(known.all, at, bytes),
                  is_of_one_owner(picture.owners, at, bytes))
            << bytes << " at " << at << " of " << picture.owners;
  }
}

TEST(Bounds, OfManyBytesDoNotOverflow) {
  const Known known({{16, 32}});
  for (const std::size_t bytes : {~std::size_t{0}, ~std::size_t{0} - 15, std::size_t{1} << 63})
    EXPECT_FALSE(detail::lies_in_one_allocation(known.all, 16, bytes)) << bytes;
}

TEST(Bounds, NoAllocationHasNothing) {
  const Known known({});
  EXPECT_FALSE(detail::lies_in_one_allocation(known.all, 0, 1));
}

// ---- While the host changes it ----------------------------------------------------------------

// Two changes come at the `nth` load of `word`, so that the table in use is refilled.
bool looked_up(Known& known, std::uint64_t offset, std::size_t bytes, const std::uint64_t& word,
               int nth, const std::vector<abi::Allocation>& then) {
  int looks = 0;
  const WatchOperations watch([&](simt::Operation, const void* address, std::size_t) {
    if (address != &word || ++looks != nth) return;
    known.tell(then);
    known.tell(then);
  });
  const bool is_found = detail::lies_in_one_allocation(known.all, offset, bytes);
  EXPECT_GE(looks, nth) << "the change never came";
  return is_found;
}

// Its begin would be the old row's, its end the new row's.
TEST(BoundsThatChange, NothingIsAllowedByAHalfChangedRow) {
  Known known({{0, 8}, {16, 32}});
  const abi::Allocation& second = known.all.tables[1].rows[1];
  EXPECT_FALSE(looked_up(known, 33, 4, second.end, 1, {{0, 8}, {40, 64}}));
}

// It is the second row at the search, and the first when it is read.
TEST(BoundsThatChange, NothingIsRefusedByARowThatMoved) {
  Known known({{0, 8}, {16, 32}});
  const abi::Allocation& second = known.all.tables[1].rows[1];
  EXPECT_TRUE(looked_up(known, 16, 8, second.begin, 2, {{16, 32}, {40, 48}}));
}

TEST(BoundsThatChange, ATableThatNeverStandsStillRefusesNothing) {
  Known known({{0, 8}});
  const WatchOperations watch([&](simt::Operation, const void* address, std::size_t) {
    if (address == &known.all.tables[known.all.generation % 2].count) known.tell({{0, 8}});
  });
  EXPECT_TRUE(detail::lies_in_one_allocation(known.all, 40, 1));
}

// ---- Both ends of every operation -------------------------------------------------------------

constexpr std::size_t kFirstBytes = 520, kSecondAt = 1024, kSecondBytes = 512;

// A job with two allocations, by PE 0's table; all PEs have the same.
class TwoAllocations : public testing::Test {
 protected:
  using Bytes = std::byte*;
  using Act = void (*)(const Context&, Bytes first, Bytes second);

  TwoAllocations() {
    for (int pe = 0; pe < 2; ++pe) {
      job.context(pe).pe.checked = 1;
      job.context(pe).pe.allocations = &known.all;
    }
  }

  // In a kernel, whose thread must not return, and on this host thread: `bytes` at `offset` from
  // the first allocation, at PE `pe`, are refused.
  void expect_refused(Act wrong, std::size_t offset, std::size_t bytes, int pe) {
    bool came_back = false;
    run_block(1, in_kernel, job.context(), wrong, first(), second(), &came_back);
    EXPECT_FALSE(came_back);
    expect_record(offset, bytes, pe);
    wrong(job.context(), first(), second());
    expect_record(offset, bytes, pe);
  }
  void expect_done(Act right) {
    bool came_back = false;
    run_block(1, in_kernel, job.context(), right, first(), second(), &came_back);
    EXPECT_TRUE(came_back);
    right(job.context(), first(), second());
    EXPECT_EQ(job.error().claimed, 0u);
  }

  Bytes first() { return job.data<std::byte>(); }
  Bytes second() { return first() + kSecondAt; }

  FakeJob job{2};
  Known known{{{abi::kHeapReserved, abi::kHeapReserved + kFirstBytes},
               {abi::kHeapReserved + kSecondAt, abi::kHeapReserved + kSecondAt + kSecondBytes}}};

 private:
  static CHIME_KERNEL void in_kernel(Context ctx, Act act, Bytes first, Bytes second,
                                     bool* came_back) {
    act(ctx, first, second);
    *came_back = true;
  }

  void expect_record(std::size_t offset, std::size_t bytes, int pe) {
    const abi::ErrorRecord& record = job.error();
    EXPECT_EQ(record.claimed, 2u);
    EXPECT_EQ(record.status, CHIMEX_ERR_INVALID);
    EXPECT_EQ(record.fault, static_cast<unsigned>(Fault::kBounds));
    EXPECT_EQ(record.address, reinterpret_cast<std::uint64_t>(first()) + offset);
    EXPECT_EQ(record.expected, bytes);
    EXPECT_EQ(record.pe, pe);
    job.error() = {};
  }
};

std::byte local[4096];
using Word = std::uint64_t;

Word* word(std::byte* at) { return reinterpret_cast<Word*>(at); }

TEST_F(TwoAllocations, HoldPutsAndGetsAtThePe) {
  expect_done([](const Context& c, Bytes a, Bytes b) {
    putmem(c, Thread{}, a, local, kFirstBytes, 1);
    putmem_nbi(c, Thread{}, b + 500, local, 12, 1);
    getmem(c, Thread{}, local, a + 519, 1, 1);
    getmem_nbi(c, Thread{}, local, b, kSecondBytes, 1);
  });
  expect_refused(
      [](const Context& c, Bytes a, Bytes) { putmem(c, Thread{}, a, local, kFirstBytes + 1, 1); },
      0, kFirstBytes + 1, 1);
  expect_refused(
      [](const Context& c, Bytes, Bytes b) { putmem_nbi(c, Thread{}, b - 1, local, 1, 1); },
      kSecondAt - 1, 1, 1);
  expect_refused(
      [](const Context& c, Bytes a, Bytes) { getmem(c, Thread{}, local, a, kSecondAt + 8, 1); }, 0,
      kSecondAt + 8, 1);
  expect_refused(
      [](const Context& c, Bytes, Bytes b) { getmem_nbi(c, Thread{}, local, b + 512, 1, 1); },
      kSecondAt + 512, 1, 1);
  expect_refused(
      [](const Context& c, Bytes a, Bytes) { put(c, Thread{}, word(a + 512), word(local), 2, 1); },
      512, 16, 1);
}

// The other end is right.
TEST_F(TwoAllocations, HoldPutsAndGetsHere) {
  expect_done([](const Context& c, Bytes a, Bytes b) {
    putmem(c, Thread{}, b, a + 8, 512, 1);
    getmem(c, Thread{}, b, a, 512, 1);
  });
  expect_refused([](const Context& c, Bytes a, Bytes b) { putmem(c, Thread{}, b, a + 9, 512, 1); },
                 9, 512, 0);
  expect_refused([](const Context& c, Bytes a, Bytes b) { getmem(c, Thread{}, b + 1, a, 512, 1); },
                 kSecondAt + 1, 512, 0);
  expect_refused(
      [](const Context& c, Bytes a, Bytes b) { putmem_nbi(c, Thread{}, b, a - 1, 8, 1); },
      std::size_t(-1), 8, 0);
  expect_refused(
      [](const Context& c, Bytes, Bytes b) { getmem_nbi(c, Thread{}, b + 512, b, 8, 1); },
      kSecondAt + 512, 8, 0);
}

TEST_F(TwoAllocations, HoldWhatAPeMovesToItself) {
  expect_done([](const Context& c, Bytes a, Bytes) {
    putmem(c, Thread{}, local + 2048, a, kFirstBytes, 0);
    getmem(c, Thread{}, a, local, kFirstBytes, 0);
  });
  expect_refused(
      [](const Context& c, Bytes a, Bytes) { putmem(c, Thread{}, local, a, kFirstBytes + 1, 0); },
      0, kFirstBytes + 1, 0);
  expect_refused(
      [](const Context& c, Bytes a, Bytes) { getmem(c, Thread{}, a + 8, local, kFirstBytes, 0); },
      8, kFirstBytes, 0);
}

TEST_F(TwoAllocations, HoldElements) {
  expect_done([](const Context& c, Bytes a, Bytes b) {
    p(c, word(a + 512), 1, 1);
    g(c, word(b), 1);
  });
  expect_refused([](const Context& c, Bytes a, Bytes) { p(c, word(a + 520), 1, 1); }, 520, 8, 1);
  expect_refused([](const Context& c, Bytes, Bytes b) { g(c, word(b - 8), 1); }, kSecondAt - 8, 8,
                 1);
}

// Covers the last element, not the bytes between.
TEST_F(TwoAllocations, HoldStridedElementsToTheLast) {
  expect_done([](const Context& c, Bytes a, Bytes b) {
    iput(c, Thread{}, word(a), word(b), 16, 15, 5, 1);
    iget(c, Thread{}, word(b), word(a), 63, 64, 2, 1);
  });
  expect_refused([](const Context& c, Bytes a,
                    Bytes b) { iput(c, Thread{}, word(a + 8), word(b), 16, 1, 5, 1); },
                 8, 64 * 8 + 8, 1);
  expect_refused(
      [](const Context& c, Bytes a, Bytes b) { iput(c, Thread{}, word(a), word(b), 1, 16, 5, 1); },
      kSecondAt, 64 * 8 + 8, 0);
  expect_refused(
      [](const Context& c, Bytes a, Bytes b) { iget(c, Thread{}, word(b), word(a), 1, 65, 2, 1); },
      0, 65 * 8 + 8, 1);
  expect_refused(
      [](const Context& c, Bytes a, Bytes b) { iget(c, Thread{}, word(b), word(a), 64, 1, 2, 1); },
      kSecondAt, 64 * 8 + 8, 0);
}

TEST_F(TwoAllocations, HoldWordsOfAtomics) {
  expect_done([](const Context& c, Bytes a, Bytes) { atomic_add(c, word(a + 512), 1, 1); });
  expect_refused([](const Context& c, Bytes a, Bytes) { atomic_inc(c, word(a + 520), 1); }, 520, 8,
                 1);
  expect_refused([](const Context& c, Bytes a, Bytes) { atomic_fetch_add(c, word(a + 520), 1, 1); },
                 520, 8, 1);
}

TEST_F(TwoAllocations, HoldSignals) {
  expect_done([](const Context& c, Bytes a, Bytes b) {
    putmem_signal(c, Thread{}, b, a, 512, SignalUpdate{word(a + 512), 1}, 1);
    signal_op(c, SignalUpdate{word(a + 512), 1, SignalOp::kAdd}, 1);
  });
  expect_refused(
      [](const Context& c, Bytes a, Bytes) {
        signal_op(c, SignalUpdate{word(a + 520), 1}, 1);
      },
      520, 8, 1);
  // The signal, the data at the PE, the data here.
  expect_refused(
      [](const Context& c, Bytes a, Bytes b) {
        putmem_signal(c, Thread{}, b, a, 8, SignalUpdate{word(b + 512), 1}, 1);
      },
      kSecondAt + 512, 8, 1);
  expect_refused(
      [](const Context& c, Bytes a, Bytes b) {
        putmem_signal(c, Thread{}, b, a, 513, SignalUpdate{word(a), 1}, 1);
      },
      kSecondAt, 513, 1);
  expect_refused(
      [](const Context& c, Bytes a, Bytes b) {
        putmem_signal_nbi(c, Thread{}, a, b, 513, SignalUpdate{word(a), 1}, 1);
      },
      kSecondAt, 513, 0);
  EXPECT_EQ(*job.data<Word>(1), 0u) << "a signal without its data";
}

TEST_F(TwoAllocations, HoldWhatIsWaitedFor) {
  *word(first() + 512) = 7;
  expect_done([](const Context& c, Bytes a, Bytes b) {
    wait_until(c, word(a + 512), Cmp::kEq, 7);
    signal_wait_until(c, word(a + 512), Cmp::kEq, 7);
    test_all(c, word(b), kSecondBytes / 8, nullptr, Cmp::kEq, 1);
  });
  expect_refused(
      [](const Context& c, Bytes a, Bytes) { wait_until(c, word(a + 520), Cmp::kEq, 0); }, 520, 8,
      0);
  expect_refused([](const Context& c, Bytes a,
                    Bytes) { wait_until_any(c, word(a + 512), 2, nullptr, Cmp::kEq, 0); },
                 512, 16, 0);
  expect_refused(
      [](const Context& c, Bytes, Bytes b) { signal_wait_until(c, word(b + 512), Cmp::kEq, 0); },
      kSecondAt + 512, 8, 0);
  expect_refused([](const Context& c, Bytes, Bytes b) { signal_fetch(c, word(b - 8)); },
                 kSecondAt - 8, 8, 0);
  expect_refused([](const Context& c, Bytes, Bytes b) { test(c, word(b - 8), Cmp::kEq, 0); },
                 kSecondAt - 8, 8, 0);
  Word seen = 0;
  EXPECT_EQ(signal_wait_until_timeout(job.context(), word(second() + 512), Cmp::kEq, 0, 1, &seen),
            CHIMEX_ERR_INVALID);
}

TEST_F(TwoAllocations, AreGoneWhenTheyAreFreed) {
  known.tell({{abi::kHeapReserved, abi::kHeapReserved + kFirstBytes}});
  expect_done([](const Context& c, Bytes a, Bytes) { p(c, word(a), 1, 1); });
  expect_refused([](const Context& c, Bytes, Bytes b) { p(c, word(b), 1, 1); }, kSecondAt, 8, 1);
}

// Chime's own words belong to no allocation, and errors of CHIME_CHECK=1 come first.
TEST_F(TwoAllocations, DoNotConcernBarriersAndOtherErrors) {
  std::array<int, 2> ends{};
  job.run([&](int pe) {
    barrier_all(job.context(pe), Thread{});
    ends[static_cast<std::size_t>(pe)] = job.error(pe).claimed == 0;
  });
  EXPECT_EQ(ends, (std::array<int, 2>{1, 1}));
  const auto fault_of = [&](Act wrong) {
    wrong(job.context(), first(), second());
    return static_cast<Fault>(std::exchange(job.error(), abi::ErrorRecord{}).fault);
  };
  EXPECT_EQ(fault_of([](const Context& c, Bytes a, Bytes) { p(c, word(a + 520), 1, 2); }),
            Fault::kPlace);
  EXPECT_EQ(fault_of([](const Context& c, Bytes a, Bytes) { p(c, word(a + 513), 1, 1); }),
            Fault::kAlignment);
  EXPECT_EQ(fault_of([](const Context& c, Bytes, Bytes) { p(c, word(local), 1, 1); }),
            Fault::kPlace);
}

TEST_F(TwoAllocations, AreOfNoConcernWhereTheyAreNotKnown) {
  job.context().pe.allocations = nullptr;
  expect_done([](const Context& c, Bytes a, Bytes b) {
    putmem(c, Thread{}, a, b - 1, kSecondAt + 8, 1);
    p(c, word(a + 520), 1, 1);
    test(c, word(b - 8), Cmp::kEq, 0);
  });
}

}  // namespace
}  // namespace chime::tests
