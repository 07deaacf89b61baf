// A path that no other file knows: its folder (third_path) and a bit in CHIME_PATHS are all.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <vector>

#include "chime/abi/words.h"
#include "chime/device/amo.cuh"
#include "chime/device/coll/barrier.cuh"
#include "chime/device/path/ops.cuh"
#include "chime/device/rma.cuh"
#include "chime/device/signal.cuh"
#include "chime/device/sync.cuh"
#include "fake_job.hpp"

namespace chime::tests {
namespace {

constexpr unsigned kDepth = 64;

// PE 0 reaches PE 1 by channels of the third path alone, `slots` of them.
class ThirdPath {
 public:
  explicit ThirdPath(unsigned slots = 1) : job(2), slots_(slots) {
    job.unmap(1);
    Context& ctx = job.context(0);
    ctx.pe.amo_path = Path::kProxy;
    ctx.pe.on_error = OnError::kReturn;
    ctx.pe.wait_timeout_ns = 60'000'000'000;
    ctx.channels.pool = {channels_.data(), &touched_, &watch_, 64};
    ctx.channels.route = route_.data();
    ctx.channels.count = 64;
    ctx.channels.slots = slots;
    route_[1] = abi::route_word(Path::kProxy, slots);
    for (int pe : {0, 1}) proxy::heaps[pe] = job.context(pe).pe.heap;
    for (unsigned slot = 0; slot < slots; ++slot) set_up(slots + slot);
  }

  const abi::Channel& channel(unsigned slot = 0) const { return channels_[slots_ + slot]; }

  FakeJob job;

 private:
  void set_up(unsigned index) {
    rings_.push_back(std::make_unique<proxy::Request[]>(kDepth));
    abi::Channel& channel = channels_[index];
    channel.head.depth = kDepth;
    channel.head.sharing = abi::Sharing::kGpu;
    channel.head.ring = reinterpret_cast<std::byte*>(rings_.back().get());
    channel.pe = 1;
    channel.path = Path::kProxy;
    channel.fault = &fault_;
    channel.watch = &watch_;
    channel.index = index;
    channel.progress.done = abi::kFresh;
  }

  const unsigned slots_;
  alignas(128) std::array<abi::Channel, 64> channels_{};
  std::vector<std::unique_ptr<proxy::Request[]>> rings_;
  std::array<std::uint32_t, 2> route_{};
  std::uint64_t touched_ = 0;
  abi::Watch watch_{};
  abi::ChannelFault fault_{};
};

// Every operation of the paths once, on words of their own at PE 1.
CHIME_KERNEL void every_operation(Context ctx, std::uint64_t* at, std::uint64_t* seen) {
  const std::uint64_t here[4] = {10, 11, 12, 13};
  put(ctx, Thread{}, at, here, 4, 1);
  get(ctx, Thread{}, seen, at, 4, 1);
  p(ctx, at + 4, std::uint64_t{14}, 1);
  quiet(ctx);
  seen[4] = g(ctx, at + 4, 1);
  iput(ctx, Thread{}, at + 5, here, 2, 1, 2, 1);
  iget(ctx, Thread{}, seen + 5, at, 1, 2, 2, 1);
  put_signal(ctx, Thread{}, at + 8, here, 2, {at + 10, 77, SignalOp::kSet}, 1);
  signal_op(ctx, {at + 10, 1, SignalOp::kAdd}, 1);
  atomic_set(ctx, at + 11, std::uint64_t{6}, 1);
  atomic_xor(ctx, at + 11, std::uint64_t{3}, 1);
  fence(ctx);
  seen[7] = atomic_fetch_add(ctx, at + 11, std::uint64_t{100}, 1);
  seen[8] = atomic_compare_swap(ctx, at + 11, std::uint64_t{105}, std::uint64_t{9}, 1);
  quiet(ctx);
}

TEST(ThirdPath, CarriesEveryOperation) {
  ThirdPath third;
  std::uint64_t seen[9] = {};
  run_block(1, every_operation, third.job.context(), third.job.data<std::uint64_t>(), seen);
  EXPECT_EQ(third.job.error().claimed, 0u);
  const std::uint64_t* const at = third.job.data<std::uint64_t>(1);
  const std::uint64_t there[] = {10, 11, 12, 13, 14, 10, 0, 11, 10, 11, 78, 9};
  for (std::size_t i = 0; i < std::size(there); ++i) EXPECT_EQ(at[i], there[i]) << "word " << i;
  const std::uint64_t here[] = {10, 11, 12, 13, 14, 10, 12, 5, 105};
  for (std::size_t i = 0; i < std::size(here); ++i) EXPECT_EQ(seen[i], here[i]) << "result " << i;
  EXPECT_NE(third.channel().producer.resv, 0u) << "it went another way";
}

CHIME_KERNEL void put_own_word(Context ctx, std::uint64_t* at) {
  const std::uint64_t rank = exec::grid_rank();
  for (int i = 0; i < 10; ++i) p(ctx, at + rank, rank + 1, 1);
  quiet(ctx);
}

// Lanes that meet, blocks that share the channels out, and a ring that is full now and then.
TEST(ThirdPath, SharesItsChannels) {
  ThirdPath third(2);
  exec::LaunchConfig config;
  config.grid = 4;
  config.block = 32;
  auto* const words = third.job.data<std::uint64_t>();
  ASSERT_EQ(exec::launch(config, put_own_word, third.job.context(), words), CHIMEX_OK);
  ASSERT_EQ(exec::stream_synchronize({}), CHIMEX_OK);
  for (std::uint64_t i = 0; i < 128; ++i) EXPECT_EQ(third.job.data<std::uint64_t>(1)[i], i + 1);
  for (unsigned slot : {0u, 1u}) {
    EXPECT_EQ(third.channel(slot).producer.resv, 640u);
    EXPECT_EQ(third.channel(slot).progress.done, 640u);
  }
}

// The quiet: nobody carries out the last arrival but who polls.
CHIME_KERNEL void meet(Context ctx) {
  for (int turn = 0; turn < 20; ++turn) barrier_all(ctx, Thread{});
  quiet(ctx);
}

TEST(ThirdPath, Meets) {
  ThirdPath third;
  third.job.run([&](int pe) { run_block(1, meet, third.job.context(pe)); });
  for (int pe : {0, 1}) {
    EXPECT_EQ(third.job.error(pe).claimed, 0u);
    EXPECT_EQ(third.job.context(pe).team.sync->flags[0].arrived, 20u);
  }
}

TEST(ThirdPath, IsLeftWhenItIsOutOfUse) {
  ThirdPath third;
  channel::stop(const_cast<abi::Channel&>(third.channel()), abi::status_word(abi::Stop::kClosed));
  std::uint64_t seen[9] = {};
  run_block(1, every_operation, third.job.context(), third.job.data<std::uint64_t>(), seen);
  EXPECT_EQ(third.job.error().status, CHIMEX_ERR_NETWORK);
  EXPECT_EQ(third.job.error().pe, 1);
}

// Members 2, 0 and 3 of four PEs, in this order.
TEST(Team, MeetsWithoutTheOthers) {
  FakeJob job(4);
  const std::int32_t pes[] = {2, 0, 3};
  for (int rank = 0; rank < 3; ++rank) {
    Context& ctx = job.context(pes[rank]);
    ctx.team.my_rank = rank;
    ctx.team.size = 3;
    ctx.team.pes = pes;
  }
  job.run([&](int pe) {
    if (pe != 1) run_block(1, meet, job.context(pe));
  });
  for (int pe : {0, 2, 3}) EXPECT_EQ(job.context(pe).team.sync->epoch, 20u);
  EXPECT_EQ(job.context(1).team.sync->epoch, 0u);
}

}  // namespace
}  // namespace chime::tests
