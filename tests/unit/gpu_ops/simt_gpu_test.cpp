// Signals that the CPU device's driver adds are atomic: another processor adds after each of its
// instructions, and no add is lost.
#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <cstdint>
#include <memory>

#include "host/gpu/factory.hpp"

namespace chime::host {
namespace {

#if defined(__x86_64__) && !defined(CHIME_TSAN)  // TSan takes no signal after each instruction

std::uint64_t word = 0;
unsigned other_adds = 0;

void add_as_another_processor(int) {
  std::atomic_ref(word).fetch_add(1);
  ++other_adds;
}

constexpr std::uint64_t kTrapFlag = 0x100;
void step_by_step(bool on) {
  const std::uint64_t flags = __builtin_ia32_readeflags_u64();
  __builtin_ia32_writeeflags_u64(on ? flags | kTrapFlag : flags & ~kTrapFlag);
}

TEST(SimtGpu, SignalsThatAreAddedLoseNoOtherAdd) {
  const std::unique_ptr<Gpu> gpu = open_simt_gpu();
  struct sigaction stepping = {}, before = {};
  stepping.sa_handler = add_as_another_processor;
  ASSERT_EQ(sigaction(SIGTRAP, &stepping, &before), 0);
  step_by_step(true);
  gpu->signal(&word, 1000, true);
  step_by_step(false);
  sigaction(SIGTRAP, &before, nullptr);
  EXPECT_GT(other_adds, 3u);
  EXPECT_EQ(word, 1000u + other_adds);
}

#endif

}  // namespace
}  // namespace chime::host
