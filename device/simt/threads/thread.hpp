// The running CUDA thread for inline code in user binaries: its identity, and the calls into
// libchime.so by which it meets others. block.hpp has the rest.
#pragma once

#include <cstddef>
#include <cstdint>

#include "chime/device/simt/exec/cuda_names.hpp"
#include "chime/device/simt/exec/export.hpp"

namespace chime {
struct Context;
}

namespace chime::simt {

// One resident block, as its threads see it. Constant while the block runs.
struct BlockState {
  exec::dim3 grid_dim, block_dim;
  exec::uint3 block_idx{};
  std::uint64_t block_rank = 0;
  std::uint64_t grid_blocks = 0;
  unsigned threads = 0;
  bool seeded = false;      // memory operations are scheduling points
  bool weak = false;        // stores go through weak_store
  unsigned idle_turns = 0;  // since a thread made progress: more turns make longer pauses
  const Context* context = nullptr;
  std::byte* shared = nullptr;          // arena of CHIME_SHARED_VAR and _ARRAY
  std::byte* dynamic_shared = nullptr;  // the launch's shared_bytes
};

// A wait by polling that takes long, for reports (device/wait.cuh makes it).
struct LongWait {
  std::uint32_t kind = 0;  // a WaitKind; 0: none
  std::int32_t pe = -1;    // the PE that is to end it, if that is known
  const void* address = nullptr;
  std::uint64_t expected = 0;
  std::uint32_t bytes = 0;      // of the program's word at `address`; 0: it is not the program's
  std::int32_t comparison = 0;  // a Cmp: of that word with `expected`
};

struct ThreadState {
  BlockState* block = nullptr;
  exec::uint3 thread_idx{};
  unsigned rank = 0, lane = 0, warp = 0;
  unsigned polls = 0;  // since the kernel's start; see poll_tick
  LongWait long_wait;
  unsigned commitments = 0;  // not kept yet; meanwhile no failure of another thread ends this one
};

// The CUDA thread that this OS thread runs; null on host threads. `__thread` and initial-exec make
// it one load from user binaries. Fibers never move between OS threads, so a cached address stays
// right.
extern CHIME_SIMT_EXPORT __thread ThreadState* current_thread
    __attribute__((tls_model("initial-exec")));

CHIME_SIMT_EXPORT ThreadState* current_thread_out_of_line();
CHIME_SIMT_EXPORT void poll_tick_out_of_line();
CHIME_SIMT_EXPORT void wait_ended_out_of_line();

// Notes that the calling thread's wait takes long. Does nothing on a host thread.
CHIME_SIMT_EXPORT void wait_lasts(const LongWait& wait);

// Lets another thread of the block, another block or another process run. On a host thread:
// sched_yield with a growing sleep.
CHIME_SIMT_EXPORT void yield();

inline constexpr unsigned kPollsPerYield = 16;  // power of two

#if CHIME_SIMT_TSAN
inline ThreadState* current() { return current_thread_out_of_line(); }
inline void poll_tick(ThreadState*) { poll_tick_out_of_line(); }
inline void wait_ended(ThreadState*) { wait_ended_out_of_line(); }
#else
inline ThreadState* current() { return current_thread; }

// One turn of a loop that waits by loads. Only some turns let others run: the event may come from
// another process.
inline void poll_tick(ThreadState* self) {
  if ((++self->polls & (kPollsPerYield - 1)) == 0) yield();
}

// Notes that a thread's wait has got its event.
inline void wait_ended(ThreadState* self) {
  self->block->idle_turns = 0;
  self->long_wait.kind = 0;
}
#endif

// The same without the thread's request: it does not end there (end_kernel). Does nothing on a host
// thread.
CHIME_SIMT_EXPORT void preempt();

// A place where a seeded schedule may switch threads and drain buffered stores.
CHIME_SIMT_EXPORT void scheduling_point();

// ---- Rendezvous -----------------------------------------------------------------------------

enum class BlockReduction { kNone, kCount, kAnd, kOr };

// The threads that must come: those that have not ended, or all. With kAll a thread that has ended
// is an error.
enum class Attendance { kLiving, kAll };

CHIME_SIMT_EXPORT int sync_block(BlockReduction reduction, int value,
                                 Attendance attendance = Attendance::kLiving);
CHIME_SIMT_EXPORT int sync_named(int id, unsigned threads,
                                 BlockReduction reduction = BlockReduction::kNone, int value = 0);

// All threads of the block, or the lanes of `mask`, meet. True in the one that comes last: the
// others wait until it releases them.
CHIME_SIMT_EXPORT bool last_of_block();
CHIME_SIMT_EXPORT void let_block_go();
CHIME_SIMT_EXPORT bool last_of_warp(unsigned mask);
CHIME_SIMT_EXPORT void let_warp_go();
CHIME_SIMT_EXPORT void sync_grid();

// ---- Warp collectives -----------------------------------------------------------------------

enum class WarpOp : std::uint8_t { kNone, kSync, kShuffle, kBallot, kMatch, kReduce, kElect };

// A lane's value in a collective: up to 16 bytes.
struct LaneValue {
  std::uint64_t low = 0, high = 0;
};
using Combine = LaneValue (*)(LaneValue, LaneValue);

// Meets the lanes of `mask` in `op` and returns this lane's result. kShuffle: the value of lane
// `argument` (own value if that lane takes no part). kBallot: {lanes with low != 0, lanes that took
// part}. kMatch: {lanes with equal values}. kReduce: the combination of all values in lane order.
// kElect: {1 in one lane}.
CHIME_SIMT_EXPORT LaneValue warp_collective(WarpOp op, unsigned mask, LaneValue value,
                                            unsigned argument = 0, Combine combine = nullptr);

// The lanes of this warp that reach the same call site together: see Block::converge. The site is
// the caller's return address, so callers must be inlined.
CHIME_SIMT_EXPORT unsigned converged_lanes();

// ---- The end of a thread --------------------------------------------------------------------

// Ends the calling CUDA thread, or exits a host thread's process with a message. Destructors do not
// run.
[[noreturn]] CHIME_SIMT_EXPORT void end_thread();
// The same. The other threads of the launch end at their next pause, poll or rendezvous, and blocks
// that have not begun never do.
[[noreturn]] CHIME_SIMT_EXPORT void end_kernel();
// Between the two calls the calling thread does not end by another's end_kernel, but when it keeps
// its last commitment. Until then it may wait by polling, and for lanes of its warp that are
// committed, too. Nothing on a host thread.
CHIME_SIMT_EXPORT void commit();
CHIME_SIMT_EXPORT void keep_commitment();
[[noreturn]] CHIME_SIMT_EXPORT void trap(const char* why);

// ---- PE of a launch -------------------------------------------------------------------------

// The PE of kernels that the calling host thread launches. The value set here must stay valid until
// those kernels have ended. Without one, Launchers give the PE (device/simt/launch/launcher.hpp).
CHIME_SIMT_EXPORT void set_thread_context(const Context* context);
CHIME_SIMT_EXPORT const Context* thread_context();

}  // namespace chime::simt
