// Words that a NIC and the proxy of the owning PE update at the same time.
#include "host/memory/loopback_words.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <span>
#include <thread>

#include "bootstrap/bootstrap.hpp"
#include "chime/device/amo.cuh"
#include "host/errors/error.hpp"
#include "host/gpu/factory.hpp"
#include "host/peers/connector.hpp"
#include "host/peers/control.hpp"
#include "host/transport/channels/tables.hpp"
#include "host/transport/mlx5/transport.hpp"
#include "proxy/heap_words.hpp"

namespace chime::host {
namespace {

constexpr std::size_t kHeapBytes = 1 << 20;

NicOptions soft_nic() {
  NicOptions options;
  options.device = "soft";
  options.softnic_library = CHIME_TEST_SOFTNIC;
  return options;
}

// A single PE, with a NIC that is slow between the load and the store of an atomic.
class LoopbackWordsTest : public testing::Test {
 protected:
  LoopbackWordsTest() {
    peers_.add(nic_);
    Connector(*job_, gpu_->allocate_host_visible(sizeof(ControlBlock)), peers_,
              std::chrono::steady_clock::now() + std::chrono::seconds(60))
        .connect(nic_);
    const ChannelNeeds needs = nic_.channel_needs();
    tables_.emplace(*gpu_, 1, std::span(&needs, 1));
    nic_.make_view(*tables_);
    tables_->publish();
  }

  Context context(ContextOwner owner) {
    Context context;
    context.pe.my_pe = 0;
    context.pe.n_pes = 1;
    context.pe.heap = heap_->address();
    context.pe.heap_bytes = kHeapBytes;
    context.pe.peer_heap = peer_heap_;
    context.pe.dead = &dead_;
    context.pe.abort = &abort_;
    context.pe.error = context.pe.async_error = &error_;
    context.pe.wait_timeout_ns = 60'000'000'000;
    context.pe.amo_path = Path::kNic;
    tables_->view(owner, context);
    return context;
  }
  LoopbackWords words() {
    return {context(ContextOwner::kHost),
            std::make_unique<proxy::HeapWords>(std::span(heap_->address(), kHeapBytes))};
  }
  template <class Word>
  Word& word_at(std::uint64_t at) {
    return *reinterpret_cast<Word*>(heap_->address() + at);
  }

  const bool takes_its_time_ = setenv("SOFTNIC_FAULTS", "slow_atomics:us=20", 1) == 0;
  std::unique_ptr<bootstrap::Bootstrap> job_ = bootstrap::make_bootstrap();
  std::unique_ptr<Gpu> gpu_ = open_simt_gpu();
  std::unique_ptr<DeviceMemory> heap_ = gpu_->allocate_heap(kHeapBytes);
  Mlx5Transport nic_{{0, 1, job_->job_id()}, *gpu_, *heap_, soft_nic()};
  PeerTable peers_{{0, 1, AmoChoice::kAuto}};
  std::optional<ChannelTables> tables_;
  std::byte* peer_heap_[1] = {nullptr};
  std::uint64_t dead_ = 0;
  abi::AbortWord abort_{};
  abi::ErrorRecord error_{};
};

// The word after an update and its result, written here without Chime's tables.
struct Row {
  AmoOp op;
  std::uint64_t before, operand, compare, after;
};
constexpr Row kRows[] = {
    {AmoOp::kFetch, 7, 99, 99, 7},
    {AmoOp::kSet, 7, 9, 0, 9},
    {AmoOp::kAdd, 7, 9, 0, 16},
    {AmoOp::kAnd, 12, 10, 0, 8},
    {AmoOp::kOr, 12, 10, 0, 14},
    {AmoOp::kXor, 12, 10, 0, 6},
    {AmoOp::kCompareSwap, 7, 9, 7, 9},
    {AmoOp::kCompareSwap, 7, 9, 8, 7},
    {AmoOp::kAdd, 0xffffffff, 1, 0, 1ull << 32},
};

TEST_F(LoopbackWordsTest, EachUpdateLeavesWhatItShouldAndGivesBackWhatWasThere) {
  LoopbackWords words = this->words();
  for (const Row& row : kRows) {
    SCOPED_TRACE(static_cast<int>(row.op));
    auto& wide = word_at<std::uint64_t>(64);
    wide = row.before;
    EXPECT_EQ(words.update(64, {row.op, 8, row.operand, row.compare}), row.before);
    EXPECT_EQ(wide, row.after);
    auto* const narrow = &word_at<std::uint32_t>(128);
    narrow[0] = static_cast<std::uint32_t>(row.before);
    narrow[1] = 0x5a5a5a5a;
    EXPECT_EQ(words.update(128, {row.op, 4, row.operand, row.compare}),
              static_cast<std::uint32_t>(row.before));
    EXPECT_EQ(narrow[0], static_cast<std::uint32_t>(row.after));
    EXPECT_EQ(narrow[1], 0x5a5a5a5au);
  }
}

TEST_F(LoopbackWordsTest, NoUpdateOfTheNicIsLostNorOneOfTheProxy) {
  // At least so many of each, while the other goes on: some time slices of a busy machine.
  constexpr std::uint64_t kTimes = 2000;
  LoopbackWords words = this->words();
  std::atomic<bool> is_over = false;
  std::atomic<std::uint64_t> by_proxy = 0;
  std::thread proxy([&] {
    for (; !is_over; ++by_proxy) words.update(64, {AmoOp::kAdd, 8, 1, 0});
  });
  const Context kernels = context(ContextOwner::kKernels);
  std::uint64_t by_kernels = 0;
  while (by_proxy == 0) std::this_thread::yield();
  for (; by_kernels < kTimes || by_proxy < kTimes; ++by_kernels)
    atomic_fetch_add(kernels, &word_at<std::uint64_t>(64), std::uint64_t{1}, 0);
  is_over = true;
  proxy.join();
  EXPECT_EQ(word_at<std::uint64_t>(64), by_kernels + by_proxy) << "updates were lost";
}

// A thread that waits for the proxy must not wait for ever.
TEST_F(LoopbackWordsTest, AnUpdateThatNeverEndsIsAnError) {
  LoopbackWords words = this->words();
  words.update(64, {AmoOp::kAdd, 8, 1, 0});
  nic_.fail(0);
  EXPECT_THROW(words.update(64, {AmoOp::kAdd, 8, 1, 0}), Error);
}

}  // namespace
}  // namespace chime::host
