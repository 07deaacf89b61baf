// Message passing in weak mode: a relaxed store of a flag may be seen before the data, a release
// store may not.
#include <gtest/gtest.h>

#include "chime/device/simt/launch/options.hpp"
#include "form_case.hpp"
#include "run_kernel.hpp"

namespace softgpu::tests {
namespace {

class Litmus : public testing::Test {
 protected:
  void SetUp() override { before_ = chime::simt::options(); }
  void TearDown() override { chime::simt::set_options(before_); }

  // The number of runs in which the flag was there and the data was not.
  unsigned stale(std::uint32_t how) {
    unsigned count = 0;
    for (std::uint64_t seed = 1; seed <= kRuns; ++seed) {
      chime::simt::Options options = before_;
      options.seed = seed;
      options.weak = true;
      chime::simt::set_options(options);
      std::uint32_t data = 0, flag = 0, seen = 9;
      run(*module_.find("messages"), {.blocks = 2, .threads = 1, .watched = true}, &data, &flag,
          &seen, how);
      count += seen == 0;
    }
    return count;
  }

  static constexpr unsigned kRuns = 100;

 private:
  chime::simt::Options before_;
  Module module_{program("messages")};
};

TEST_F(Litmus, RelaxedFlagMayOvertakeTheData) {
  const unsigned count = stale(0);
  EXPECT_GT(count, kRuns / 20);
  EXPECT_LT(count, kRuns) << "in order it happens, too";
}
TEST_F(Litmus, ReleasedFlagNeverDoes) { EXPECT_EQ(stale(1), 0u); }
TEST_F(Litmus, FlagBehindAFenceNeverDoes) { EXPECT_EQ(stale(2), 0u); }

}  // namespace
}  // namespace softgpu::tests
