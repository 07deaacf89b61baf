#include "chime/device/simt/threads/grid.hpp"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <thread>

#include "chime/device/simt/exec/exec_threads.hpp"
#include "chime/device/simt/faults/report.hpp"
#include "chime/device/simt/faults/sanitizers.hpp"
#include "chime/device/simt/launch/kernel_name.hpp"
#include "chime/device/simt/launch/launcher.hpp"
#include "chime/device/simt/threads/worker.hpp"
#include "chime/device/simt/trace/recorder.hpp"

namespace chime::simt {

namespace {

void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t seen) {
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, seen, nullptr, nullptr, 0);
}

void futex_wake_all(const std::atomic<std::uint32_t>& word) {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

// Waits until `word` is no longer `seen`: a short spin, then sleep.
void wait_while(const std::atomic<std::uint32_t>& word, std::uint32_t seen) {
  constexpr int kSpins = 200;
  for (int i = 0; i < kSpins; ++i) {
    if (word.load(std::memory_order_acquire) != seen) return;
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
  while (word.load(std::memory_order_acquire) == seen) futex_wait(word, seen);
}

unsigned processors() {
  static const unsigned count = std::max(1u, std::thread::hardware_concurrency());
  return count;
}

}  // namespace

// ---- Grid barrier ---------------------------------------------------------------------------

void GridBarrier::open() {
  arrived_ = 0;
  generation_.fetch_add(1, std::memory_order_release);  // pairs with wait_while
  futex_wake_all(generation_);
}

void GridBarrier::arrive_and_wait() {
  std::uint32_t generation;
  {
    const TsanIgnores ignores;
    const std::lock_guard lock(mutex_);
    if (abandoned_) return;
    generation = generation_.load(std::memory_order_relaxed);
    if (++arrived_ == expected_) return open();
    if (arrived_ + returned_ == expected_) report_missing_blocks(arrived_, returned_);
  }
  wait_while(generation_, generation);
}

void GridBarrier::abandon() {
  const TsanIgnores ignores;
  const std::lock_guard lock(mutex_);
  abandoned_ = true;
  open();
}

void GridBarrier::count_out(bool early) {
  const TsanIgnores ignores;
  const std::lock_guard lock(mutex_);
  if (abandoned_) return;
  if (early) {
    --expected_;
  } else {
    ++returned_;
  }
  if (!arrived_) return;
  if (arrived_ == expected_) return open();
  if (arrived_ + returned_ == expected_) report_missing_blocks(arrived_, returned_);
}

EndedFibers::~EndedFibers() {
  for (void* fiber : fibers_) tsan_destroy_fiber(fiber);
}

void EndedFibers::add(void* fiber) {
  const TsanIgnores ignores;
  const std::lock_guard lock(mutex_);
  if (fibers_.size() < kMost) {
    fibers_.push_back(fiber);
  } else {
    tsan_destroy_fiber(fiber);
  }
}

// ---- Launch ---------------------------------------------------------------------------------

Launch::Launch(const exec::LaunchConfig& config_, const KernelCall& call_, const Context* context_,
               const Options& options_)
    : config(config_),
      call(call_),
      context(context_),
      options(options_),
      serial(next_launch_serial()),
      kernel_name(call_.name() ? call_.name() : simt::kernel_name(call_.address())),
      pe(pe_of_thread()),
      blocks(std::uint64_t{config_.grid.x} * config_.grid.y * config_.grid.z),
      grid_barrier(blocks),
      blocks_left(blocks) {}

void Launch::abandon() {
  if (!abandoned.exchange(true, std::memory_order_relaxed)) grid_barrier.abandon();
}

bool Launch::take_block(std::uint64_t* rank) {
  if (next_block.load(std::memory_order_relaxed) >= blocks) return false;
  *rank = next_block.fetch_add(1, std::memory_order_relaxed);
  return *rank < blocks;
}

void Launch::block_done() {
  if (blocks_left.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  done.store(1, std::memory_order_release);  // pairs with wait_until_done
  futex_wake_all(done);
}

void Launch::wait_until_done() {
  while (!done.load(std::memory_order_acquire)) wait_while(done, 0);
}

namespace {

// Asks for workers until the launch has `wanted`, within its limits.
void grow_to(Launch& launch, std::uint64_t wanted) {
  const std::uint64_t limit =
      std::min<std::uint64_t>(launch.blocks, launch.options.resident_blocks);
  wanted = std::min(wanted, limit);
  unsigned have = launch.workers.load(std::memory_order_relaxed);
  while (have < wanted) {
    const unsigned more = static_cast<unsigned>(wanted) - have;
    if (launch.workers.compare_exchange_weak(have, have + more, std::memory_order_relaxed)) {
      return lend_workers(launch.shared_from_this(), more);
    }
  }
}

}  // namespace

void grow(Launch& launch) {
  if (launch.next_block.load(std::memory_order_relaxed) >= launch.blocks) return;
  grow_to(launch, 2 * std::uint64_t{launch.workers.load(std::memory_order_relaxed)});
}

void grow_to_all(Launch& launch) { grow_to(launch, launch.blocks); }

void run_launch(const std::shared_ptr<Launch>& launch) {
  happens_before(launch.get());
  const TracedCall traced(
      {.name = launch->kernel_name,
       .pe = launch->pe,
       .launch = launch->serial + 1,
       .blocks = launch->blocks,
       .threads = launch->config.block.x * launch->config.block.y * launch->config.block.z});
  launch->start_ns = exec::clock_ns();
  launch->workers = 1;
  grow_to(*launch, processors());
  run_blocks(*launch);
  launch->wait_until_done();
  launch->stores.drain_all();  // a kernel's completion is a release
  happens_after(&launch->done);
}

}  // namespace chime::simt
