// The C names of signals, waits, tests and ordering. signal_test.cu, wait_test.cu and
// barrier_test.cu test the operations themselves, on the templates.
#include "support/schedule.hpp"
#include "support/typed.hpp"
#include "support/world.hpp"

namespace chime::tests {
namespace {

// ---- Waits and tests ----------------------------------------------------------------------------

constexpr std::size_t kWords = 4, kResults = 16;

// Calls every name on words {-1, 2, 3, 4} with skip {0, 1, 0, 0} and values {-1, 9, 3, 4}: no call
// has to wait. A wrong sign, width or argument order would change the results.
#define CHIME_TESTS_WAITS(NAME, TYPE)                                                          \
  struct Waits_##NAME {                                                                        \
    using T = TYPE;                                                                            \
    [[maybe_unused]] static constexpr const char* kName = #NAME;                               \
    CHIME_HOST_DEVICE static void call(T* w, const int* skip, T* values, size_t* r) {          \
      size_t at[kWords] = {9, 9, 9, 9};                                                        \
      chime_##NAME##_wait_until(w, CHIME_CMP_EQ, T(-1));                                       \
      chime_##NAME##_wait_until_all(w, kWords, skip, CHIME_CMP_NE, T(2));                      \
      chime_##NAME##_wait_until_all_vector(w, kWords, skip, CHIME_CMP_EQ, values);             \
      r[0] = chime_##NAME##_wait_until_any(w, kWords, skip, CHIME_CMP_EQ, T(4));               \
      r[1] = chime_##NAME##_wait_until_any_vector(w + 1, kWords - 1, skip + 1, CHIME_CMP_EQ,   \
                                                  values + 1);                                 \
      r[2] = chime_##NAME##_wait_until_some(w, kWords, at, skip, CHIME_CMP_GE, T(4));          \
      r[3] = at[r[2] - 1];                                                                     \
      r[4] = chime_##NAME##_wait_until_some_vector(w, kWords, at, skip, CHIME_CMP_EQ, values); \
      r[5] = at[0] * 100 + at[1] * 10 + at[2];                                                 \
      r[6] = size_t(chime_##NAME##_test(w, CHIME_CMP_GT, T(0)));                               \
      r[7] = size_t(chime_##NAME##_test_all(w, kWords, skip, CHIME_CMP_NE, T(2)));             \
      r[8] = size_t(chime_##NAME##_test_all(w, kWords, nullptr, CHIME_CMP_NE, T(2)));          \
      r[9] = size_t(chime_##NAME##_test_all_vector(w, kWords, skip, CHIME_CMP_EQ, values));    \
      r[10] = chime_##NAME##_test_any(w, kWords, skip, CHIME_CMP_EQ, T(2));                    \
      r[11] = chime_##NAME##_test_any_vector(w, kWords, skip, CHIME_CMP_NE, values);           \
      r[12] = chime_##NAME##_test_some(w, kWords, at, skip, CHIME_CMP_EQ, T(3));               \
      r[13] = at[0];                                                                           \
      r[14] = chime_##NAME##_test_some_vector(w, kWords, at, nullptr, CHIME_CMP_LT, values);   \
      r[15] = size_t(chimex_##NAME##_wait_until_timeout(w, CHIME_CMP_EQ, T(77), 100000));      \
    }                                                                                          \
  };
CHIME_FOR_WAIT_TYPES(CHIME_TESTS_WAITS)
#undef CHIME_TESTS_WAITS

template <class Names>
CHIME_KERNEL void call_waits(typename Names::T* words, const int* skip, typename Names::T* values,
                             std::size_t* results) {
  Names::call(words, skip, values, results);
}

template <class Names>
void expect_waits(Pe& pe) {
  using T = typename Names::T;
  SCOPED_TRACE(Names::kName);
  const bool is_unsigned = T(-1) > T(0);
  Symmetric<T> words(kWords);
  words.write(std::vector<T>{T(-1), T(2), T(3), T(4)});
  Private<T> values(std::vector<T>{T(-1), T(9), T(3), T(4)});
  const std::vector<int> skipped{0, 1, 0, 0};
  const Private<int> skip(skipped);
  Private<std::size_t> results(kResults);
  const std::vector<std::size_t> expected{
      3, 1, is_unsigned ? 2u : 1u, 3, 3, 23, is_unsigned, 1, 0, 1, SIZE_MAX, SIZE_MAX, 1,
      2, 1, CHIMEX_ERR_TIMEOUT};
  pe.run(1, 1, call_waits<Names>, words.data(), static_cast<const int*>(skip.data()), values.data(),
         results.data());
  EXPECT_EQ(expected, results.read()) << "in a kernel";
  std::vector<std::size_t> seen(kResults);
  std::vector<T> host_values = values.read();
  Names::call(words.data(), skipped.data(), host_values.data(), seen.data());
  EXPECT_EQ(expected, seen) << "from the host";
}

#define CHIME_TESTS_WAITS(NAME, TYPE) CHIME_TEST_IF_NAMED(TYPE, expect_waits<Waits_##NAME>(pe);)
IN_EVERY_WORLD(CNames, OfWaitsAndTestsCompareAsTheTypeDoes) {
  world.spawn(1, [](auto& pe) { CHIME_FOR_WAIT_TYPES(CHIME_TESTS_WAITS) });
}
#undef CHIME_TESTS_WAITS

// The default stream passes the first wait at once, and the second when the last word has arrived,
// not before. The test reads by g: its copies would wait for that stream.
#define CHIME_TESTS_STREAM_WAITS(NAME, TYPE)                                                      \
  [&] {                                                                                           \
    using T = TYPE;                                                                               \
    SCOPED_TRACE(#NAME "_on_stream");                                                             \
    Symmetric<T> words(kWords);                                                                   \
    Symmetric<std::uint64_t> past(1);                                                             \
    words.write(std::vector<T>{T(-1), T(2), T(3), T(0)});                                         \
    const Private<int> skip(std::vector<int>{0, 1, 0, 0});                                        \
    Private<T> values(std::vector<T>{T(-1), T(9), T(3), T(4)});                                   \
    pe.barrier();                                                                                 \
    chimex_##NAME##_wait_until_on_stream(words, CHIME_CMP_EQ, T(-1), nullptr);                    \
    chimex_uint64_p_on_stream(past, 1, pe.rank(), nullptr);                                       \
    if (pe.rank() % 3 == 0) {                                                                     \
      chimex_##NAME##_wait_until_on_stream(words + 3, CHIME_CMP_GE, T(4), nullptr);               \
    } else if (pe.rank() % 3 == 1) {                                                              \
      chimex_##NAME##_wait_until_all_on_stream(words + 1, 3, skip.data() + 1, CHIME_CMP_GE, T(3), \
                                               nullptr);                                          \
    } else {                                                                                      \
      chimex_##NAME##_wait_until_all_vector_on_stream(words, kWords, skip.data(), CHIME_CMP_EQ,   \
                                                      values.data(), nullptr);                    \
    }                                                                                             \
    chimex_uint64_p_on_stream(past, 2, pe.rank(), nullptr);                                       \
    chime_uint64_wait_until(past, CHIME_CMP_EQ, 1);                                               \
    pe.barrier();                                                                                 \
    EXPECT_EQ(1u, chime_uint64_g(past, pe.rank()));                                               \
    pe.barrier();                                                                                 \
    chime_##NAME##_p(words + 3, T(4), pe.next());                                                 \
    exec::stream_synchronize({});                                                                 \
    EXPECT_EQ(2u, past.read(0));                                                                  \
    pe.barrier();                                                                                 \
  }();

IN_EVERY_WORLD(CNames, OfWaitsHoldAStream) {
  world.spawn(1, [](Pe& pe) { CHIME_FOR_WAIT_TYPES(CHIME_TESTS_STREAM_WAITS) });
}
#undef CHIME_TESTS_STREAM_WAITS

// ---- Signals ------------------------------------------------------------------------------------

// PE p sends 5, then adds 2, to PE p + 1, and waits for the same from PE p - 1.
CHIME_HOST_DEVICE std::uint64_t exchange_signals(std::uint64_t* word, int pe) {
  chimex_signal_op(word, 5, CHIME_SIGNAL_SET, pe);
  chime_fence();
  chimex_signal_op(word, 2, CHIME_SIGNAL_ADD, pe);
  const std::uint64_t seen = chime_signal_wait_until(word, CHIME_CMP_EQ, 7);
  return seen * 100 + chime_signal_fetch(word);
}

CHIME_KERNEL inline void exchange_signals_in_kernel(std::uint64_t* word, std::uint64_t* result,
                                                    int pe) {
  *result = exchange_signals(word, pe);
  std::uint64_t seen = 0;
  const int status = chimex_signal_wait_until_timeout(word, CHIME_CMP_EQ, 8, 100000, &seen);
  result[1] = status == CHIMEX_ERR_TIMEOUT ? seen : 0;
}

template <class Group>
CHIME_DEVICE std::uint64_t wait_as_group(std::uint64_t* word, std::uint64_t value);
template <>
CHIME_DEVICE std::uint64_t wait_as_group<Warp>(std::uint64_t* word, std::uint64_t value) {
  return chimex_signal_wait_until_warp(word, CHIME_CMP_EQ, value);
}
template <>
CHIME_DEVICE std::uint64_t wait_as_group<Block>(std::uint64_t* word, std::uint64_t value) {
  return chimex_signal_wait_until_block(word, CHIME_CMP_EQ, value);
}

template <class Group>
CHIME_KERNEL void exchange_as_group(std::uint64_t* word, std::uint64_t* results, int pe) {
  if (exec::thread_rank() == 0) chimex_signal_op(word, 9, CHIME_SIGNAL_SET, pe);
  results[exec::thread_rank()] = wait_as_group<Group>(word, 9);
}

IN_EVERY_WORLD(CNames, OfSignalsReachThePeer) {
  world.spawn(1, [](Pe& pe) {
    Symmetric<std::uint64_t> words(4);
    Private<std::uint64_t> results(64);
    pe.barrier();
    EXPECT_EQ(707u, exchange_signals(words, pe.next())) << "from the host";
    pe.run(1, 1, exchange_signals_in_kernel, words + 1, results.data(), pe.next());
    EXPECT_EQ(707u, results.read()[0]);
    EXPECT_EQ(7u, results.read()[1]) << "last value seen by a wait that timed out";
    pe.run(1, 32, exchange_as_group<Warp>, words + 2, results.data(), pe.next());
    EXPECT_EQ(9u, results.read()[31]);
    pe.run(1, 64, exchange_as_group<Block>, words + 3, results.data(), pe.next());
    EXPECT_EQ(9u, results.read()[63]);
    pe.barrier();
  });
}

// ---- Ordering and collectives -------------------------------------------------------------------

enum class Meet { kThread, kWarp, kBlock };

template <Meet kHow>
CHIME_DEVICE void barrier_name() {
  if constexpr (kHow == Meet::kThread) chime_barrier_all();
  if constexpr (kHow == Meet::kWarp) chimex_barrier_all_warp();
  if constexpr (kHow == Meet::kBlock) chimex_barrier_all_block();
}
template <Meet kHow>
CHIME_DEVICE void sync_name() {
  if constexpr (kHow == Meet::kThread) chime_sync_all();
  if constexpr (kHow == Meet::kWarp) chimex_sync_all_warp();
  if constexpr (kHow == Meet::kBlock) chimex_sync_all_block();
}

// Thread 0 puts a 1 to every PE, all meet, every thread counts the ones.
template <Meet kHow>
CHIME_KERNEL void meet_by_name(std::uint64_t* slots, unsigned* missing) {
  if (exec::thread_rank() == 0)
    for (int pe = 0; pe < chime_n_pes(); ++pe) chime_uint64_p(slots + chime_my_pe(), 1, pe);
  chime_quiet();
  barrier_name<kHow>();
  for (int pe = 0; pe < chime_n_pes(); ++pe)
    if (exec::ld(slots + pe) != 1) exec::atomic_add(missing, 1u);
  sync_name<kHow>();
}

template <Meet kHow>
void expect_meeting(Pe& pe, unsigned threads) {
  Symmetric<std::uint64_t> slots(std::size_t(pe.size()));
  Private<unsigned> missing(1);
  pe.barrier();
  pe.run(1, threads, meet_by_name<kHow>, slots.data(), missing.data());
  EXPECT_EQ(0u, missing.read()[0]);
  pe.barrier();
}

IN_EVERY_WORLD(CNames, OfBarriersMeetAllPes) {
  world.spawn(1, [](Pe& pe) {
    expect_meeting<Meet::kThread>(pe, 1);
    expect_meeting<Meet::kWarp>(pe, 32);
    expect_meeting<Meet::kBlock>(pe, 70);
  });
}

CHIME_KERNEL inline void ask_names(std::uint64_t* word, std::uint64_t* answers) {
  answers[0] = std::uint64_t(chime_my_pe());
  answers[1] = std::uint64_t(chime_n_pes());
  answers[2] = chime_ptr(word, chime_my_pe()) == word;
  answers[3] = chime_ptr(answers, chime_my_pe()) == nullptr;
  answers[4] = std::uint64_t(chimex_node_my_pe());
  answers[5] = std::uint64_t(chimex_node_n_pes());
}

IN_EVERY_WORLD(CNames, OfQueriesAnswerInKernels) {
  world.spawn(1, [](Pe& pe) {
    Symmetric<std::uint64_t> word(1);
    Private<std::uint64_t> answers(6);
    pe.run(1, 1, ask_names, word.data(), answers.data());
    const auto me = std::uint64_t(pe.rank()), n = std::uint64_t(pe.size());
    // All PEs of a World run on this machine.
    EXPECT_EQ((std::vector<std::uint64_t>{me, n, 1, 1, me, n}), answers.read());
  });
}

IN_EVERY_WORLD(CNames, OfTheVersionAnswer) {
  world.spawn(1, [](Pe&) {
    int major = 0, minor = 0, patch = -1;
    chime_info_get_version(&major, &minor);
    EXPECT_EQ(CHIME_SPEC_MAJOR, major);
    EXPECT_EQ(CHIME_SPEC_MINOR, minor);
    chimex_vendor_get_version_info(&major, &minor, &patch);
    EXPECT_EQ(CHIME_VERSION_MAJOR, major);
    EXPECT_EQ(CHIME_VERSION_MINOR, minor);
    EXPECT_EQ(CHIME_VERSION_PATCH, patch);
    char name[CHIME_MAX_NAME_LEN];
    chime_info_get_name(name);
    EXPECT_EQ(std::string("Chime"), std::string(name).substr(0, 5));
  });
}

}  // namespace
}  // namespace chime::tests
