// The C names of atomics: a kernel and the host call each once per type, with a value that reveals
// a wrong width or sign. amo_test.cu tests the operations themselves, on the templates.
#include <cstring>

#include "support/schedule.hpp"
#include "support/typed.hpp"
#include "support/world.hpp"

namespace chime::tests {
namespace {

// ---- The names of each table, as functions with one signature -----------------------------------
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
CHIME_FOR_HALF_AMO_TYPES(CHIME_TESTS_EXTENDED)
#undef CHIME_TESTS_EXTENDED

#define CHIME_TESTS_FLOAT(NAME, TYPE)                                         \
  struct Float_##NAME {                                                       \
    using T = TYPE;                                                           \
    [[maybe_unused]] static constexpr const char* kName = #NAME;              \
    CHIME_HOST_DEVICE static void call(T* words, T* results, int pe) {        \
      chimex_##NAME##_atomic_add(words + 0, T(2.5f), pe);                     \
      results[1] = chimex_##NAME##_atomic_fetch_add(words + 1, T(0.25f), pe); \
    }                                                                         \
  };
CHIME_FOR_FLOAT_AMO_C_TYPES(CHIME_TESTS_FLOAT)
CHIME_FOR_HALF_AMO_TYPES(CHIME_TESTS_FLOAT)
#undef CHIME_TESTS_FLOAT

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
void expect_float(Pe& pe) {
  using T = typename Names::T;
  const T start = T(-1.0f);
  expect_names<Names>(pe, start, {T(1.5f), T(-0.75f)}, {T(0.0f), start});
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
#define CHIME_TESTS_OF_FLOATS(NAME, TYPE) expect_float<Float_##NAME>(pe);
#define CHIME_TESTS_STANDARD(NAME, TYPE) \
  CHIME_TEST_IF_NAMED(TYPE, expect_standard<Standard_##NAME>(pe);)
#define CHIME_TESTS_BITWISE(NAME, TYPE) \
  CHIME_TEST_IF_NAMED(TYPE, expect_bitwise<Bitwise_##NAME>(pe);)

IN_EVERY_WORLD(CNames, OfExtendedAtomicsDoTheirWork) {
  world.spawn(1, [](auto& pe) { CHIME_FOR_EXTENDED_AMO_TYPES(CHIME_TESTS_EXTENDED) });
}

IN_EVERY_WORLD(CNames, OfAtomicsOnFloatsDoTheirWork) {
  world.spawn(1, [](auto& pe) {
    CHIME_FOR_FLOAT_AMO_C_TYPES(CHIME_TESTS_OF_FLOATS)
    CHIME_FOR_HALF_AMO_TYPES(CHIME_TESTS_OF_FLOATS)
    expect_extended<Extended_half>(pe);
  });
}

IN_EVERY_WORLD(CNames, OfStandardAtomicsDoTheirWork) {
  world.spawn(1, [](auto& pe) { CHIME_FOR_STANDARD_AMO_TYPES(CHIME_TESTS_STANDARD) });
}

IN_EVERY_WORLD(CNames, OfBitwiseAtomicsDoTheirWork) {
  world.spawn(1, [](auto& pe) { CHIME_FOR_BITWISE_AMO_TYPES(CHIME_TESTS_BITWISE) });
}

// ---- Contention of host and device callers on one word ------------------------------------------

constexpr unsigned kThreads = 32, kRounds = 50;

CHIME_KERNEL inline void count_from_kernel(std::uint32_t* word) {
  for (unsigned i = 0; i < kRounds; ++i) chime_uint32_atomic_inc(word, 0);
}

// Some paths add by compare-and-swap: few threads.
CHIME_KERNEL inline void add_from_kernel(chime_half_t* half, float* single, double* twice) {
  for (unsigned i = 0; i < kRounds; ++i) {
    chimex_half_atomic_add(half, chime_half_t(1.0f), 0);
    chimex_float_atomic_add(single, 1, 0);
    chimex_double_atomic_add(twice, 1, 0);
  }
}

// Runs `kernel` on word(s) of PE 0, and meanwhile `on_host`.
template <class Kernel, class OnHost, class... Words>
void contend(Pe& pe, unsigned threads, Kernel kernel, OnHost on_host, Words*... words) {
  pe.barrier();
  exec::LaunchConfig config;
  config.block = threads;
  ASSERT_EQ(CHIMEX_OK, exec::launch(config, kernel, words...));
  on_host();
  ASSERT_EQ(CHIMEX_OK, exec::stream_synchronize({}));
  pe.barrier();
}

IN_EVERY_WORLD(CNames, HostAndKernelUpdatesOfOneWordAreAtomic) {
  world.spawn(1, [](Pe& pe) {
    Symmetric<std::uint32_t> word(1);
    contend(
        pe, kThreads, count_from_kernel,
        [&] {
          for (unsigned i = 0; i < 1000; ++i) chime_uint32_atomic_add(word, 2, 0);
        },
        word.data());
    if (pe.rank() == 0) {
      EXPECT_EQ((kThreads * kRounds + 2000) * unsigned(pe.size()), word.read(0));
    }
    pe.barrier();
  });
}

IN_EVERY_WORLD(CNames, HostAndKernelAdditionsOfFloatsAreAtomic) {
  world.spawn(1, [](Pe& pe) {
    Symmetric<chime_half_t> half(1);
    Symmetric<float> single(1);
    Symmetric<double> twice(1);
    contend(
        pe, 2, add_from_kernel,
        [&] {
          for (unsigned i = 0; i < kRounds; ++i) {
            chimex_half_atomic_add(half, chime_half_t(1.0f), 0);
            chimex_float_atomic_add(single, 2, 0);
            chimex_double_atomic_add(twice, 2, 0);
          }
        },
        half.data(), single.data(), twice.data());
    if (pe.rank() == 0) {
      EXPECT_EQ(float(3 * kRounds * unsigned(pe.size())), float(half.read(0)));
      EXPECT_EQ(float(4 * kRounds * unsigned(pe.size())), single.read(0));
      EXPECT_EQ(double(4 * kRounds * unsigned(pe.size())), twice.read(0));
    }
    pe.barrier();
  });
}

}  // namespace
}  // namespace chime::tests
