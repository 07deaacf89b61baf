#include "softgpu/first_compilation.hpp"

#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <thread>

#include "softgpu/launcher.hpp"

namespace softgpu {

using namespace std::chrono_literals;

namespace {

constexpr auto kQuiet = 2s;
constexpr auto kNap = 2ms;

constinit std::atomic<std::int64_t> waited_ns{0};
constinit std::atomic<bool> said{false};

}  // namespace

void CompilerWait::nap() {
  std::this_thread::sleep_for(kNap);
  const auto now = std::chrono::steady_clock::now();
  const std::int64_t ns = std::chrono::nanoseconds(now - counted_).count();
  counted_ = now;
  if (waited_ns.fetch_add(ns) + ns < std::chrono::nanoseconds(kQuiet).count()) return;
  if (said.exchange(true) || !is_first_of_job()) return;
  std::fprintf(stderr,
               "softgpu[%d]: compiling this program's kernels for the CPU. It takes a while the "
               "first time; they are kept in %s (CHIME_SOFTGPU_CACHE)\n",
               static_cast<int>(::getpid()), folder_.c_str());
}

}  // namespace softgpu
