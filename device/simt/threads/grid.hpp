// A launch: its blocks, the OS threads that run them, and the barrier of the whole grid.
//
// Workers take blocks in order. A launch starts with as many workers as the machine has processors.
// It gets more, up to its resident limit, as soon as a block only waits, because another block may
// be the one that it waits for. So blocks that wait for each other all run, and blocks that do not
// wait cost no threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "chime/device/simt/exec/exec_host.hpp"
#include "chime/device/simt/launch/options.hpp"
#include "chime/device/simt/memory/store_buffer.hpp"

namespace chime {
struct Context;
}

namespace chime::simt {

// All blocks of a cooperative launch meet here. One thread per block arrives, for all of its block.
class GridBarrier {
 public:
  explicit GridBarrier(std::uint64_t blocks) : expected_(blocks) {}

  // Returns when every block that can still arrive has arrived.
  void arrive_and_wait();

  // The kernel is abandoned: no thread waits here any more, and a missing block is not an error.
  void abandon();

  // A block has ended. `early`: a thread of it ended by end_thread, so that no arrival is missing.
  // A block that simply returned while others wait here is an error, which is reported.
  void count_out(bool early);

 private:
  void open();  // REQUIRES: mutex_

  std::mutex mutex_;
  std::uint64_t expected_;  // blocks that have not ended early
  std::uint64_t arrived_ = 0;
  std::uint64_t returned_ = 0;
  bool abandoned_ = false;
  std::atomic<std::uint32_t> generation_{0};
};

// TSan's fibers of blocks that have ended. TSan gives a destroyed fiber's number to a new one, and
// then treats the two as one thread, which cannot race with itself. So these fibers live until the
// launch ends, unless there are too many (TSan holds 8128).
class EndedFibers {
 public:
  ~EndedFibers();
  void add(void* fiber);

 private:
  static constexpr std::size_t kMost = 2048;
  std::mutex mutex_;
  std::vector<void*> fibers_;
};

struct Launch : std::enable_shared_from_this<Launch> {
  Launch(const exec::LaunchConfig& config, const KernelCall& call, const Context* context,
         const Options& options);

  // Constant.
  const exec::LaunchConfig config;
  const KernelCall& call;
  const Context* const context;
  const Options options;
  const std::uint64_t serial;  // launches since set_options: part of the schedule's seed
  const char* const kernel_name;
  const int pe;  // the PE of the host thread that launched it; -1: none
  const std::uint64_t blocks;

  GridBarrier grid_barrier;
  GridStores stores;  // weak mode
  EndedFibers ended_fibers;

  // ---- The end by end_kernel ----

  // A thread ended by end_kernel: no block starts any more, and running blocks end their threads.
  void abandon();
  // No read depends on it, so it needs no order: a block may see it late.
  bool is_abandoned() const { return abandoned.load(std::memory_order_relaxed); }

  // ---- Progress ----

  // The next block to run; false if there is none left.
  bool take_block(std::uint64_t* rank);
  void block_done();
  void wait_until_done();

  std::uint64_t start_ns = 0;  // exec::clock_ns() when its stream got to it
  std::atomic<std::uint64_t> next_block{0};
  std::atomic<std::uint64_t> blocks_left;
  std::atomic<unsigned> workers{0};
  std::atomic<std::uint32_t> done{0};
  std::atomic<bool> abandoned{false};
};

// Launches since set_options. Defined in device/simt/launch/options.cpp.
std::uint64_t next_launch_serial();

// Runs all of `launch` on the calling OS thread and on workers, and returns when it is done.
void run_launch(const std::shared_ptr<Launch>& launch);

// A block of `launch` waits without progress: more blocks must become resident, or all of them.
void grow(Launch& launch);
void grow_to_all(Launch& launch);

}  // namespace chime::simt
