// Atomics: the effect of each on a word, at the edges of its type. No update is lost when all PEs
// and threads work on one word.
#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>

#include "chime/device/amo.cuh"
#include "chime/device/rma.cuh"
#include "chime/device/sync.cuh"
#include "support/schedule.hpp"
#include "support/typed.hpp"
#include "support/world.hpp"

namespace chime::tests {
namespace {

// ---- The effect of one operation ----------------------------------------------------------------

template <class T>
std::vector<T> edge_values() {
  if constexpr (std::is_same_v<T, chime_half_t>) {
    return {T(0.0f), T(1.5f), T(-2.25f), T(65504.0f), T(0.0009765625f)};
  } else if constexpr (std::is_floating_point_v<T>) {
    return {T(0), T(1.5), T(-2.25), std::numeric_limits<T>::max(), std::numeric_limits<T>::min()};
  } else {
    using U = std::make_unsigned_t<T>;
    const U top = U(U(1) << (sizeof(T) * 8 - 1));
    return {T(0), T(1), T(U(0) - 1), T(top), T(U(top - 1)), T(U(0x5A5A5A5A5A5A5A5Aull))};
  }
}

// All pairs (value in memory, operand), each on a word of its own between two guard words.
template <class T>
struct Pairs {
  static constexpr std::size_t kStride = 3;
  std::vector<T> before, operands;

  Pairs() {
    for (T value : edge_values<T>())
      for (T operand : edge_values<T>()) before.push_back(value), operands.push_back(operand);
  }
  std::vector<T> words(const std::vector<T>& values) const {
    std::vector<T> words(values.size() * kStride, edge_values<T>().back());
    for (std::size_t i = 0; i < values.size(); ++i) words[i * kStride + 1] = values[i];
    return words;
  }
};

// As bits, so that NaN and -0 are equal to themselves.
template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

template <class Op, class T>
CHIME_KERNEL void update_words(CHIME_GRID_CONSTANT const Context context, T* words,
                               const T* operands, T* results, int pe) {
  const unsigned i = exec::thread_rank();
  results[i] = Op::apply(context, words + i * Pairs<T>::kStride + 1, operands[i], pe);
}

// Op::apply(context, word, operand, pe) works on PE p+1's words; Op::after(old, operand) is the
// expected value in memory, Op::result(old, operand) the expected result.
template <class Op, class T>
void expect_updates(Pe& pe) {
  const Pairs<T> pairs;
  const std::size_t n = pairs.before.size();
  Symmetric<T> words(n * Pairs<T>::kStride);
  const Private<T> operands(pairs.operands);
  Private<T> results(n);
  words.write(pairs.words(pairs.before));
  pe.barrier();
  pe.run(1, unsigned(n), update_words<Op, T>, pe.context(), words.data(),
         static_cast<const T*>(operands.data()), results.data(), pe.next());
  pe.barrier();
  std::vector<T> after(n), returned(n);
  for (std::size_t i = 0; i < n; ++i) {
    after[i] = Op::after(pairs.before[i], pairs.operands[i]);
    returned[i] = Op::result(pairs.before[i], pairs.operands[i]);
  }
  EXPECT_TRUE(same_bits(pairs.words(after), words.read())) << "memory after the operation";
  EXPECT_TRUE(same_bits(returned, results.read())) << "returned values";
}

// Two's complement arithmetic wraps; floating-point sums are the nearest value.
template <class T>
T plus(T a, T b) {
  if constexpr (std::is_same_v<T, chime_half_t>) {
    return T(float(a) + float(b));
  } else if constexpr (std::is_floating_point_v<T>) {
    return a + b;
  } else {
    using U = std::make_unsigned_t<T>;
    return T(U(U(a) + U(b)));
  }
}

#define CHIME_TEST_FETCHING_OP(OP, CALL, AFTER)                                       \
  struct OP {                                                                         \
    template <class T>                                                                \
    CHIME_DEVICE static T apply(const Context& context, T* word, T operand, int pe) { \
      (void)operand;                                                                  \
      return CALL;                                                                    \
    }                                                                                 \
    template <class T>                                                                \
    static T after(T old, T operand) {                                                \
      (void)old, (void)operand;                                                       \
      return AFTER;                                                                   \
    }                                                                                 \
    template <class T>                                                                \
    static T result(T old, T) {                                                       \
      return old;                                                                     \
    }                                                                                 \
  };
CHIME_TEST_FETCHING_OP(Fetch, (atomic_fetch(context, word, pe)), old)
CHIME_TEST_FETCHING_OP(Swap, (atomic_swap(context, word, operand, pe)), operand)
CHIME_TEST_FETCHING_OP(FetchAdd, (atomic_fetch_add(context, word, operand, pe)),
                       (plus(old, operand)))
CHIME_TEST_FETCHING_OP(FetchInc, (atomic_fetch_inc(context, word, pe)), (plus(old, T(1))))
CHIME_TEST_FETCHING_OP(FetchAnd, (atomic_fetch_and(context, word, operand, pe)), T(old& operand))
CHIME_TEST_FETCHING_OP(FetchOr, (atomic_fetch_or(context, word, operand, pe)), T(old | operand))
CHIME_TEST_FETCHING_OP(FetchXor, (atomic_fetch_xor(context, word, operand, pe)), T(old ^ operand))
// Matches where memory holds 1; stores the operand there.
CHIME_TEST_FETCHING_OP(CompareSwap, (atomic_compare_swap(context, word, T(1), operand, pe)),
                       (old == T(1) ? operand : old))
// Matches everywhere.
CHIME_TEST_FETCHING_OP(CompareSwapOwn,
                       (atomic_compare_swap(context, word, atomic_fetch(context, word, pe), operand,
                                            pe)),
                       operand)
#undef CHIME_TEST_FETCHING_OP

#define CHIME_TEST_PLAIN_OP(OP, CALL, AFTER)                                          \
  struct OP {                                                                         \
    template <class T>                                                                \
    CHIME_DEVICE static T apply(const Context& context, T* word, T operand, int pe) { \
      CALL;                                                                           \
      return operand;                                                                 \
    }                                                                                 \
    template <class T>                                                                \
    static T after(T old, T operand) {                                                \
      (void)old, (void)operand;                                                       \
      return AFTER;                                                                   \
    }                                                                                 \
    template <class T>                                                                \
    static T result(T, T operand) {                                                   \
      return operand;                                                                 \
    }                                                                                 \
  };
CHIME_TEST_PLAIN_OP(Set, (atomic_set(context, word, operand, pe)), operand)
CHIME_TEST_PLAIN_OP(Add, (atomic_add(context, word, operand, pe)), (plus(old, operand)))
CHIME_TEST_PLAIN_OP(Inc, (atomic_inc(context, word, pe)), (plus(old, T(1))))
CHIME_TEST_PLAIN_OP(And, (atomic_and(context, word, operand, pe)), T(old& operand))
CHIME_TEST_PLAIN_OP(Or, (atomic_or(context, word, operand, pe)), T(old | operand))
CHIME_TEST_PLAIN_OP(Xor, (atomic_xor(context, word, operand, pe)), T(old ^ operand))
#undef CHIME_TEST_PLAIN_OP

IN_EVERY_WORLD(Amo, FetchSetAndSwapWorkOnEveryExtendedType) {
  world.spawn(1, [](Pe& pe) {
    for_each_extended_amo_type([&]<class T>(Row<T>) {
      expect_updates<Fetch, T>(pe);
      expect_updates<Set, T>(pe);
      expect_updates<Swap, T>(pe);
    });
  });
}

IN_EVERY_WORLD(Amo, ArithmeticWrapsOnEveryStandardType) {
  world.spawn(1, [](Pe& pe) {
    for_each_standard_amo_type([&]<class T>(Row<T>) {
      expect_updates<Add, T>(pe);
      expect_updates<FetchAdd, T>(pe);
      expect_updates<Inc, T>(pe);
      expect_updates<FetchInc, T>(pe);
    });
  });
}

IN_EVERY_WORLD(Amo, FloatsAreAddedAndHalvesExchanged) {
  world.spawn(1, [](Pe& pe) {
    for_each_float_amo_type([&]<class T>(Row<T>) {
      expect_updates<Add, T>(pe);
      expect_updates<FetchAdd, T>(pe);
      expect_updates<Fetch, T>(pe);
      expect_updates<Set, T>(pe);
      expect_updates<Swap, T>(pe);
    });
  });
}

IN_EVERY_WORLD(Amo, CompareSwapStoresOnlyOnAMatch) {
  world.spawn(1, [](Pe& pe) {
    for_each_standard_amo_type([&]<class T>(Row<T>) {
      expect_updates<CompareSwap, T>(pe);
      expect_updates<CompareSwapOwn, T>(pe);
    });
  });
}

IN_EVERY_WORLD(Amo, BitwiseOperationsWorkOnEveryBitwiseType) {
  world.spawn(1, [](Pe& pe) {
    for_each_bitwise_amo_type([&]<class T>(Row<T>) {
      expect_updates<And, T>(pe);
      expect_updates<Or, T>(pe);
      expect_updates<Xor, T>(pe);
      expect_updates<FetchAnd, T>(pe);
      expect_updates<FetchOr, T>(pe);
      expect_updates<FetchXor, T>(pe);
    });
  });
}

// ---- Contention: all threads of all PEs on one word of PE 0 ------------------------------------

constexpr unsigned kBlocks = 2, kThreads = 32, kRounds = 8;
constexpr unsigned kUpdatesPerPe = kBlocks * kThreads * kRounds;

template <class T>
CHIME_KERNEL void add_together(CHIME_GRID_CONSTANT const Context context, T* word) {
  for (unsigned i = 0; i < kRounds; ++i) {
    atomic_add(context, word, T(3), 0);
    atomic_inc(context, word, 0);
  }
}

template <class T>
CHIME_KERNEL void take_tickets(CHIME_GRID_CONSTANT const Context context, T* word, T* tickets) {
  for (unsigned i = 0; i < kRounds; ++i)
    tickets[exec::grid_rank() * kRounds + i] = atomic_fetch_inc(context, word, 0);
}

// An add by compare-and-swap retries after each add of another thread: few threads.
constexpr unsigned kAdders = 4;
constexpr unsigned kFloatsPerPe = kBlocks * kAdders * kRounds;

template <class T>
CHIME_KERNEL void add_floats(CHIME_GRID_CONSTANT const Context context, T* elements) {
  T* const mine = elements + exec::thread_rank() % 2;
  for (unsigned i = 0; i < kRounds / 2; ++i) {
    atomic_add(context, mine, T(1.0f), 0);
    atomic_fetch_add(context, mine, T(1.0f), 0);
  }
}

// Odd threads swap out what even threads have added, and keep it.
template <class T>
CHIME_KERNEL void add_and_take(CHIME_GRID_CONSTANT const Context context, T* element, float* kept) {
  float taken = 0;
  for (unsigned i = 0; i < kRounds; ++i) {
    if (exec::thread_rank() % 2 == 0) {
      atomic_add(context, element, T(1.0f), 0);
    } else {
      taken += static_cast<float>(atomic_swap(context, element, T(0.0f), 0));
    }
  }
  kept[exec::grid_rank()] = taken;
}

// Sets this thread's bit in a word that 64 threads share, then clears it by xor in every other
// round.
CHIME_KERNEL inline void flip_bits(CHIME_GRID_CONSTANT const Context context,
                                   std::uint64_t* words) {
  const unsigned rank = unsigned(context.pe.my_pe) * kThreads + exec::thread_rank();
  std::uint64_t* word = words + rank / 64;
  const std::uint64_t bit = std::uint64_t(1) << rank % 64;
  for (unsigned i = 0; i < kRounds; ++i) {
    atomic_or(context, word, bit, 0);
    atomic_xor(context, word, bit, 0);
    atomic_fetch_or(context, word, bit, 0);
    atomic_and(context, word, ~bit, 0);
  }
  atomic_fetch_xor(context, word, bit, 0);
}

// A lock made of compare_swap around a counter that is not atomic. One thread per block competes.
CHIME_KERNEL inline void count_under_lock(CHIME_GRID_CONSTANT const Context context,
                                          std::uint64_t* lock, std::uint64_t* counter) {
  for (unsigned i = 0; i < kRounds; ++i) {
    while (atomic_compare_swap(context, lock, std::uint64_t(0), std::uint64_t(1), 0) != 0)
      exec::pause();
    fence(context);  // the last owner's stores are read below
    p(context, counter, g(context, counter, 0) + 1, 0);
    quiet(context);  // the stores arrive before the next owner enters
    atomic_set(context, lock, std::uint64_t(0), 0);
  }
}

// Adds by exchange until no value is lost: each swapped-out value is added again.
CHIME_KERNEL inline void swap_tokens(CHIME_GRID_CONSTANT const Context context, std::uint64_t* word,
                                     std::uint64_t* kept) {
  std::uint64_t token =
      std::uint64_t(context.pe.my_pe) * exec::grid_threads() + exec::grid_rank() + 1;
  for (unsigned i = 0; i < kRounds; ++i) token = atomic_swap(context, word, token, 0);
  kept[exec::grid_rank()] = token;
}

// The values are first, first + 1, ... in any order.
template <class T>
void expect_counted(std::vector<T> values, T first) {
  std::vector<T> expected(values.size());
  std::iota(expected.begin(), expected.end(), first);
  std::sort(values.begin(), values.end());
  EXPECT_EQ(expected, values);
}

IN_EVERY_WORLD(AmoContention, NoAddIsLost) {
  world.spawn(1, [](Pe& pe) {
    for_each_standard_amo_type([&]<class T>(Row<T>) {
      Symmetric<T> word(1);
      for_each_memory_mode(
          pe, [&] { pe.run(kBlocks, kThreads, add_together<T>, pe.context(), word.data()); });
      if (pe.rank() == 0) {
        EXPECT_EQ(T(2 * 4 * kUpdatesPerPe * unsigned(pe.size())), word.read(0));
      }
    });
  });
}

// Two neighbours: two halves lie in one word.
IN_EVERY_WORLD(AmoContention, NoFloatAddIsLost) {
  world.spawn(1, [](Pe& pe) {
    for_each_float_amo_type([&]<class T>(Row<T>) {
      Symmetric<T> elements(2);
      for_each_memory_mode(
          pe, [&] { pe.run(kBlocks, kAdders, add_floats<T>, pe.context(), elements.data()); });
      for (std::size_t i : {0, 1}) {
        if (pe.rank() != 0) break;
        EXPECT_EQ(float(kFloatsPerPe * unsigned(pe.size())), float(elements.read(i)));
      }
    });
  });
}

IN_EVERY_WORLD(AmoContention, FloatsAreAddedAndSwappedAtomically) {
  world.spawn(1, [](Pe& pe) {
    for_each_float_amo_type([&]<class T>(Row<T>) {
      constexpr std::size_t kTakers = kBlocks * kAdders;
      Symmetric<T> element(1);
      Symmetric<float> gathered(kTakers * std::size_t(pe.size()));
      Private<float> kept(kTakers);
      for_each_memory_mode(pe, [&] {
        element.fill(0);
        pe.barrier();
        pe.run(kBlocks, kAdders, add_and_take<T>, pe.context(), element.data(), kept.data());
        chime_putmem(gathered.data() + std::size_t(pe.rank()) * kTakers, kept.data(),
                     kTakers * sizeof(float), 0);
        pe.barrier();
        if (pe.rank() == 0) {
          const std::vector<float> all = gathered.read();
          EXPECT_EQ(float(kFloatsPerPe / 2 * unsigned(pe.size())),
                    std::accumulate(all.begin(), all.end(), float(element.read(0))));
        }
        pe.barrier();
      });
    });
  });
}

IN_EVERY_WORLD(AmoContention, TicketsAreUnique) {
  world.spawn(1, [](Pe& pe) {
    for_each_standard_amo_type([&]<class T>(Row<T>) {
      Symmetric<T> word(1), tickets(kUpdatesPerPe * std::size_t(pe.size()));
      Private<T> mine(kUpdatesPerPe);
      for_each_memory_mode(pe, [&] {
        word.fill(0);
        pe.barrier();
        pe.run(kBlocks, kThreads, take_tickets<T>, pe.context(), word.data(), mine.data());
        const std::vector<T> taken = mine.read();
        EXPECT_TRUE(std::is_sorted(taken.begin(), taken.begin() + kRounds)) << "of one thread";
        chime_putmem(tickets.data() + std::size_t(pe.rank()) * kUpdatesPerPe, mine.data(),
                     kUpdatesPerPe * sizeof(T), 0);
        pe.barrier();
        if (pe.rank() == 0) expect_counted(tickets.read(), T(0));
        pe.barrier();
      });
    });
  });
}

IN_EVERY_WORLD(AmoContention, NoBitOfAnotherThreadIsTouched) {
  world.spawn(1, [](Pe& pe) {
    Symmetric<std::uint64_t> words(std::size_t(pe.size() * int(kThreads) + 63) / 64);
    for_each_memory_mode(pe, [&] {
      words.fill(0);
      pe.barrier();
      pe.run(1, kThreads, flip_bits, pe.context(), words.data());
      pe.barrier();
      for (unsigned i = 0; pe.rank() == 0 && i < unsigned(pe.size()) * kThreads; ++i)
        EXPECT_EQ(1u, words.read(i / 64) >> (i % 64) & 1) << "thread " << i;
    });
  });
}

IN_EVERY_WORLD(AmoContention, CompareSwapMakesALock) {
  world.spawn(1, [](Pe& pe) {
    for_each_seed(pe, [&](int) {
      Symmetric<std::uint64_t> lock(1), counter(1);
      pe.barrier();
      pe.run(kBlocks, 1, count_under_lock, pe.context(), lock.data(), counter.data());
      pe.barrier();
      if (pe.rank() == 0) {
        EXPECT_EQ(kBlocks * kRounds * unsigned(pe.size()), counter.read(0));
      }
    });
  });
}

IN_EVERY_WORLD(AmoContention, SwapLosesNoToken) {
  world.spawn(1, [](Pe& pe) {
    constexpr unsigned kTokens = kBlocks * kThreads;
    Symmetric<std::uint64_t> word(1), gathered(kTokens * std::size_t(pe.size()));
    Private<std::uint64_t> kept(kTokens);
    for_each_memory_mode(pe, [&] {
      word.fill(0);
      pe.barrier();
      pe.run(kBlocks, kThreads, swap_tokens, pe.context(), word.data(), kept.data());
      chime_putmem(gathered.data() + std::size_t(pe.rank()) * kTokens, kept.data(),
                   kTokens * sizeof(std::uint64_t), 0);
      pe.barrier();
      if (pe.rank() != 0) return;
      std::vector<std::uint64_t> all = gathered.read();
      all.push_back(word.read(0));
      expect_counted(all, std::uint64_t(0));
    });
  });
}

}  // namespace
}  // namespace chime::tests
