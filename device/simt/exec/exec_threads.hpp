// exec on the CPU: the identity of a thread, and how threads meet, wait and end.
#pragma once

#include <sys/eventfd.h>
#include <time.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "chime/device/simt/threads/thread.hpp"

namespace chime::exec {

// ---- Identity -------------------------------------------------------------------------------

inline bool in_kernel() { return simt::current() != nullptr; }
inline uint3 thread_idx() { return simt::current()->thread_idx; }
inline uint3 block_idx() { return simt::current()->block->block_idx; }
inline dim3 block_dim() { return simt::current()->block->block_dim; }
inline dim3 grid_dim() { return simt::current()->block->grid_dim; }
inline unsigned lane_id() { return simt::current()->lane; }
// Lanes of the warp below or above the calling one, as a mask; 0 on a host thread.
inline unsigned lanes_below() { return in_kernel() ? (1u << lane_id()) - 1 : 0; }
inline unsigned lanes_above() { return in_kernel() ? ~0u << lane_id() << 1 : 0; }
inline unsigned warp_id() { return simt::current()->warp; }
inline unsigned thread_rank() { return simt::current()->rank; }
inline unsigned block_threads() { return simt::current()->block->threads; }
inline unsigned block_rank() { return static_cast<unsigned>(simt::current()->block->block_rank); }
inline unsigned grid_blocks() { return static_cast<unsigned>(simt::current()->block->grid_blocks); }
inline std::uint64_t grid_rank() {
  const simt::ThreadState* self = simt::current();
  return self->block->block_rank * self->block->threads + self->rank;
}
inline std::uint64_t grid_threads() {
  const simt::BlockState* block = simt::current()->block;
  return block->grid_blocks * block->threads;
}

// The PE of the running kernel, or of the calling host thread. Null if there is none.
inline const Context* launch_context() {
  const simt::ThreadState* self = simt::current();
  return self ? self->block->context : simt::thread_context();
}
inline bool may_run_for_nobody() { return true; }

// ---- Rendezvous -----------------------------------------------------------------------------

inline void sync_whole_block() {
  simt::sync_block(simt::BlockReduction::kNone, 0, simt::Attendance::kAll);
}
inline bool sync_whole_block_or(bool p) {
  return simt::sync_block(simt::BlockReduction::kOr, p, simt::Attendance::kAll) != 0;
}
inline void sync_block() { simt::sync_block(simt::BlockReduction::kNone, 0); }
inline int sync_block_count(bool p) { return simt::sync_block(simt::BlockReduction::kCount, p); }
inline bool sync_block_and(bool p) { return simt::sync_block(simt::BlockReduction::kAnd, p) != 0; }
inline bool sync_block_or(bool p) { return simt::sync_block(simt::BlockReduction::kOr, p) != 0; }

// Barrier `id` (1 to 15) of some warps, `threads` threads in all. If the block's end makes a warp
// shorter, it counts as a whole one. Id 0 is sync_block's.
inline void sync_named(int id, unsigned threads) { simt::sync_named(id, threads); }
inline bool sync_named_or(int id, unsigned threads, bool p) {
  return simt::sync_named(id, threads, simt::BlockReduction::kOr, p) != 0;
}

// All threads of the grid. Cooperative launches only.
inline void sync_grid() { simt::sync_grid(); }

inline void sync_warp(unsigned mask = ~0u) { simt::warp_collective(simt::WarpOp::kSync, mask, {}); }

// ---- Calls of a group -----------------------------------------------------------------------

// A call that a block or a warp makes together: all members meet when it begins and when it ends.
// The value is the calling thread's part of the work between.
enum class Part { kOwn, kAll, kNone };

namespace detail {

// Threads of a block take turns here, so one of them does the work of all as soon as all have come,
// and they meet once. Where accesses are watched, each thread does its own part, as on a GPU.
inline bool one_does_all() {
#if CHIME_SIMT_TSAN
  return false;
#else
  const simt::ThreadState* self = simt::current();
  return self != nullptr && !self->block->seeded;
#endif
}

}  // namespace detail

inline Part enter_whole_block() {
  if (detail::one_does_all()) return simt::last_of_block() ? Part::kAll : Part::kNone;
  sync_whole_block();
  return Part::kOwn;
}
inline void leave_whole_block(Part part) {
  if (part == Part::kAll) simt::let_block_go();
  if (part == Part::kOwn) sync_whole_block();
}
inline Part enter_warp(unsigned mask) {
  if (detail::one_does_all()) return simt::last_of_warp(mask) ? Part::kAll : Part::kNone;
  sync_warp(mask);
  return Part::kOwn;
}
inline void leave_warp(unsigned mask, Part part) {
  if (part == Part::kAll) simt::let_warp_go();
  if (part == Part::kOwn) sync_warp(mask);
}

// ---- Warp collectives -----------------------------------------------------------------------

inline constexpr unsigned kWarpSize = 32;

namespace detail {

template <class T>
simt::LaneValue to_lane_value(const T& value) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(simt::LaneValue));
  simt::LaneValue result;
  std::memcpy(static_cast<void*>(&result), &value, sizeof(T));
  return result;
}

template <class T>
T from_lane_value(const simt::LaneValue& value) {
  T result;
  std::memcpy(static_cast<void*>(&result), &value, sizeof(T));
  return result;
}

template <class T>
T shuffle(unsigned mask, const T& value, unsigned source) {
  return from_lane_value<T>(
      simt::warp_collective(simt::WarpOp::kShuffle, mask, to_lane_value(value), source));
}

}  // namespace detail

template <class T>
T shfl(unsigned mask, T value, int lane) {
  return detail::shuffle(mask, value, static_cast<unsigned>(lane) % kWarpSize);
}
template <class T>
T shfl_xor(unsigned mask, T value, int lanes) {
  return detail::shuffle(mask, value, (lane_id() ^ static_cast<unsigned>(lanes)) % kWarpSize);
}
template <class T>
T shfl_up(unsigned mask, T value, unsigned delta) {
  const unsigned lane = lane_id();
  return detail::shuffle(mask, value, lane >= delta ? lane - delta : lane);
}
template <class T>
T shfl_down(unsigned mask, T value, unsigned delta) {
  const unsigned lane = lane_id();
  return detail::shuffle(mask, value, lane + delta < kWarpSize ? lane + delta : lane);
}

inline unsigned ballot(unsigned mask, bool p) {
  return static_cast<unsigned>(simt::warp_collective(simt::WarpOp::kBallot, mask, {p, 0}).low);
}
inline bool any(unsigned mask, bool p) { return ballot(mask, p) != 0; }
inline bool all(unsigned mask, bool p) {
  const simt::LaneValue votes = simt::warp_collective(simt::WarpOp::kBallot, mask, {p, 0});
  return votes.low == votes.high;
}
template <class T>
unsigned match_any(unsigned mask, T value) {
  return static_cast<unsigned>(
      simt::warp_collective(simt::WarpOp::kMatch, mask, detail::to_lane_value(value)).low);
}
template <class T>
T reduce_add(unsigned mask, T value) {
  const simt::Combine add = [](simt::LaneValue a, simt::LaneValue b) {
    return detail::to_lane_value<T>(detail::from_lane_value<T>(a) + detail::from_lane_value<T>(b));
  };
  return detail::from_lane_value<T>(
      simt::warp_collective(simt::WarpOp::kReduce, mask, detail::to_lane_value(value), 0, add));
}

// The lanes that are at this call together. Not a rendezvous: the result depends on the schedule.
__attribute__((always_inline)) inline unsigned active_mask() {
  const unsigned lanes = simt::converged_lanes();
  __asm__ volatile("");  // no tail call: the executor identifies this site by its return address
  return lanes;
}

// In a mask of 4 or 8 bytes: how many bits are set, and the number of the lowest (undefined if none
// is).
template <class Mask>
unsigned count_bits(Mask mask) {
  return static_cast<unsigned>(std::popcount(mask));
}
template <class Mask>
unsigned lowest_bit(Mask mask) {
  return static_cast<unsigned>(std::countr_zero(mask));
}

// True in exactly one of the lanes of `mask`, which meet here.
inline bool elect_one(unsigned mask) {
  return simt::warp_collective(simt::WarpOp::kElect, mask, {}).low != 0;
}

// ---- Waiting and ending ---------------------------------------------------------------------

// One turn of a spin loop.
inline void pause() { simt::yield(); }

// Wakes the thread that polls this eventfd. Called by host threads.
inline void raise_event(int event) { eventfd_write(event, 1); }

// Notes for reports that a wait by polling takes long, and its event. `kind` is a WaitKind,
// `comparison` a Cmp. Valid until wait_ended.
inline void wait_lasts(std::uint32_t kind, const void* address, std::uint64_t expected, int pe,
                       std::uint32_t bytes, int comparison) {
  simt::wait_lasts({kind, pe, address, expected, bytes, comparison});
}

// Notes that a wait is over, so that the next one polls without pauses again. Without this a kernel
// that only waits would wait with ever longer pauses.
inline void wait_ended() {
  if (simt::ThreadState* self = simt::current()) simt::wait_ended(self);
}

// Nanoseconds of the system-wide monotonic clock: comparable between processes.
inline std::uint64_t clock_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(now.tv_nsec);
}

// A cheap counter that grows with time, of no stated unit.
inline std::uint64_t clock() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  return clock_ns();
#endif
}

// Lets others run for about `ns`.
inline void nanosleep(unsigned ns) {
  const std::uint64_t end = clock_ns() + ns;
  do {
    simt::yield();
  } while (clock_ns() < end);
}

// Ends the calling thread; barriers no longer count it.
[[noreturn]] inline void end_thread() { simt::end_thread(); }

// Ends the calling thread because its kernel cannot do its work. The kernel's other threads end
// where they next pause, poll or meet others; their remaining work is not done. The launch
// completes.
[[noreturn]] inline void end_kernel() { simt::end_kernel(); }

// While an object of this class lives, the calling thread does not end because another one called
// end_kernel: it finishes work that it has begun and on which others rely. Meanwhile it may poll,
// and meet lanes of its warp that are committed, too. Objects nest; the thread ends with the
// outermost one.
class Committed {
 public:
  Committed() { simt::commit(); }
  ~Committed() { simt::keep_commitment(); }
  Committed(const Committed&) = delete;
  Committed& operator=(const Committed&) = delete;
};

// Ends the process with `why` and the thread's coordinates.
[[noreturn]] inline void trap(const char* why) { simt::trap(why); }

}  // namespace chime::exec
