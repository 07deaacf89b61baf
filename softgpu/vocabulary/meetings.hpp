// How threads of translated code meet: barriers of the block, collectives of a warp.
#pragma once

#include "chime/device/simt/exec/exec_threads.hpp"
#include "softgpu/vocabulary/memory.hpp"

namespace softgpu {

// ---- Barriers of the block -------------------------------------------------------------------

SOFTGPU_INLINE bool is_all_of_block(const Env& e, u32 threads) {
  return threads == 0 || threads == e.thread->block->threads;
}
// `threads`: 0 for all.
template <simt::BlockReduction kReduction>
SOFTGPU_INLINE u32 bar_red(const Env& e, u32 id, u32 threads, bool p) {
  if (id == 0 && is_all_of_block(e, threads))
    return static_cast<u32>(simt::sync_block(kReduction, p));
  if (id == 0 || id > 15)
    simt::trap("a barrier of some threads of a block has a number from 1 to 15");
  const u32 of_all = (e.thread->block->threads + 31) / 32 * 32;
  return static_cast<u32>(
      simt::sync_named(static_cast<int>(id), threads ? threads : of_all, kReduction, p));
}
SOFTGPU_INLINE void bar_sync(const Env& e, u32 id, u32 threads) {
  bar_red<simt::BlockReduction::kNone>(e, id, threads, false);
}
SOFTGPU_INLINE void bar_warp_sync(u32 mask) {
  simt::warp_collective(simt::WarpOp::kSync, mask, {});
}

// ---- Shuffles --------------------------------------------------------------------------------

enum class Shuffle { kUp, kDown, kBfly, kIdx };

// `c` has the clamp in bits 0 to 4 and the mask of segments in bits 8 to 12. If a lane's source
// lies outside its segment, the lane keeps its own value, and *in_range is false.
template <Shuffle kMode>
inline u32 shfl(const Env& e, u32 value, u32 b, u32 c, u32 mask, bool* in_range) {
  const s32 lane = static_cast<s32>(e.thread->lane);
  const s32 clamp = c & 31, segment = c >> 8 & 31, step = b & 31;
  const s32 limit = (lane & segment) | (clamp & ~segment), first = lane & segment;
  s32 source = 0;
  switch (kMode) {
    case Shuffle::kUp:
      source = lane - step;
      *in_range = source >= limit;
      break;
    case Shuffle::kDown:
      source = lane + step;
      *in_range = source <= limit;
      break;
    case Shuffle::kBfly:
      source = lane ^ step;
      *in_range = source <= limit;
      break;
    case Shuffle::kIdx:
      source = first | (step & ~segment);
      *in_range = source <= limit;
      break;
  }
  if (!*in_range) source = lane;
  const unsigned from = static_cast<unsigned>(source);
  return static_cast<u32>(
      simt::warp_collective(simt::WarpOp::kShuffle, mask, {value, 0}, from).low);
}

// ---- Votes and others ------------------------------------------------------------------------

SOFTGPU_INLINE u32 vote_ballot(u32 mask, bool p) {
  return static_cast<u32>(simt::warp_collective(simt::WarpOp::kBallot, mask, {p, 0}).low);
}
SOFTGPU_INLINE bool vote_any(u32 mask, bool p) { return vote_ballot(mask, p) != 0; }
SOFTGPU_INLINE bool vote_all(u32 mask, bool p) {
  const simt::LaneValue votes = simt::warp_collective(simt::WarpOp::kBallot, mask, {p, 0});
  return votes.low == votes.high;
}
SOFTGPU_INLINE bool vote_uni(u32 mask, bool p) {
  const simt::LaneValue votes = simt::warp_collective(simt::WarpOp::kBallot, mask, {p, 0});
  return votes.low == votes.high || votes.low == 0;
}

SOFTGPU_INLINE u32 match_any(u32 mask, u64 value) {
  return static_cast<u32>(simt::warp_collective(simt::WarpOp::kMatch, mask, {value, 0}).low);
}
// `mask` if all its lanes have the same value, else 0.
SOFTGPU_INLINE u32 match_all(u32 mask, u64 value, bool* same) {
  *same = match_any(mask, value) == mask;
  return *same ? mask : 0;
}

template <class T, class Operation>
SOFTGPU_INLINE T redux(u32 mask, T value, Operation) {
  const simt::Combine combine = [](simt::LaneValue a, simt::LaneValue b) {
    const T result = Operation{}(static_cast<T>(static_cast<u32>(a.low)),
                                 static_cast<T>(static_cast<u32>(b.low)));
    return simt::LaneValue{static_cast<u32>(result), 0};
  };
  const u32 word = static_cast<u32>(value);
  return static_cast<T>(static_cast<u32>(
      simt::warp_collective(simt::WarpOp::kReduce, mask, {word, 0}, 0, combine).low));
}

// The elected lane of `mask`; *is_elected: whether it is the caller.
SOFTGPU_INLINE u32 elect(u32 mask, bool* is_elected) {
  *is_elected = simt::warp_collective(simt::WarpOp::kElect, mask, {}).low != 0;
  return static_cast<u32>(std::countr_zero(vote_ballot(mask, *is_elected)));
}

// ---- Loops and ends --------------------------------------------------------------------------

// Called at each backward branch, so that loops that wait by plain loads let other threads run,
// too.
SOFTGPU_INLINE void back_edge(u32* turns) {
  if ((++*turns & 4095) == 0) simt::yield();
}

[[noreturn]] inline void trap() { simt::trap("the kernel executed a trap instruction"); }

}  // namespace softgpu
