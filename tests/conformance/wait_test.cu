// wait_until and test, on one word, all, any and some: the comparison of the type, and the waiting.
#include <limits>

#include "chime/device/rma.cuh"
#include "chime/device/sync.cuh"
#include "support/schedule.hpp"
#include "support/typed.hpp"
#include "support/world.hpp"

namespace chime::tests {
namespace {

constexpr int kComparisons = 6;

// The comparisons of the language, for a word in the specification's table 9.
template <class T>
bool holds(T a, int cmp, T b) {
  switch (cmp) {
    case CHIME_CMP_EQ:
      return a == b;
    case CHIME_CMP_NE:
      return a != b;
    case CHIME_CMP_GT:
      return a > b;
    case CHIME_CMP_LE:
      return a <= b;
    case CHIME_CMP_LT:
      return a < b;
    default:
      return a >= b;
  }
}

// Values on both sides of every sign and width edge, to reveal a wrong signedness or width.
template <class T>
std::vector<T> edges() {
  using U = std::make_unsigned_t<T>;
  const U top = U(U(1) << (sizeof(T) * 8 - 1));
  return {T(0), T(1), T(U(0) - 1), T(top), T(U(top - 1)), T(U(top + 1))};
}

// ---- One word -----------------------------------------------------------------------------------

// results[i * 6 + cmp] = test(context, words[i], cmp, values[i]); waits only for comparisons that
// already hold.
template <class T>
CHIME_KERNEL void compare_all(CHIME_GRID_CONSTANT const Context context, const T* words,
                              const T* values, int* results) {
  const unsigned i = exec::thread_rank();
  for (int cmp = 0; cmp < kComparisons; ++cmp) {
    results[i * kComparisons + cmp] = test(context, words + i, Cmp(cmp), values[i]);
    if (results[i * kComparisons + cmp]) wait_until(context, words + i, Cmp(cmp), values[i]);
  }
}

IN_EVERY_WORLD(Test, ComparesAsTheTypeDoes) {
  world.spawn(1, [](Pe& pe) {
    for_each_wait_type([&]<class T>(Row<T>) {
      std::vector<T> words, values;
      for (T a : edges<T>())
        for (T b : edges<T>()) words.push_back(a), values.push_back(b);
      Symmetric<T> symmetric(words.size());
      symmetric.write(words);
      const Private<T> operands(values);
      Private<int> results(words.size() * kComparisons);
      pe.run(1, unsigned(words.size()), compare_all<T>, pe.context(),
             static_cast<const T*>(symmetric.data()), static_cast<const T*>(operands.data()),
             results.data());
      const std::vector<int> seen = results.read();
      for (std::size_t i = 0; i < words.size(); ++i)
        for (int cmp = 0; cmp < kComparisons; ++cmp)
          EXPECT_EQ(holds(words[i], cmp, values[i]), seen[i * kComparisons + std::size_t(cmp)] != 0)
              << +words[i] << " cmp " << cmp << " " << +values[i];
    });
  });
}

// A word that does not satisfy `cmp value` before a store and does after it.
template <class T>
struct Change {
  int cmp;
  T before, after, value;
};

template <class T>
std::vector<Change<T>> changes() {
  using U = std::make_unsigned_t<T>;
  const T high = std::numeric_limits<T>::max(), low = std::numeric_limits<T>::min();
  const T mid = T(U(0) - 1);  // -1, or the largest
  return {{CHIME_CMP_EQ, T(0), mid, mid},  {CHIME_CMP_NE, T(5), high, T(5)},
          {CHIME_CMP_GT, low, high, T(1)}, {CHIME_CMP_LE, high, low, T(1)},
          {CHIME_CMP_LT, T(7), low, T(7)}, {CHIME_CMP_GE, low, high, high}};
}

// Block 0 waits for the previous PE's store, block 1 makes the next PE's, a little later.
template <class T>
CHIME_KERNEL void wait_and_store(CHIME_GRID_CONSTANT const Context context, T* word,
                                 Change<T> change, T* seen, int next) {
  if (exec::block_rank() == 0) {
    wait_until(context, word, Cmp(change.cmp), change.value);
    *seen = exec::ld(word);  // a put without release stores it: a plain load would race
  } else {
    exec::nanosleep(20000);
    p(context, word, change.after, next);
  }
}

IN_EVERY_WORLD(WaitUntil, EndsWhenAnotherPeStores) {
  world.spawn(1, [](Pe& pe) {
    for_each_wait_type([&]<class T>(Row<T>) {
      Symmetric<T> word(1);
      Private<T> seen(1);
      for (const Change<T>& change : changes<T>()) {
        word.write(std::vector{change.before});
        pe.barrier();
        pe.run_together(2, 1, wait_and_store<T>, pe.context(), word.data(), change, seen.data(),
                        pe.next());
        EXPECT_EQ(change.after, seen.read()[0]) << "cmp " << change.cmp;
        pe.barrier();
      }
    });
  });
}

CHIME_KERNEL inline void wait_too_long(CHIME_GRID_CONSTANT const Context context,
                                       const std::uint64_t* word, int* status) {
  *status = wait_until_timeout(context, word, Cmp::kEq, std::uint64_t(1), 2000000);
}

IN_EVERY_WORLD(WaitUntil, WithABoundReportsTheTimeout) {
  world.spawn(1, [](Pe& pe) {
    Symmetric<std::uint64_t> word(1);
    Private<int> status(1);
    pe.run(1, 1, wait_too_long, pe.context(), static_cast<const std::uint64_t*>(word.data()),
           status.data());
    EXPECT_EQ(CHIMEX_ERR_TIMEOUT, status.read()[0]);
  });
}

// ---- Many words ---------------------------------------------------------------------------------
// Word i becomes i + 1 on all PEs, in the order 4 2 0 6 3 1 5, stored by the previous PE. Words 1
// and 5 are left out where a skip list is given.

constexpr std::size_t kWords = 7;

template <class T>
struct Seen {
  T all[kWords];         // the words after wait_until_all
  T vector_all[kWords];  // after wait_until_all_vector
  int any[kWords];       // how often wait_until_any returned word i
  int some[kWords];      // how often wait_until_some listed word i
  std::size_t any_of_none, some_of_none;
  int all_skipped;
  std::size_t any_now, some_now, some_index;
};

template <class T>
CHIME_DEVICE void store_words(const Context& context, T* words, int next) {
  const std::size_t order[kWords] = {4, 2, 0, 6, 3, 1, 5};
  for (std::size_t i : order) {
    exec::nanosleep(2000);
    p(context, words + i, T(i + 1), next);
  }
}

// Marks every word once, by the index that wait_until_any returns.
template <class T>
CHIME_DEVICE void collect_any(const Context& context, const T* words, int* skip, int* counts) {
  for (std::size_t i = 0; i < kWords; ++i) skip[i] = 0;
  for (std::size_t n = 0; n < kWords; ++n) {
    const std::size_t i = wait_until_any(context, words, kWords, skip, Cmp::kNe, T(0));
    ++counts[i];
    skip[i] = 1;
  }
}

template <class T>
CHIME_DEVICE void collect_some(const Context& context, const T* words, int* skip, int* counts) {
  for (std::size_t i = 0; i < kWords; ++i) skip[i] = 0;
  std::size_t indices[kWords];
  for (std::size_t left = kWords; left > 0;) {
    const std::size_t n = wait_until_some(context, words, kWords, indices, skip, Cmp::kNe, T(0));
    for (std::size_t k = 0; k < n; ++k) ++counts[indices[k]], skip[indices[k]] = 1;
    left -= n;
  }
}

// A warp each, since the smallest device holds fewer blocks than these.
template <class T>
CHIME_KERNEL void wait_many(CHIME_GRID_CONSTANT const Context context, T* words, Seen<T>* seen,
                            int* skip, const T* values, int next) {
  if (exec::lane_id() != 0) return;
  switch (exec::warp_id()) {
    case 0:
      return store_words(context, words, next);
    case 1:
      return collect_any(context, words, skip, seen->any);
    case 2:
      return collect_some(context, words, skip + kWords, seen->some);
    case 3:
      wait_until_all(context, words, kWords, nullptr, Cmp::kGt, T(0));
      for (std::size_t i = 0; i < kWords; ++i) seen->all[i] = exec::ld(words + i);
      return;
    default:
      wait_until_all_vector(context, words, kWords, nullptr, Cmp::kGe, values);
      for (std::size_t i = 0; i < kWords; ++i) seen->vector_all[i] = exec::ld(words + i);
  }
}

// Waits and tests that must not wait: on skipped words, and on words that hold already.
template <class T>
CHIME_KERNEL void look_at_many(CHIME_GRID_CONSTANT const Context context, const T* words,
                               Seen<T>* seen, const int* skip_all, const int* skip_but_3) {
  std::size_t indices[kWords];
  seen->any_of_none = wait_until_any(context, words, kWords, skip_all, Cmp::kEq, T(0));
  seen->some_of_none = wait_until_some(context, words, kWords, indices, skip_all, Cmp::kEq, T(0));
  seen->all_skipped = test_all(context, words, kWords, skip_all, Cmp::kEq, T(0));
  seen->any_now = test_any(context, words, kWords, skip_but_3, Cmp::kEq, T(4));
  seen->some_now = test_some(context, words, kWords, indices, skip_but_3, Cmp::kGt, T(0));
  seen->some_index = indices[0];
}

IN_EVERY_WORLD(WaitUntilMany, SeesEveryWordOnce) {
  world.spawn(1, [](Pe& pe) {
    for_each_wait_type([&]<class T>(Row<T>) {
      Symmetric<T> words(kWords);
      Private<Seen<T>> seen(1);
      Private<int> skip(2 * kWords);
      const std::vector<T> wanted{1, 2, 3, 4, 5, 6, 7};
      const Private<T> values(wanted);
      pe.barrier();
      pe.run(1, 5 * 32, wait_many<T>, pe.context(), words.data(), seen.data(), skip.data(),
             static_cast<const T*>(values.data()), pe.next());
      const Seen<T> result = seen.read()[0];
      for (std::size_t i = 0; i < kWords; ++i) {
        SCOPED_TRACE("word " + std::to_string(i));
        EXPECT_EQ(wanted[i], result.all[i]);
        EXPECT_EQ(wanted[i], result.vector_all[i]);
        EXPECT_EQ(1, result.any[i]);
        EXPECT_EQ(1, result.some[i]);
      }
    });
  });
}

IN_EVERY_WORLD(WaitUntilMany, LeavesOutWhatIsSkipped) {
  world.spawn(1, [](Pe& pe) {
    for_each_wait_type([&]<class T>(Row<T>) {
      Symmetric<T> words(kWords);
      words.write(std::vector<T>{1, 2, 3, 4, 5, 6, 7});
      Private<Seen<T>> seen(1);
      const Private<int> all(std::vector<int>{1, 1, 1, 1, 1, 1, 1});
      const Private<int> but_3(std::vector<int>{1, 1, 1, 0, 1, 1, 1});
      pe.run(1, 1, look_at_many<T>, pe.context(), static_cast<const T*>(words.data()), seen.data(),
             static_cast<const int*>(all.data()), static_cast<const int*>(but_3.data()));
      const Seen<T> result = seen.read()[0];
      EXPECT_EQ(SIZE_MAX, result.any_of_none);
      EXPECT_EQ(0u, result.some_of_none);
      EXPECT_EQ(1, result.all_skipped);
      EXPECT_EQ(3u, result.any_now);
      EXPECT_EQ(1u, result.some_now);
      EXPECT_EQ(3u, result.some_index);
    });
  });
}

}  // namespace
}  // namespace chime::tests
