// The owner of a word carries out atomics, once each, and after the puts before them.
#include <gmock/gmock.h>

#include <random>

#include "pes.hpp"

namespace chime::host::ofi::test {
namespace {

class Atomics : public Pes {};
INSTANTIATE_TEST_SUITE_P(Ofi, Atomics, testing::ValuesIn(kWorlds), name_of);

constexpr AmoOp kOps[] = {AmoOp::kFetch, AmoOp::kSet, AmoOp::kAdd,        AmoOp::kAnd,
                          AmoOp::kOr,    AmoOp::kXor, AmoOp::kCompareSwap};

// The word after each operation, by OpenSHMEM, written independently.
template <class Word>
Word after(AmoOp op, Word word, Word operand, Word compare) {
  if (op == AmoOp::kFetch) return word;
  if (op == AmoOp::kSet) return operand;
  if (op == AmoOp::kAdd) return static_cast<Word>(word + operand);
  if (op == AmoOp::kAnd) return word & operand;
  if (op == AmoOp::kOr) return word | operand;
  if (op == AmoOp::kXor) return word ^ operand;
  return word == compare ? operand : word;
}

template <class Word>
void every_operation_at(Pe& pe, int peer, std::uint64_t at) {
  std::mt19937_64 random(42);
  Word word = 0;
  for (int round = 0; round < 10; ++round)
    for (const AmoOp op : kOps) {
      const auto operand = static_cast<Word>(random());
      const auto compare = round % 2 == 0 ? word : static_cast<Word>(random());
      std::uint64_t before = ~0ull;
      // The upper half of the operands has no meaning for a word of 4 bytes.
      constexpr std::uint64_t kAbove = sizeof(Word) == 4 ? 0xdead'beef'0000'0000ull : 0;
      const auto number =
          pe.update(peer, at, {op, sizeof(Word), operand | kAbove, compare | kAbove}, &before);
      ASSERT_EQ(pe.wait(number), CHIMEX_OK);
      ASSERT_EQ(before, word) << "operation " << static_cast<int>(op);
      word = after(op, word, operand, compare);
    }
  std::array<Word, 3> there;
  pe.get(peer, at - sizeof(Word), there.data(), sizeof there);
  pe.wait_all();
  EXPECT_EQ(there, (std::array<Word, 3>{0, word, 0})) << "the words beside it are as they were";
}

TEST_P(Atomics, EveryOperationDoesWhatItsNameSaysAndGivesTheWordBefore) {
  run(2, [](Pe& pe) {
    if (pe.me == 0)
      for (const int peer : {1, 0}) {
        every_operation_at<std::uint32_t>(pe, peer, 4);
        every_operation_at<std::uint32_t>(pe, peer, 64);
        every_operation_at<std::uint64_t>(pe, peer, 128);
      }
    pe.meet();
  });
}

// Words at each owner, of 8 and of 4 bytes, that all PEs update at once.
struct Shared {
  std::uint64_t added, anded, ored, xored, locked, swapped;
  std::uint32_t added4, xored4;
};

TEST_P(Atomics, NoneIsLostWhereAllUpdateTheSameWords) {
  run(4, [](Pe& pe) {
    constexpr std::uint64_t kRounds = 200;
    auto& mine = *reinterpret_cast<Shared*>(pe.heap());
    mine = {.added = 0,
            .anded = ~0ull,
            .ored = 0,
            .xored = 0,
            .locked = 0,
            .swapped = 0,
            .added4 = 0,
            .xored4 = 0};
    pe.meet();
    std::mt19937_64 random(static_cast<unsigned>(pe.me));
    std::uint64_t xored = 0;
    std::vector<std::uint64_t> before(static_cast<std::size_t>(pe.n) * kRounds);
    const auto me = static_cast<unsigned>(pe.me);
    for (std::uint64_t round = 0; round < kRounds; ++round) {
      const std::uint64_t number = random();
      xored ^= number;
      const std::uint64_t bit = std::uint64_t{1} << (16 * me + round % 16);
      for (int owner = 0; owner < pe.n; ++owner) {
        pe.add(owner, offsetof(Shared, added), 1,
               &before[static_cast<std::size_t>(owner) * kRounds + round]);
        pe.update(owner, offsetof(Shared, anded), {AmoOp::kAnd, 8, ~bit, 0});
        pe.update(owner, offsetof(Shared, ored), {AmoOp::kOr, 8, bit, 0});
        pe.update(owner, offsetof(Shared, xored), {AmoOp::kXor, 8, number, 0});
        pe.update(owner, offsetof(Shared, added4), {AmoOp::kAdd, 4, 3, 0});
        pe.update(owner, offsetof(Shared, xored4), {AmoOp::kXor, 4, number, 0});
      }
    }
    pe.wait_all();
    // Each PE sees its own adds in any order, and no value twice.
    for (int owner = 0; owner < pe.n; ++owner) {
      const auto first = before.begin() + owner * static_cast<long>(kRounds);
      std::sort(first, first + kRounds);
      EXPECT_EQ(std::adjacent_find(first, first + kRounds), first + kRounds);
    }
    // The sum of all PEs' values: each PE adds its own at PE 0.
    pe.update(0, 1024, {AmoOp::kXor, 8, xored, 0});
    pe.wait_all();
    pe.meet();
    const auto n = static_cast<std::uint64_t>(pe.n);
    EXPECT_EQ(mine.added, n * kRounds);
    EXPECT_EQ(mine.added4, 3 * n * kRounds);
    EXPECT_EQ(mine.anded, 0u);
    EXPECT_EQ(mine.ored, ~0ull);
    std::uint64_t all = 0;
    pe.get(0, 1024, &all, 8);
    pe.wait_all();
    EXPECT_EQ(mine.xored, all);
    EXPECT_EQ(mine.xored4, static_cast<std::uint32_t>(all));
    pe.meet();
  });
}

TEST_P(Atomics, ALockOfCompareAndSwapKeepsOthersOut) {
  run(3, [](Pe& pe) {
    pe.meet();
    constexpr int kRounds = 20;
    for (int round = 0; round < kRounds; ++round) {
      std::uint64_t before = 1;
      while (before != 0)
        pe.wait(pe.update(0, offsetof(Shared, locked),
                          {AmoOp::kCompareSwap, 8, static_cast<std::uint64_t>(pe.me) + 1, 0},
                          &before));
      std::uint64_t word = 0;
      pe.wait(pe.get(0, offsetof(Shared, swapped), &word, 8));
      ++word;
      pe.wait(pe.put(0, offsetof(Shared, swapped), &word, 8));
      pe.wait(pe.update(0, offsetof(Shared, locked), {AmoOp::kSet, 8, 0, 0}));
    }
    pe.meet();
    if (pe.me != 0) return;
    EXPECT_EQ(reinterpret_cast<Shared*>(pe.heap())->swapped, kRounds * 3u);
  });
}

// The owner checks the data at the moment at which it carries out the atomic.
TEST_P(Atomics, WhoCarriesOutAnAtomicHasTheDataOfThePutsBeforeIt) {
  run(3, [](Pe& pe) {
    constexpr std::size_t kSizes[] = {8, 64, 200, 4096, 20'000, 300'000};
    constexpr std::size_t kSlots = 4, kSlotBytes = 1 << 19, kFlags = 64;
    constexpr std::uint64_t kRounds = 100;
    const auto data_at = [](std::size_t slot) { return 4096 + slot * kSlotBytes; };
    const auto size_in = [&](std::uint64_t round, std::size_t slot) {
      return kSizes[(round + slot) % std::size(kSizes)];
    };
    std::uint64_t rounds_seen = 0, torn = 0;
    if (pe.me == 2)
      pe.owner.before_update = [&](std::uint64_t at) {
        if (at != kFlags) return;
        const std::uint64_t round = ++rounds_seen;
        for (std::size_t slot = 0; slot < kSlots; ++slot) {
          const std::byte* const data = pe.heap() + data_at(slot);
          for (std::size_t i = 0; i < size_in(round, slot); i += 8)
            torn += data[i] != static_cast<std::byte>(round);
        }
      };
    pe.meet();
    if (pe.me == 0) {
      std::vector<std::byte> data(kSlotBytes);
      for (std::uint64_t round = 1; round <= kRounds; ++round) {
        std::fill(data.begin(), data.end(), static_cast<std::byte>(round));
        for (std::size_t slot = 0; slot < kSlots; ++slot)
          pe.put(2, data_at(slot), data.data(), size_in(round, slot));
        pe.wait(pe.add(2, kFlags, 1));
        pe.wait_all();
      }
    } else if (pe.me == 1) {  // others' traffic beside it
      std::vector<std::byte> data(5000);
      for (std::uint64_t round = 0; round < 4 * kRounds; ++round)
        pe.put(2, Pe::kHeapBytes - 10'000, data.data(), data.size());
      pe.wait_all();
    }
    pe.meet();
    if (pe.me == 2) {
      EXPECT_EQ(rounds_seen, kRounds);
      EXPECT_EQ(torn, 0u);
    }
  });
}

// PE 1 does not poll until PE 0 has, and PE 0 does not poll from then on: so the put's end is not
// known before the atomic goes.
TEST_P(Atomics, AnAtomicBehindAPutIsHeldBackOnlyWhereTheProviderKeepsNoOrder) {
  if (GetParam().is_gpu) GTEST_SKIP() << "a put of the host's memory as short as this is a message";
  run(2, [](Pe& pe) {
    std::atomic<int>& seen = pe.board.words[0];
    std::atomic<int>& is_over = pe.board.words[1];
    if (pe.me == 1) pe.owner.before_update = [&](std::uint64_t) { ++seen; };
    pe.meet();
    if (pe.me == 0) {
      pe.wait(pe.add(1, 64, 1));  // connected
      pe.board.words[2] = 1;
      while (pe.board.words[3] == 0) std::this_thread::sleep_for(1ms);
      const std::array<std::byte, kMostPutBytes + 1> data{};
      pe.put(1, 1024, data.data(), data.size());
      pe.add(1, 64, 1);
      pe.poll();
      pe.board.words[2] = 0;
      const bool is_kept = provider_for(GetParam()).facts.keeps_order;
      const auto end = Clock::now() + (is_kept ? kLimit : Clock::duration(200ms));
      while (seen < 2 && Clock::now() < end) std::this_thread::sleep_for(1ms);
      EXPECT_EQ(seen, is_kept ? 2 : 1);
      pe.wait_all();
      is_over = 1;
    } else {
      pe.poll_until([&] { return pe.board.words[2] != 0; });
      pe.board.words[3] = 1;
      while (pe.board.words[2] != 0 && !pe.board.has_failed) std::this_thread::sleep_for(1ms);
    }
    pe.poll_until([&] { return is_over != 0; });
    pe.meet();
    EXPECT_EQ(seen, 2);
  });
}

// In any order of the provider: a put of few bytes and its signal are one batch of messages. PE 1
// polls as above.
TEST_P(Atomics, AnAtomicBehindASmallPutIsNeverHeldBack) {
  run(2, [](Pe& pe) {
    std::atomic<int>& seen = pe.board.words[0];
    std::atomic<int>& is_over = pe.board.words[1];
    std::uint64_t found = 0;
    if (pe.me == 1)
      pe.owner.before_update = [&](std::uint64_t) {
        ++seen;
        found = *reinterpret_cast<std::uint64_t*>(pe.heap() + 8);
      };
    pe.meet();
    if (pe.me == 0) {
      pe.wait(pe.add(1, 64, 1));  // connected
      pe.board.words[2] = 1;
      while (pe.board.words[3] == 0) std::this_thread::sleep_for(1ms);
      const std::uint64_t word = 17;
      pe.put(1, 8, &word, 8);
      pe.add(1, 64, 1);
      pe.poll();
      pe.board.words[2] = 0;
      const auto end = Clock::now() + kLimit;
      while (seen < 2 && Clock::now() < end) std::this_thread::sleep_for(1ms);
      pe.wait_all();
      is_over = 1;
    } else {
      pe.poll_until([&] { return pe.board.words[2] != 0; });
      pe.board.words[3] = 1;
      while (pe.board.words[2] != 0 && !pe.board.has_failed) std::this_thread::sleep_for(1ms);
    }
    pe.poll_until([&] { return is_over != 0; });
    pe.meet();
    EXPECT_EQ(seen, 2);
    if (pe.me == 1) EXPECT_EQ(found, 17u);
  });
}

// So that a serving PE does not sleep like an idle one. PE 1 makes no requests itself.
TEST_P(Atomics, ServingAPeersRequestCountsAsMovement) {
  run(2, [](Pe& pe) {
    std::atomic<int>& is_over = pe.board.words[0];
    if (pe.me == 0) {
      pe.wait(pe.add(1, 64, 1));
      is_over = 1;
    }
    bool has_moved = false;
    pe.poll_until([&] {
      has_moved |= pe.driven().has_moved();
      return is_over != 0;
    });
    pe.meet();
    EXPECT_TRUE(has_moved || pe.me == 0);
  });
}

// As programs use put_signal: many in flight at once, none waited for.
TEST_P(Atomics, AStreamOfPutsAndSignalsKeepsEachPairsOrder) {
  run(2, [](Pe& pe) {
    constexpr std::uint64_t kPairs = 2000, kSize = 256;
    const auto data_at = [](std::uint64_t pair) { return 4096 + pair * kSize; };
    std::uint64_t early = 0;
    if (pe.me == 1)
      pe.owner.before_update = [&](std::uint64_t at) {
        if (at < 8 * 8) return;
        std::uint64_t word;
        std::memcpy(&word, pe.heap() + data_at(at / 8 - 8) + kSize - 8, 8);
        early += word != at / 8 - 8 + 1;
      };
    pe.meet();
    if (pe.me == 0) {
      static_assert(8 * (kPairs + 8) < Pe::kHeapBytes);
      std::vector<std::array<std::uint64_t, kSize / 8>> data(256);  // the flags lie below it
      for (std::uint64_t pair = 0; pair < 256; ++pair) {
        data[pair].fill(pair + 1);
        pe.put(1, data_at(pair), data[pair].data(), kSize);
        pe.add(1, 8 * (pair + 8), 1);
      }
      pe.wait_all();
    }
    pe.meet();
    EXPECT_EQ(early, 0u);
  });
}

TEST_P(Atomics, AWordOutsideTheHeapIsRefusedAndThePathStays) {
  run(2, [](Pe& pe) {
    if (pe.me == 0) {
      EXPECT_EQ(pe.wait(pe.add(1, Pe::kHeapBytes, 1)), CHIMEX_ERR_INVALID);
      EXPECT_EQ(pe.wait(pe.add(1, 12, 1)), CHIMEX_ERR_INVALID) << "not at a multiple of its size";
      EXPECT_EQ(pe.wait(pe.add(1, 16, 1)), CHIMEX_OK);
    }
    pe.meet();
  });
}

}  // namespace
}  // namespace chime::host::ofi::test
