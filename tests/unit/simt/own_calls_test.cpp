// Kernels that a separate runtime builds on the executor: they have a name that no linker has, and
// their launcher gets the traps.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "chime/device/exec/exec.cuh"
#include "chime/device/simt/faults/sanitizers.hpp"
#include "chime/device/simt/launch/options.hpp"

namespace {

using namespace chime;

struct Seen {
  std::mutex mutex;
  std::vector<std::string> traps;
};

class OwnCall final : public simt::KernelCall {
 public:
  OwnCall(std::function<void()> body, Seen* seen) : body_(std::move(body)), seen_(seen) {}
  void run_thread() const override { body_(); }
  const void* address() const override { return this; }
  const char* name() const override { return "kernel_of_the_test"; }
  bool take_trap(const char* words) const override {
    if (!seen_) return false;
    const std::lock_guard lock(seen_->mutex);
    seen_->traps.push_back(words);
    return true;
  }

 private:
  const std::function<void()> body_;
  Seen* const seen_;
};

void run(exec::dim3 grid, exec::dim3 block, std::function<void()> body, Seen* seen = nullptr) {
  exec::LaunchConfig config;
  config.grid = grid;
  config.block = block;
  ASSERT_EQ(simt::launch_call(config, std::make_unique<OwnCall>(std::move(body), seen)), CHIMEX_OK);
  ASSERT_EQ(exec::stream_synchronize({}), CHIMEX_OK);
}

class OwnCalls : public testing::TestWithParam<std::uint64_t> {
 protected:
  void SetUp() override {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    simt::Options options = simt::options();
    options.seed = GetParam();
    simt::set_options(options);
  }
  void TearDown() override { simt::set_options({}); }
};

TEST_P(OwnCalls, ReportsGiveTheirName) {
  if (simt::kAsan || simt::kTsan) GTEST_SKIP() << "a sanitizer reports faults itself";
  EXPECT_DEATH(run(1, 2, [] { *static_cast<volatile int*>(nullptr) = 1; }), "kernel_of_the_test");
}

TEST_P(OwnCalls, ATrapThatNoHandlerTakesEndsTheProcess) {
  EXPECT_DEATH(run(1, 2, [] { simt::trap("too bad"); }),
               "thread \\([01],0,0\\) of block \\(0,0,0\\): trap: too bad");
}

TEST_P(OwnCalls, ATrapThatIsTakenEndsTheWholeLaunchAndNamesTheThread) {
  Seen seen;
  std::atomic<int> went_on{0};
  run(
      1, 64,
      [&] {
        if (exec::thread_rank() == 40) simt::trap("too bad");
        exec::sync_whole_block();
        ++went_on;
      },
      &seen);
  EXPECT_EQ(seen.traps,
            std::vector<std::string>{"thread (40,0,0) of block (0,0,0): trap: too bad"});
  EXPECT_EQ(went_on, 0);
}

TEST_P(OwnCalls, OtherKernelsRunAfterATrap) {
  Seen seen;
  run(
      4, 32, [] { simt::trap("too bad"); }, &seen);
  EXPECT_FALSE(seen.traps.empty());
  std::atomic<int> threads{0};
  run(
      4, 32, [&] { ++threads; }, &seen);
  EXPECT_EQ(threads, 128);
}

INSTANTIATE_TEST_SUITE_P(Seeds, OwnCalls, testing::Values(0, 3, 4),
                         [](const auto& info) { return "Seed" + std::to_string(info.param); });

}  // namespace
