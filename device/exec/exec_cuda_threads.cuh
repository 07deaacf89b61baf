// exec under nvcc: the identity of a thread, and how it meets the others of its warp and block,
// waits and ends.
// Included by exec_cuda.cuh alone.
#ifndef CHIME_DEVICE_EXEC_CUDA_THREADS_CUH_
#define CHIME_DEVICE_EXEC_CUDA_THREADS_CUH_

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "chime/abi/operation.h"
#include "chime/abi/pe.h"
#include "chime/device/exec/ptx.cuh"

// The device runtime's assertion: prints its message on stderr and ends all kernels of the process.
extern "C" __device__ __attribute__((noreturn)) void __assertfail(const char* message,
                                                                  const char* file, unsigned line,
                                                                  const char* function,
                                                                  std::size_t char_bytes);

#if defined(__clang__) && defined(__CUDA__)
// clang's PTX may run on the softgpu, which knows these two by their names and keeps the waits of
// threads for reports of hangs (softgpu/vocabulary/calls.hpp). On a GPU they do nothing. They are
// weak, so that the compiler keeps the calls.
#define CHIME_TELLS_WAITS
extern "C" {
__attribute__((weak)) __device__ __noinline__ void chime_wait_lasts(std::uint32_t, const void*,
                                                                    std::uint64_t, int,
                                                                    std::uint32_t, int) {}
__attribute__((weak)) __device__ __noinline__ void chime_wait_ended() {}
}
#endif

#ifdef CHIME_TRACE_DEVICE
#ifndef CHIME_TELLS_WAITS
#error "CHIME_TRACE_DEVICE is for the softgpu (chime-cc --trace): nothing on a GPU notes operations"
#endif
// In the same way the softgpu notes operations on the timeline. An event is 0 where nothing
// records.
extern "C" {
__attribute__((weak)) __device__ __noinline__ std::uint64_t chime_trace_begin(
    std::int32_t, const void*, std::uint64_t, std::uint32_t, int, const void*, std::uint64_t,
    std::uint64_t, int) {
  return 0;
}
__attribute__((weak)) __device__ __noinline__ void chime_trace_seen(std::uint64_t, std::uint64_t) {}
__attribute__((weak)) __device__ __noinline__ void chime_trace_end(std::uint64_t) {}
}
#endif

namespace chime {
struct Context;
}

namespace chime::exec {

// ---- Identity ----------------------------------------------------------------------------------

CHIME_DEVICE uint3 thread_idx() { return threadIdx; }
CHIME_DEVICE uint3 block_idx() { return blockIdx; }
CHIME_DEVICE dim3 block_dim() { return blockDim; }
CHIME_DEVICE dim3 grid_dim() { return gridDim; }
CHIME_DEVICE unsigned lane_id() { return ptx::lane_id(); }
// Lanes of the warp below or above the calling one, as a mask.
CHIME_DEVICE unsigned lanes_below() { return ptx::lanes_below(); }
CHIME_DEVICE unsigned lanes_above() { return ptx::lanes_above(); }
CHIME_DEVICE unsigned thread_rank() {
  return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
CHIME_DEVICE unsigned warp_id() { return thread_rank() / 32; }
CHIME_DEVICE unsigned block_threads() { return blockDim.x * blockDim.y * blockDim.z; }
CHIME_DEVICE unsigned block_rank() {
  return (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
}
CHIME_DEVICE unsigned grid_blocks() { return gridDim.x * gridDim.y * gridDim.z; }
CHIME_DEVICE std::uint64_t grid_rank() {
  return static_cast<std::uint64_t>(block_rank()) * block_threads() + thread_rank();
}
CHIME_DEVICE std::uint64_t grid_threads() {
  return static_cast<std::uint64_t>(grid_blocks()) * block_threads();
}
CHIME_HOST_DEVICE constexpr bool in_kernel() { CHIME_IF_DEVICE(return true, return false); }

// ---- The end of a thread -----------------------------------------------------------------------

[[noreturn]] CHIME_DEVICE void end_thread() { ptx::exit(); }

// The rest of the kernel finds the recorded error in sync_grid (grid_cuda.cuh), and ends.
[[noreturn]] CHIME_DEVICE void end_kernel() { ptx::exit(); }

// Nothing here: no thread of a GPU ends by another's end_kernel
// (device/simt/exec/exec_threads.hpp).
class Committed {
 public:
  CHIME_DEVICE Committed() {}
  CHIME_DEVICE ~Committed() {}
  Committed(const Committed&) = delete;
  Committed& operator=(const Committed&) = delete;
};

// An assertion, not a printf followed by a trap: it needs no stack for arguments, and the message
// reaches stderr also when the host does not synchronise with the kernel afterwards.
[[noreturn]] CHIME_DEVICE void trap(const char* why) { __assertfail(why, "chime", 0, "trap", 1); }

// ---- Rendezvous --------------------------------------------------------------------------------

CHIME_DEVICE void sync_warp(unsigned mask = ~0u) { __syncwarp(mask); }
CHIME_DEVICE void sync_block() { __syncthreads(); }
// The same, for threads of which none may have ended: the CPU device reports one that has.
CHIME_DEVICE void sync_whole_block() { __syncthreads(); }
CHIME_DEVICE bool sync_whole_block_or(bool p) { return __syncthreads_or(p) != 0; }

// A call that a block or a warp makes together: all members meet when it begins and when it ends.
// The value is the calling thread's part of the work between.
enum class Part { kOwn, kAll, kNone };

CHIME_DEVICE Part enter_whole_block() {
  __syncthreads();
  return Part::kOwn;
}
CHIME_DEVICE void leave_whole_block(Part) { __syncthreads(); }
CHIME_DEVICE Part enter_warp(unsigned mask) {
  __syncwarp(mask);
  return Part::kOwn;
}
CHIME_DEVICE void leave_warp(unsigned mask, Part) { __syncwarp(mask); }

// Barrier `id` (1 to 15) of some warps, `threads` threads in all. If the block's end makes a warp
// shorter, it counts as a whole one.
CHIME_DEVICE void sync_named(int id, unsigned threads) { ptx::barrier_sync(id, threads); }
CHIME_DEVICE bool sync_named_or(int id, unsigned threads, bool p) {
  return ptx::barrier_or(id, threads, p);
}
CHIME_DEVICE int sync_block_count(bool p) { return __syncthreads_count(p); }
CHIME_DEVICE bool sync_block_or(bool p) { return __syncthreads_or(p) != 0; }
CHIME_DEVICE bool sync_block_and(bool p) { return __syncthreads_and(p) != 0; }

// ---- Warp --------------------------------------------------------------------------------------

namespace detail {

// A value in 32-bit words, as shuffles carry it.
template <class T>
struct ShuffleWords {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 16);
  static constexpr int kCount = (sizeof(T) + 3) / 4;
  std::uint32_t word[kCount] = {};
};

template <class T, class Shuffle>
CHIME_DEVICE T shuffle(T value, Shuffle each_word) {
  ShuffleWords<T> words;
  memcpy(words.word, &value, sizeof(T));
#pragma unroll
  for (int i = 0; i < ShuffleWords<T>::kCount; ++i) words.word[i] = each_word(words.word[i]);
  memcpy(&value, words.word, sizeof(T));
  return value;
}

}  // namespace detail

template <class T>
CHIME_DEVICE T shfl(unsigned mask, T value, int lane) {
  return detail::shuffle(value, [=](std::uint32_t w) { return __shfl_sync(mask, w, lane); });
}
template <class T>
CHIME_DEVICE T shfl_xor(unsigned mask, T value, int lanes) {
  return detail::shuffle(value, [=](std::uint32_t w) { return __shfl_xor_sync(mask, w, lanes); });
}
template <class T>
CHIME_DEVICE T shfl_up(unsigned mask, T value, unsigned delta) {
  return detail::shuffle(value, [=](std::uint32_t w) { return __shfl_up_sync(mask, w, delta); });
}
template <class T>
CHIME_DEVICE T shfl_down(unsigned mask, T value, unsigned delta) {
  return detail::shuffle(value, [=](std::uint32_t w) { return __shfl_down_sync(mask, w, delta); });
}
CHIME_DEVICE unsigned ballot(unsigned mask, bool p) { return __ballot_sync(mask, p); }
CHIME_DEVICE bool any(unsigned mask, bool p) { return __any_sync(mask, p) != 0; }
CHIME_DEVICE bool all(unsigned mask, bool p) { return __all_sync(mask, p) != 0; }
CHIME_DEVICE unsigned active_mask() { return __activemask(); }

// In a mask of 4 or 8 bytes: how many bits are set, and the number of the lowest (undefined if none
// is).
CHIME_DEVICE unsigned count_bits(std::uint32_t mask) { return static_cast<unsigned>(__popc(mask)); }
CHIME_DEVICE unsigned count_bits(std::uint64_t mask) {
  return static_cast<unsigned>(__popcll(mask));
}
CHIME_DEVICE unsigned lowest_bit(std::uint32_t mask) {
  return static_cast<unsigned>(__ffs(static_cast<int>(mask)) - 1);
}
CHIME_DEVICE unsigned lowest_bit(std::uint64_t mask) {
  return static_cast<unsigned>(__ffsll(static_cast<long long>(mask)) - 1);
}

// True in one lane of `mask`: the lowest.
CHIME_DEVICE bool elect_one(unsigned mask) { return lane_id() == __ffs(mask) - 1u; }

// The lanes of `mask` that hold the same bits.
template <class T>
CHIME_DEVICE unsigned match_any(unsigned mask, T value) {
  if constexpr (sizeof(T) <= 8) {
    using Word = std::conditional_t<(sizeof(T) <= 4), std::uint32_t, std::uint64_t>;
    Word word = 0;
    memcpy(&word, &value, sizeof(T));
    return __match_any_sync(mask, word);
  } else {
    static_assert(sizeof(T) == 16);
    std::uint64_t half[2];
    memcpy(half, &value, sizeof(T));
    return __match_any_sync(mask, half[0]) & __match_any_sync(mask, half[1]);
  }
}

// The sum over the lanes of `mask`, in every one of them. Adds in lane order, as the CPU does.
template <class T>
CHIME_DEVICE T reduce_add(unsigned mask, T value) {
  if constexpr (std::is_integral_v<T> && sizeof(T) == 4) {
    return static_cast<T>(__reduce_add_sync(mask, static_cast<std::uint32_t>(value)));
  } else {
    T sum = shfl(mask, value, __ffs(mask) - 1);
    for (unsigned rest = mask & (mask - 1); rest != 0; rest &= rest - 1) {
      sum = sum + shfl(mask, value, __ffs(rest) - 1);
    }
    return sum;
  }
}

// ---- Waiting -----------------------------------------------------------------------------------

CHIME_DEVICE void pause() {}
#ifdef CHIME_TELLS_WAITS
CHIME_DEVICE void wait_lasts(std::uint32_t kind, const void* address, std::uint64_t expected,
                             int pe, std::uint32_t bytes, int comparison) {
  chime_wait_lasts(kind, address, expected, pe, bytes, comparison);
}
CHIME_DEVICE void wait_ended() { chime_wait_ended(); }
#else
CHIME_DEVICE void wait_lasts(std::uint32_t, const void*, std::uint64_t, int, std::uint32_t, int) {}
CHIME_DEVICE void wait_ended() {}
#endif
CHIME_DEVICE void raise_event(int) {}  // called by host threads alone

// What Pe::checked says (device/simt/trace/traced.hpp). A GPU's has no other bits.
CHIME_DEVICE constexpr std::uint32_t checks_of(std::uint32_t checked) { return checked; }
CHIME_DEVICE constexpr bool may_be_unfilled(std::uint32_t) { return true; }

#ifdef CHIME_TRACE_DEVICE
// An operation on the timeline, as on the CPU device.
class Traced {
 public:
  CHIME_DEVICE Traced(const Context&, const abi::Pe& me, bool is_leader,
                      const abi::TracedWork& work)
      : event_(me.traced != 0 && is_leader
                   ? chime_trace_begin(me.my_pe, me.heap, me.heap_bytes,
                                       static_cast<std::uint32_t>(work.operation), work.pe,
                                       work.address, work.bytes, work.value, work.how)
                   : 0) {}
  CHIME_DEVICE void end() const {
    if (event_ != 0) chime_trace_end(event_);
  }
  template <class Result>
  CHIME_DEVICE Result ended(Result result) const {
    end();
    return result;
  }
  template <class Look>
  CHIME_DEVICE void saw(Look look) const {
    if (event_ != 0) chime_trace_seen(event_, look());
  }

 private:
  const std::uint64_t event_;
};
CHIME_DEVICE bool may_note(const abi::Pe& me) { return me.traced != 0; }
#else
// Operations of a GPU's kernels are not on the timeline.
class Traced {
 public:
  CHIME_DEVICE Traced(const Context&, const abi::Pe&, bool, const abi::TracedWork&) {}
  CHIME_DEVICE void end() const {}
  template <class Result>
  CHIME_DEVICE Result ended(Result result) const {
    return result;
  }
  template <class Look>
  CHIME_DEVICE void saw(Look) const {}
};
CHIME_DEVICE constexpr bool may_note(const abi::Pe&) { return false; }
#endif

template <class Group, class Act, class... Arguments>
CHIME_DEVICE auto note(const Context& ctx, const abi::Pe& me, Group g, const abi::TracedWork& work,
                       Act act, Arguments... arguments) {
  const Traced traced(ctx, me, g.is_leader(), work);
  if constexpr (std::is_same_v<decltype(act(ctx, g, arguments...)), void>) {
    act(ctx, g, arguments...);
    traced.end();
  } else {
    return traced.ended(act(ctx, g, arguments...));
  }
}

CHIME_DEVICE void nanosleep(unsigned ns) { __nanosleep(ns); }
CHIME_DEVICE std::uint64_t clock_ns() { return ptx::global_timer(); }
CHIME_DEVICE std::uint64_t clock() { return ptx::cycle_counter(); }

}  // namespace chime::exec

#endif  // CHIME_DEVICE_EXEC_CUDA_THREADS_CUH_
