#include "chime/device/simt/threads/worker.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "chime/abi/start_thread.h"
#include "chime/device/simt/faults/immortal.hpp"
#include "chime/device/simt/faults/report.hpp"
#include "chime/device/simt/threads/block.hpp"
#include "chime/device/simt/threads/grid.hpp"

namespace chime::simt {

namespace {

// ---- Blocks of this process, for dumps ------------------------------------------------------

struct Registry {
  std::mutex mutex;
  std::vector<const Block*> blocks;
};

// An OS thread's block. On the heap: TSan assumes that thread-local memory belongs to one thread,
// but fibers read a block.
class RegisteredBlock {
 public:
  RegisteredBlock() {
    const TsanIgnores ignores;
    block_ = std::make_unique<Block>();
    const std::lock_guard lock(immortal<Registry>().mutex);
    immortal<Registry>().blocks.push_back(block_.get());
  }
  ~RegisteredBlock() {
    const TsanIgnores ignores;
    const std::lock_guard lock(immortal<Registry>().mutex);
    std::erase(immortal<Registry>().blocks, block_.get());
    block_.reset();
  }
  Block& block() { return *block_; }

 private:
  std::unique_ptr<Block> block_;
};

// ---- The pool -------------------------------------------------------------------------------

class Pool {
 public:
  void lend(const std::shared_ptr<Launch>& launch, unsigned count);

 private:
  void serve();
  std::shared_ptr<Launch> next_launch();

  std::mutex mutex_;
  std::condition_variable work_;
  std::deque<std::shared_ptr<Launch>> requests_;
  unsigned idle_ = 0;      // threads that wait for a request
  unsigned starting_ = 0;  // threads that will
};

void Pool::lend(const std::shared_ptr<Launch>& launch, unsigned count) {
  const TsanIgnores ignores;
  const std::lock_guard lock(mutex_);
  for (unsigned i = 0; i < count; ++i) requests_.push_back(launch);
  while (idle_ + starting_ < requests_.size()) {
    try {
      abi::start_thread([this] { serve(); }).detach();
    } catch (const std::runtime_error& error) {
      fatal("no OS thread for a block: %s; or lower CHIME_SIMT_RESIDENT", error.what());
    }
    ++starting_;
  }
  for (unsigned i = 0; i < count; ++i) work_.notify_one();
}

// Waits for a request. A thread that stays idle gives its stacks back, but stays.
std::shared_ptr<Launch> Pool::next_launch() {
  constexpr auto kKeepMemoryFor = std::chrono::milliseconds(200);
  std::unique_lock lock(mutex_);
  ++idle_;
  const auto has_request = [this] { return !requests_.empty(); };
  if (!work_.wait_for(lock, kKeepMemoryFor, has_request)) {
    this_worker_block().release_memory();
    work_.wait(lock, has_request);
  }
  --idle_;
  std::shared_ptr<Launch> launch = std::move(requests_.front());
  requests_.pop_front();
  return launch;
}

void Pool::serve() {
  const TsanIgnores* ignores = new TsanIgnores;
  {
    const std::lock_guard lock(mutex_);
    --starting_;
  }
  for (;;) {
    std::shared_ptr<Launch> launch = next_launch();
    delete ignores;
    run_blocks(*launch);
    ignores = new TsanIgnores;
    launch.reset();
  }
}

}  // namespace

Block& this_worker_block() {
  static thread_local RegisteredBlock registered;
  return registered.block();
}

void run_blocks(Launch& launch) {
  Block& block = this_worker_block();
  std::uint64_t rank = 0;
  while (launch.take_block(&rank)) {
    if (!launch.is_abandoned()) block.run(launch, rank);
    launch.block_done();
  }
}

void lend_workers(const std::shared_ptr<Launch>& launch, unsigned count) {
  if (count) immortal<Pool>().lend(launch, count);
}

void for_each_resident_block(const std::function<void(const Block&)>& visit) {
  const TsanIgnores ignores;
  const std::lock_guard lock(immortal<Registry>().mutex);
  for (const Block* block : immortal<Registry>().blocks) {
    block->look_at([&] { visit(*block); });
  }
}

}  // namespace chime::simt
