// One resident block: its threads, the one that runs, and its barriers. Owned by a worker, reused
// for block after block; only that worker's OS thread touches it.
//
// A thread is runnable, or waits (at a barrier or a warp collective), or has ended. The thread that
// completes a rendezvous makes the waiters runnable and continues. If no thread is runnable and
// some wait, nothing can ever release them: a deadlock.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "chime/device/simt/memory/bulk_copy.hpp"
#include "chime/device/simt/memory/fence_model.hpp"
#include "chime/device/simt/memory/group_sources.hpp"
#include "chime/device/simt/memory/store_buffer.hpp"
#include "chime/device/simt/threads/fiber.hpp"
#include "chime/device/simt/threads/random.hpp"
#include "chime/device/simt/threads/stack_pool.hpp"
#include "chime/device/simt/threads/thread.hpp"
#include "chime/device/simt/threads/thread_set.hpp"
#include "chime/device/simt/threads/warp.hpp"

namespace chime::simt {

struct Launch;

inline constexpr int kBarriers = 16;

struct Thread : ThreadState {
  Fiber fiber;
  const char* waits_at = nullptr;  // meaningful while not runnable
  unsigned wait_mask = 0;          // lanes of the collective it waits in
  unsigned group_lanes = 0;        // result of converged_lanes, 0 while the group is open
  unsigned held_lanes = 0;         // lanes that wait until this one releases them
  StoreBuffer stores;              // weak mode: stores that no other thread must see yet
  FenceModel fences;               // TSan
  std::uint64_t warp_calls = 0, block_calls = 0;  // the number of calls whose sources were checked
};

// The arguments of a barrier, equal for all its threads. Small, so that two registers hold it.
struct Meeting {
  const char* kind = nullptr;
  unsigned expected = 0;  // 0: every live thread of the block
  BlockReduction reduction = BlockReduction::kNone;

  bool operator==(const Meeting&) const = default;
};

struct Barrier {
  unsigned arrived = 0;
  Meeting meeting;
  int accumulated = 0, result = 0;
  ThreadSet waiting;
};

class Block : public BlockState {
 public:
  Block();
  ~Block();

  // Runs block `rank` of `launch` to its end on the calling OS thread.
  void run(Launch& launch, std::uint64_t rank);

  // ---- Called by the running thread ----

  void yield(Thread& self);
  void scheduling_point(Thread& self);
  int meet(Thread& self, int barrier, Meeting meeting, int value);
  void meet_grid(Thread& self);
  bool meet_and_hold(Thread& self, Meeting meeting);
  void let_block_go(Thread& self);
  bool lanes_meet_and_hold(Thread& self, unsigned mask);
  void let_warp_go(Thread& self);
  LaneValue collective(Thread& self, const LaneRequest& request);
  unsigned converge(Thread& self, const void* site);
  [[noreturn]] void end(Thread& self);
  [[noreturn]] void end_kernel(Thread& self);
  void keep_commitment(Thread& self);
  void preempt(Thread& self);
  BulkCopies& bulk_copies() { return bulk_copies_; }
  BlockStores& stores() { return stores_; }
  void warp_reads(Thread& self, const Source& source);
  void block_reads(Thread& self, const Source& source);

  // ---- Queries for reports ----

  const Launch* launch() const { return launch_; }
  const Thread& thread(unsigned rank) const { return threads_[rank]; }
  bool waits(unsigned rank) const { return live_.contains(rank) && !runnable_.contains(rank); }
  bool lives(unsigned rank) const { return live_.contains(rank); }
  // The barrier of sync_named that a thread waits at; 0 if it does not.
  int named_barrier_of(unsigned rank) const;
  // All of the block has come to the grid barrier, and the thread that came last waits there for
  // all.
  bool waits_for_grid() const;
  const Barrier& barrier(int id) const { return barriers_[static_cast<std::size_t>(id)]; }
  bool owns_guard(const void* address) const { return stacks_.is_guard(address); }

  // Calls `look()` if a block runs here. The block does not end meanwhile: its threads run on, but
  // their identity and their launch stay. May be called from another OS thread; `look` must be
  // short.
  template <class Look>
  void look_at(Look look) const {
    if (is_closed_.exchange(true, std::memory_order_acquire)) return;
    look();
    is_closed_.store(false, std::memory_order_release);
  }
  // The running thread; null for a moment at the block's beginning and end.
  const ThreadState* running() const { return *running_; }

  // Frees memory that only a running block needs.
  void release_memory();

 private:
  static void thread_main(void* thread);
  void set_up(Launch& launch, std::uint64_t rank);
  void set_up_threads();
  void set_up_shared_memory();
  void tear_down();

  Thread* pick_next(const Thread& self);
  void start_fiber(Thread& thread);
  void switch_to(Thread& self, Thread& next);
  void wait(Thread& self, const char* at, unsigned mask);
  void idle_turn();
  bool whole_turn_passed(const Thread& self, const Thread& next);

  void give_way(Thread& self);
  void leak(Thread& self);

  void end_if_abandoned(Thread& self);
  bool must_end(const Thread& self) const { return gives_up_ && self.commitments == 0; }
  void release_all_to_end();
  Thread* retire(Thread& self);
  void count_out(Thread& self);
  void check_stack(const Thread& self) const;

  bool is_complete(const Barrier& barrier) const;
  void complete(Barrier& barrier);

  LaneRequest come_to(Thread& self, const LaneRequest& request);
  void release_lanes(unsigned warp, unsigned lanes);
  const void* sync_cell(unsigned index) const {
    return kTsan ? sync_cells_.get() + index * 8 : nullptr;
  }

  void open_to_lookers() { is_closed_.store(false, std::memory_order_release); }
  void close_to_lookers();

  mutable std::atomic<bool> is_closed_{true};            // to lookers; also while one looks
  ThreadState* const* const running_ = &current_thread;  // the OS thread's
  Launch* launch_ = nullptr;
  Fiber main_;  // the worker's own stack
  std::vector<Thread> threads_;
  std::vector<Warp> warps_;
  ThreadSet runnable_, live_;
  ThreadSet withholding_;  // weak mode: threads that wait with stores in their own buffers
  unsigned live_count_ = 0;
  unsigned given_way_ = 0;        // switches in a random order since the last full round
  bool any_ended_early_ = false;  // by end_thread: a grid barrier counts the block out
  bool gives_up_ = false;         // the kernel is abandoned: no thread waits any more
  Random random_;
  std::array<Barrier, kBarriers> barriers_;
  StackPool stacks_;
  BulkCopies bulk_copies_;
  BlockStores stores_;
  GroupSources block_sources_;
  std::vector<GroupSources> warp_sources_;

  struct Free {
    void operator()(std::byte* memory) const;
  };
  using Memory = std::unique_ptr<std::byte, Free>;
  static Memory allocate(std::size_t bytes);
  Memory shared_memory_;
  std::size_t shared_capacity_ = 0;
  Memory sync_cells_;  // TSan: addresses that barriers order by, new for each block
};

inline StorePlace place_of(Thread& thread) { return {thread.warp, thread.stores}; }
inline Thread& running_thread() { return *static_cast<Thread*>(current_thread); }
inline Block& block_of(Thread& thread) { return *static_cast<Block*>(thread.block); }

}  // namespace chime::simt
