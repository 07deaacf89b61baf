// The C names of atomics: each is called once per type from a kernel and once from the host, with a
// value that shows a wrong width or sign. What the operations do is tested on the templates
// (amo_test.cu).
#include <cstring>

#include "support/schedule.hpp"
#include "support/typed.hpp"
#include "support/world.hpp"

namespace chime::tests {
namespace {

// ---- The names of each table, as functions of one shape -----------------------------------------
// Each takes words of `pe` (one word per operation) and returns the fetched values in `results`.

#define CHIME_TESTS_EXTENDED(NAME, TYPE)                               \
  struct Extended_##NAME {                                             \
    using T = TYPE;                                                    \
    [[maybe_unused]] static constexpr const char* kName = #NAME;       \
    CHIME_HOST_DEVICE static void call(T* words, T* results, int pe) { \
      results[0] = chime_##NAME##_atomic_fetch(words + 0, pe);         \
      chime_##NAME##_atomic_set(words + 1, T(-3), pe);                 \
      results[2] = chime_##NAME##_atomic_swap(words + 2, T(-4), pe);   \
    }                                                                  \
  };
CHIME_FOR_EXTENDED_AMO_TYPES(CHIME_TESTS_EXTENDED)
#undef CHIME_TESTS_EXTENDED

#define CHIME_TESTS_STANDARD(NAME, TYPE)                                            \
  struct Standard_##NAME {                                                          \
    using T = TYPE;                                                                 \
    [[maybe_unused]] static constexpr const char* kName = #NAME;                    \
    CHIME_HOST_DEVICE static void call(T* words, T* results, int pe) {              \
      chime_##NAME##_atomic_inc(words + 0, pe);                                     \
      chime_##NAME##_atomic_add(words + 1, T(-9), pe);                              \
      results[2] = chime_##NAME##_atomic_fetch_inc(words + 2, pe);                  \
      results[3] = chime_##NAME##_atomic_fetch_add(words + 3, T(-9), pe);           \
      results[4] = chime_##NAME##_atomic_compare_swap(words + 4, T(-1), T(-7), pe); \
      results[5] = chime_##NAME##_atomic_compare_swap(words + 5, T(-2), T(-7), pe); \
    }                                                                               \
  };
CHIME_FOR_STANDARD_AMO_TYPES(CHIME_TESTS_STANDARD)
#undef CHIME_TESTS_STANDARD

#define CHIME_TESTS_BITWISE(NAME, TYPE)                                    \
  struct Bitwise_##NAME {                                                  \
    using T = TYPE;                                                        \
    [[maybe_unused]] static constexpr const char* kName = #NAME;           \
    CHIME_HOST_DEVICE static void call(T* words, T* results, int pe) {     \
      chime_##NAME##_atomic_and(words + 0, T(-16), pe);                    \
      chime_##NAME##_atomic_or(words + 1, T(-16), pe);                     \
      chime_##NAME##_atomic_xor(words + 2, T(-16), pe);                    \
      results[3] = chime_##NAME##_atomic_fetch_and(words + 3, T(-16), pe); \
      results[4] = chime_##NAME##_atomic_fetch_or(words + 4, T(-16), pe);  \
      results[5] = chime_##NAME##_atomic_fetch_xor(words + 5, T(-16), pe); \
    }                                                                      \
  };
CHIME_FOR_BITWISE_AMO_TYPES(CHIME_TESTS_BITWISE)
#undef CHIME_TESTS_BITWISE

template <class Names>
CHIME_KERNEL void call_names(typename Names::T* words, typename Names::T* results, int pe) {
  Names::call(words, results, pe);
}

// All words hold `start` on every PE; then each PE calls the names on PE p + 1's words.
template <class Names, class T = typename Names::T>
void expect_names(Pe& pe, T start, const std::vector<T>& words, const std::vector<T>& results) {
  SCOPED_TRACE(Names::kName);
  Symmetric<T> target(words.size());
  Private<T> returned(words.size());
  for (bool from_host : {false, true}) {
    SCOPED_TRACE(from_host ? "from the host" : "in a kernel");
    std::vector<T> seen(words.size());
    target.write(std::vector<T>(words.size(), start));
    pe.barrier();
    if (from_host) {
      Names::call(target.data(), seen.data(), pe.next());
    } else {
      pe.run(1, 1, call_names<Names>, target.data(), returned.data(), pe.next());
      seen = returned.read();
    }
    pe.barrier();
    EXPECT_EQ(words, target.read());
    EXPECT_EQ(results, seen);
    pe.barrier();
  }
}

template <class Names>
void expect_extended(Pe& pe) {
  using T = typename Names::T;
  const T start = T(-1);
  expect_names<Names>(pe, start, {start, T(-3), T(-4)}, {start, T(0), start});
}

template <class Names>
void expect_standard(Pe& pe) {
  using T = typename Names::T;
  const T m = T(-1);
  expect_names<Names>(pe, m, {T(0), T(-10), T(0), T(-10), T(-7), m}, {T(0), T(0), m, m, m, m});
}

template <class Names>
void expect_bitwise(Pe& pe) {
  using T = typename Names::T;
  const T start = T(-6);  // ...11111010
  expect_names<Names>(pe, start, {T(-16), T(-6), T(10), T(-16), T(-6), T(10)},
                      {T(0), T(0), T(0), start, start, start});
}

#define CHIME_TESTS_EXTENDED(NAME, TYPE) \
  CHIME_TEST_IF_NAMED(TYPE, expect_extended<Extended_##NAME>(pe);)
#define CHIME_TESTS_STANDARD(NAME, TYPE) \
  CHIME_TEST_IF_NAMED(TYPE, expect_standard<Standard_##NAME>(pe);)
#define CHIME_TESTS_BITWISE(NAME, TYPE) \
  CHIME_TEST_IF_NAMED(TYPE, expect_bitwise<Bitwise_##NAME>(pe);)

IN_EVERY_WORLD(CNames, OfExtendedAtomicsDoTheirWork) {
  world.spawn(1, [](auto& pe) { CHIME_FOR_EXTENDED_AMO_TYPES(CHIME_TESTS_EXTENDED) });
}

IN_EVERY_WORLD(CNames, OfStandardAtomicsDoTheirWork) {
  world.spawn(1, [](auto& pe) { CHIME_FOR_STANDARD_AMO_TYPES(CHIME_TESTS_STANDARD) });
}

IN_EVERY_WORLD(CNames, OfBitwiseAtomicsDoTheirWork) {
  world.spawn(1, [](auto& pe) { CHIME_FOR_BITWISE_AMO_TYPES(CHIME_TESTS_BITWISE) });
}

// ---- Contention of host and device callers on one word
// -------------------------------------------

constexpr unsigned kThreads = 32, kRounds = 50;

CHIME_KERNEL inline void count_from_kernel(std::uint32_t* word) {
  for (unsigned i = 0; i < kRounds; ++i) chime_uint32_atomic_inc(word, 0);
}

IN_EVERY_WORLD(CNames, HostAndKernelUpdatesOfOneWordAreAtomic) {
  world.spawn(1, [](Pe& pe) {
    Symmetric<std::uint32_t> word(1);
    pe.barrier();
    exec::LaunchConfig config;
    config.block = kThreads;
    ASSERT_EQ(CHIMEX_OK, exec::launch(config, count_from_kernel, word.data()));
    for (unsigned i = 0; i < 1000; ++i) chime_uint32_atomic_add(word, 2, 0);
    ASSERT_EQ(CHIMEX_OK, exec::stream_synchronize({}));
    pe.barrier();
    if (pe.rank() == 0) {
      EXPECT_EQ((kThreads * kRounds + 2000) * unsigned(pe.size()), word.read(0));
    }
    pe.barrier();
  });
}

}  // namespace
}  // namespace chime::tests
