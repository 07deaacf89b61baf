// Host operations on GPU heaps use the device only through the Gpu interface: here gpu_on_cpu.hpp
// implements it.
#include "host/ops/gpu/gpu_ops.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "chime/chime.h"
#include "gpu_on_cpu.hpp"
#include "host/errors/abort.hpp"
#include "host/errors/error.hpp"
#include "host/pe/pe.hpp"

namespace chime::host {
namespace {

class GpuOps : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("CHIME_ON_ERROR", "return", 1);
    setenv("CHIME_LOG", "off", 1);
    chime_init();
    pretend_to_have_a_gpu();
  }
  void TearDown() override { chime_finalize(); }
  static Runtime& pe() { return current_runtime(); }
};

chime_wait_request words_request(const std::uint64_t* words, std::size_t count,
                                 const std::uint64_t* value) {
  return {words, count, nullptr, CHIME_CMP_GE, value, 0, 8, 0, CHIME_WAIT_ALL, nullptr};
}

TEST_F(GpuOps, PutsAndGetsAreCopies) {
  auto words = static_cast<int*>(chime_calloc(8, sizeof(int)));
  std::vector<int> source(8), back(8);
  std::iota(source.begin(), source.end(), 1);
  gpu_ops::put(pe(), words, source.data(), 32, 0);
  gpu_ops::get(pe(), back.data(), words, 32, 0);
  EXPECT_EQ(back, source);
}

TEST_F(GpuOps, StridesAreInElements) {
  auto words = static_cast<int*>(chime_calloc(8, sizeof(int)));
  std::vector<int> source{1, 2, 3, 4, 5, 6};
  gpu_ops::put_strided(pe(), words, source.data(), {3, 2, 3, sizeof(int)}, 0);
  EXPECT_EQ(std::vector<int>(words, words + 8), (std::vector<int>{1, 0, 0, 3, 0, 0, 5, 0}));
  std::vector<int> back(3);
  gpu_ops::get_strided(pe(), back.data(), words, {1, 3, 3, sizeof(int)}, 0);
  EXPECT_EQ(back, (std::vector<int>{1, 3, 5}));
}

TEST_F(GpuOps, SignalsAreSetAndAdded) {
  auto word = static_cast<std::uint64_t*>(chime_calloc(1, sizeof(std::uint64_t)));
  gpu_ops::signal(pe(), word, 5, CHIME_SIGNAL_SET, 0);
  gpu_ops::signal(pe(), word, 3, CHIME_SIGNAL_ADD, 0);
  EXPECT_EQ(chime_signal_fetch(word), 8u);
  EXPECT_THROW(gpu_ops::signal(pe(), word, 1, 9, 0), Error);
  auto* const misaligned = reinterpret_cast<std::uint64_t*>(reinterpret_cast<char*>(word) + 1);
  EXPECT_THROW(gpu_ops::signal(pe(), misaligned, 1, CHIME_SIGNAL_SET, 0), Error);
}

// ---- Atomics: every row of chime_amo_op, both widths, with and without the old value ------------

struct AmoRow {
  chime_amo_op op;
  bool gives_old;  // also if not requested
  std::uint64_t (*result)(std::uint64_t word, std::uint64_t operand);
};
const AmoRow kAmoRows[] = {
    {CHIME_AMO_FETCH, true, [](std::uint64_t word, std::uint64_t) { return word; }},
    {CHIME_AMO_SET, false, [](std::uint64_t, std::uint64_t operand) { return operand; }},
    {CHIME_AMO_ADD, false,
     [](std::uint64_t word, std::uint64_t operand) { return word + operand; }},
    {CHIME_AMO_AND, false,
     [](std::uint64_t word, std::uint64_t operand) { return word & operand; }},
    {CHIME_AMO_OR, false, [](std::uint64_t word, std::uint64_t operand) { return word | operand; }},
    {CHIME_AMO_XOR, false,
     [](std::uint64_t word, std::uint64_t operand) { return word ^ operand; }},
    {CHIME_AMO_SWAP, true, [](std::uint64_t, std::uint64_t operand) { return operand; }},
    {CHIME_AMO_INC, false, [](std::uint64_t word, std::uint64_t) { return word + 1; }},
};

template <class T>
void run_amo_rows() {
  // The neighbours of the word reveal an operation that is too wide.
  auto* const words = static_cast<T*>(chime_calloc(3, sizeof(T)));
  const T start = static_cast<T>(0xf0f0f0f0f0f0f0ffu),
          operand = static_cast<T>(0x8fff00ff0fff0f01u);
  for (const AmoRow& row : kAmoRows) {
    for (const bool fetch : {false, true}) {
      words[1] = start;
      const int launched = library_kernels_launched();
      const std::uint64_t old = chime_host_amo(row.op, fetch, words + 1, sizeof(T), operand, 0, 0);
      EXPECT_EQ(library_kernels_launched(), launched + 1);
      EXPECT_EQ(words[1], static_cast<T>(row.result(start, operand))) << "operation " << row.op;
      EXPECT_EQ(words[0], 0u);
      EXPECT_EQ(words[2], 0u);
      if (row.op == CHIME_AMO_SET) continue;  // returns nothing
      EXPECT_EQ(old, fetch || row.gives_old ? start : 0u) << "operation " << row.op;
    }
  }
  words[1] = start;
  EXPECT_EQ(chime_host_amo(CHIME_AMO_COMPARE_SWAP, 1, words + 1, sizeof(T), operand, 1, 0), start);
  EXPECT_EQ(words[1], start) << "the word was not as expected";
  EXPECT_EQ(chime_host_amo(CHIME_AMO_COMPARE_SWAP, 1, words + 1, sizeof(T), operand, start, 0),
            start);
  EXPECT_EQ(words[1], operand);
  chime_free(words);
}

TEST_F(GpuOps, AtomicsOfFourBytes) { run_amo_rows<std::uint32_t>(); }
TEST_F(GpuOps, AtomicsOfEightBytes) { run_amo_rows<std::uint64_t>(); }

TEST_F(GpuOps, TypedNamesReachTheTable) {
  auto* const number = static_cast<int*>(chime_calloc(1, sizeof(int)));
  auto* const real = static_cast<double*>(chime_calloc(1, sizeof(double)));
  chime_int_atomic_add(number, -5, 0);
  EXPECT_EQ(chime_int_atomic_fetch_inc(number, 0), -5);
  EXPECT_EQ(chime_int_atomic_compare_swap(number, -4, 7, 0), -4);
  EXPECT_EQ(chime_int_atomic_fetch(number, 0), 7);
  EXPECT_EQ(chime_double_atomic_swap(real, 2.5, 0), 0.0);
  EXPECT_EQ(chime_double_atomic_fetch(real, 0), 2.5);
}

TEST_F(GpuOps, AtomicsOfManyThreadsAreAllCounted) {
  auto* const word = static_cast<std::uint64_t*>(chime_calloc(1, sizeof(std::uint64_t)));
  constexpr int kThreads = 4, kTimes = 200;
  std::uint64_t sums[kThreads] = {};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&, i] {
      for (int n = 0; n < kTimes; ++n) sums[i] += chime_uint64_atomic_fetch_inc(word, 0);
    });
  for (std::thread& thread : threads) thread.join();
  // Each old value went to one thread: 0 + 1 + ... + (n - 1).
  constexpr std::uint64_t kAll = kThreads * kTimes;
  EXPECT_EQ(std::accumulate(sums, sums + kThreads, std::uint64_t{0}), kAll * (kAll - 1) / 2);
}

TEST_F(GpuOps, AtomicsThatCannotBeAreRefused) {
  auto* const word = static_cast<std::uint64_t*>(chime_calloc(1, sizeof(std::uint64_t)));
  chime_host_amo(99, 0, word, 8, 1, 0, 0);
  EXPECT_STREQ(chimex_last_error(), "an operation: there is no such atomic operation");
  chime_host_amo(CHIME_AMO_ADD, 0, word, 2, 1, 0, 0);
  EXPECT_NE(std::string(chimex_last_error()).find("4 and 8 bytes"), std::string::npos);
  chime_uint64_atomic_add(word, 1, 7);
  EXPECT_NE(std::string(chimex_last_error()).find("there is no PE 7"), std::string::npos);
  chime_uint64_atomic_add(reinterpret_cast<std::uint64_t*>(reinterpret_cast<char*>(word) + 4), 1,
                          0);
  EXPECT_NE(std::string(chimex_last_error()).find("is not aligned"), std::string::npos);
  std::uint64_t local = 0;
  chime_uint64_atomic_add(&local, 1, 0);
  EXPECT_EQ(local, 1u) << "memory of the calling PE";
}

// ---- Waits on a stream --------------------------------------------------------------------------

TEST_F(GpuOps, AnAbortEndsAWaitOnAStream) {
  exec::Stream stream;
  ASSERT_EQ(exec::stream_create(&stream), CHIMEX_OK);
  auto* const word = static_cast<std::uint64_t*>(chime_calloc(1, sizeof(std::uint64_t)));
  chimex_signal_wait_until_on_stream(word, CHIME_CMP_EQ, 1, stream);
  raise_abort(pe().device->control().abort,
              {.status = CHIMEX_ERR_PEER_DEAD, .pe = 3, .why = "PE 3 is gone", .exit_code = 1});
  EXPECT_EQ(exec::stream_synchronize(stream), CHIMEX_OK);
  chimex_async_error_t error;
  ASSERT_EQ(chimex_get_async_error(&error), CHIMEX_OK);
  EXPECT_EQ(error.status, CHIMEX_ERR_PEER_DEAD);
  EXPECT_EQ(error.pe, 3);
  EXPECT_NE(std::string(error.message).find("chime_signal_wait_until"), std::string::npos)
      << error.message;
  exec::stream_destroy(stream);
}

TEST_F(GpuOps, ElementsAndWaitsOnAStreamAreKernels) {
  exec::Stream stream;
  ASSERT_EQ(exec::stream_create(&stream), CHIMEX_OK);
  auto* const words = static_cast<std::uint64_t*>(chime_calloc(8, sizeof(std::uint64_t)));
  chimex_clear_last_error();
  chimex_signal_wait_until_on_stream(words + 7, CHIME_CMP_EQ, 1, stream);
  chimex_uint64_p_on_stream(words + 1, 7, 0, stream);
  EXPECT_EQ(exec::stream_synchronize({}), CHIMEX_OK);  // work given to another stream is done
  EXPECT_EQ(chime_uint64_g(words + 1, 0), 0u) << "before its turn";
  chimex_signal_op(words + 7, 1, CHIME_SIGNAL_SET, 0);
  chimex_uint64_iput_on_stream(words + 2, words, 2, 1, 2, 0, stream);
  EXPECT_EQ(chimex_uint64_g_on_stream(words + 4, 0, stream), 7u);
  chimex_uint64_iget_on_stream(words + 5, words + 1, 1, 3, 2, 0, stream);
  chimex_uint64_wait_until_all_on_stream(words + 4, 3, nullptr, CHIME_CMP_EQ, 7, stream);
  EXPECT_EQ(exec::stream_synchronize(stream), CHIMEX_OK);
  EXPECT_EQ(words[5], 7u);
  EXPECT_EQ(words[6], 7u);
  EXPECT_STREQ(chimex_last_error(), "");
  const int status[3] = {};
  chimex_uint64_wait_until_all_on_stream(words + 4, 3, status, CHIME_CMP_EQ, 8, stream);
  EXPECT_EQ(exec::stream_synchronize(stream), CHIMEX_OK);
  EXPECT_NE(std::string(chimex_last_error()).find("kernels do not reach the status"),
            std::string::npos)
      << chimex_last_error();
  exec::stream_destroy(stream);
}

TEST_F(GpuOps, AComparisonThatDoesNotExistIsReported) {
  exec::Stream stream;
  ASSERT_EQ(exec::stream_create(&stream), CHIMEX_OK);
  auto* const word = static_cast<std::uint64_t*>(chime_calloc(1, sizeof(std::uint64_t)));
  chimex_signal_wait_until_on_stream(word, 17, 1, stream);
  exec::stream_synchronize(stream);
  chimex_quiet_on_stream(stream);
  EXPECT_NE(std::string(chimex_last_error()).find("there is no comparison 17"), std::string::npos)
      << chimex_last_error();
  exec::stream_destroy(stream);
}

TEST_F(GpuOps, WaitsEndByTheirEventOrTheirTime) {
#ifdef CHIME_TSAN
  GTEST_SKIP()
      << "the stand-in copies by memcpy what another thread stores; a driver's copy does not race";
#endif
  auto word = static_cast<std::uint64_t*>(chime_calloc(1, sizeof(std::uint64_t)));
  const std::uint64_t value = 7;
  auto holds = [](const chime_wait_request& copy) -> std::size_t {
    return *static_cast<const std::uint64_t*>(copy.elements) >= 7;
  };
  try {
    gpu_ops::wait(pe(), words_request(word, 1, &value), holds, 20'000'000);
    FAIL() << "the wait ended without its event";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), CHIMEX_ERR_TIMEOUT);
  }
  Runtime& runtime = pe();
  std::thread sender([&] { gpu_ops::signal(runtime, word, 7, CHIME_SIGNAL_SET, 0); });
  gpu_ops::wait(pe(), words_request(word, 1, &value), holds, 0);
  sender.join();
}

TEST_F(GpuOps, APutToOneselfTakesMemoryAsItIs) {
  auto words = static_cast<int*>(chime_calloc(1, sizeof(int)));
  int local = 7;
  gpu_ops::put(pe(), words, &local, sizeof local, 0);
  int other = 0;
  gpu_ops::put(pe(), &other, words, sizeof other, 0);
  EXPECT_EQ(other, 7);
}

TEST_F(GpuOps, WhatIsOutsideIsRefused) {
  auto words = static_cast<int*>(chime_malloc(64));
  int local = 0;
  EXPECT_THROW(gpu_ops::put(pe(), words, &local, 4, 1), Error);
  EXPECT_THROW(gpu_ops::get(pe(), &local, words, std::size_t{1} << 40, 0), Error);
  gpu_ops::barrier(pe());
}

// ---- With CHIME_CHECK=2: both ends lie in allocations -------------------------------------------

class GpuOpsWithBounds : public GpuOps {
 protected:
  void SetUp() override {
    setenv("CHIME_CHECK", "2", 1);
    GpuOps::SetUp();
    chimex_clear_last_error();
    first = static_cast<char*>(chime_calloc(1, 520));
    second = static_cast<char*>(chime_calloc(1, 4096));
  }
  void TearDown() override {
    GpuOps::TearDown();
    unsetenv("CHIME_CHECK");
  }

  // Whether a call since the last check was refused for that.
  static bool is_refused() {
    const bool is_for_bounds =
        std::string(chimex_last_error()).find("(CHIME_CHECK=2)") != std::string::npos;
    chimex_clear_last_error();
    return is_for_bounds;
  }
  static std::uint64_t* word(char* at) { return reinterpret_cast<std::uint64_t*>(at); }

  char *first, *second;
};

TEST_F(GpuOpsWithBounds, LetWhatIsRight) {
  chime_putmem(first, second, 520, 0);
  EXPECT_FALSE(is_refused());
  chime_getmem(second + 4096 - 520, first, 520, 0);
  EXPECT_FALSE(is_refused());
  chime_uint64_iput(word(first), word(second), 64, 1, 2, 0);
  EXPECT_FALSE(is_refused());
  chime_uint64_atomic_inc(word(first + 512), 0);
  EXPECT_FALSE(is_refused());
  chime_putmem_signal(first, second, 512, word(first + 512), 1, CHIME_SIGNAL_ADD, 0);
  EXPECT_FALSE(is_refused());
  chimex_putmem_on_stream(first, second, 520, 0, nullptr);
  EXPECT_FALSE(is_refused());
}

// The end at the PE, then the end here.
TEST_F(GpuOpsWithBounds, RefuseBytesBeyond) {
  chime_putmem(first, second, 521, 0);
  EXPECT_TRUE(is_refused());
  chime_putmem(second, first, 521, 0);
  EXPECT_TRUE(is_refused());
  chime_getmem(second, first, 521, 0);
  EXPECT_TRUE(is_refused());
  chime_getmem(first, second, 521, 0);
  EXPECT_TRUE(is_refused());
  chime_uint64_iput(word(first), word(second), 65, 1, 2, 0);
  EXPECT_TRUE(is_refused());
  chime_uint64_iput(word(second), word(first), 1, 65, 2, 0);
  EXPECT_TRUE(is_refused());
  chime_uint64_iget(word(second), word(first), 1, 65, 2, 0);
  EXPECT_TRUE(is_refused());
  chime_uint64_iget(word(first), word(second), 65, 1, 2, 0);
  EXPECT_TRUE(is_refused());
}

TEST_F(GpuOpsWithBounds, RefuseWordsBeyond) {
  chime_uint64_p(word(first + 520), 1, 0);
  EXPECT_TRUE(is_refused());
  chime_uint64_g(word(second - 8), 0);
  EXPECT_TRUE(is_refused());
  chime_uint64_atomic_inc(word(first + 520), 0);
  EXPECT_TRUE(is_refused());
  chimex_signal_op(word(first + 520), 1, CHIME_SIGNAL_SET, 0);
  EXPECT_TRUE(is_refused());
  chime_putmem_signal(second, first, 8, word(first + 520), 1, CHIME_SIGNAL_SET, 0);
  EXPECT_TRUE(is_refused());
  chime_uint64_wait_until(word(first + 520), CHIME_CMP_GE, 0);
  EXPECT_TRUE(is_refused());
  chime_signal_fetch(word(first + 520));
  EXPECT_TRUE(is_refused());
}

// A signal follows its data, or is not sent.
TEST_F(GpuOpsWithBounds, RefuseDataBeyondAndItsSignal) {
  chime_putmem_signal(first, second, 521, word(second), 1, CHIME_SIGNAL_SET, 0);
  EXPECT_TRUE(is_refused());
  chime_putmem_signal(second + 8, first, 521, word(second), 1, CHIME_SIGNAL_SET, 0);
  EXPECT_TRUE(is_refused());
  EXPECT_EQ(*word(second), 0u);
}

TEST_F(GpuOpsWithBounds, RefuseOnStreams) {
  chimex_putmem_on_stream(first, second, 521, 0, nullptr);
  EXPECT_TRUE(is_refused());
  chimex_putmem_on_stream(second, first, 521, 0, nullptr);
  EXPECT_TRUE(is_refused());
  chimex_getmem_on_stream(second, first, 521, 0, nullptr);
  EXPECT_TRUE(is_refused());
  chimex_getmem_on_stream(first, second, 521, 0, nullptr);
  EXPECT_TRUE(is_refused());
  chimex_signal_op_on_stream(word(first + 520), 1, CHIME_SIGNAL_SET, 0, nullptr);
  EXPECT_TRUE(is_refused());
  chimex_putmem_signal_on_stream(second + 8, first, 521, word(second), 1, CHIME_SIGNAL_SET, 0,
                                 nullptr);
  EXPECT_TRUE(is_refused());
  EXPECT_EQ(*word(second), 0u);
}

}  // namespace
}  // namespace chime::host
