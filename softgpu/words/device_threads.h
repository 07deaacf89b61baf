// How a thread meets others of its block and warp, and waits.
#pragma once

#include <type_traits>

// ---- The block ---------------------------------------------------------------------------------
// __syncthreads() is a built-in of clang.

__device__ __forceinline__ int __syncthreads_count(int p) { return __nvvm_bar0_popc(p); }
__device__ __forceinline__ int __syncthreads_and(int p) { return __nvvm_bar0_and(p); }
__device__ __forceinline__ int __syncthreads_or(int p) { return __nvvm_bar0_or(p); }
__device__ __forceinline__ void __barrier_sync(unsigned id) { __nvvm_barrier_sync(id); }
__device__ __forceinline__ void __barrier_sync_count(unsigned id, unsigned threads) {
  __nvvm_barrier_sync_cnt(id, threads);
}

// ---- The warp ----------------------------------------------------------------------------------

__device__ __forceinline__ void __syncwarp(unsigned mask = ~0u) { __nvvm_bar_warp_sync(mask); }

// The instruction takes 4 bytes: a value of 8 bytes takes two words, a smaller one takes one. The
// last operand of the instruction has the segment's mask and the lane beyond which a source is
// outside.
#define SOFTGPU_SHUFFLE(NAME, INSTRUCTION, LANE, CLAMP)                                           \
  template <class T>                                                                              \
  __device__ __forceinline__ T NAME(unsigned mask, T value, LANE lane, int width = 32) {          \
    static_assert(std::is_arithmetic_v<T> && sizeof(T) <= 8);                                     \
    const int segment = (32 - width) << 8 | CLAMP;                                                \
    if constexpr (sizeof(T) < 4) {                                                                \
      return static_cast<T>(NAME(mask, static_cast<int>(value), lane, width));                    \
    } else if constexpr (sizeof(T) == 4) {                                                        \
      return __builtin_bit_cast(                                                                  \
          T, INSTRUCTION(mask, __builtin_bit_cast(int, value), static_cast<int>(lane), segment)); \
    } else {                                                                                      \
      auto half = __builtin_bit_cast(int2, value);                                                \
      half.x = INSTRUCTION(mask, half.x, static_cast<int>(lane), segment);                        \
      half.y = INSTRUCTION(mask, half.y, static_cast<int>(lane), segment);                        \
      return __builtin_bit_cast(T, half);                                                         \
    }                                                                                             \
  }
SOFTGPU_SHUFFLE(__shfl_sync, __nvvm_shfl_sync_idx_i32, int, 0x1f)
SOFTGPU_SHUFFLE(__shfl_xor_sync, __nvvm_shfl_sync_bfly_i32, int, 0x1f)
SOFTGPU_SHUFFLE(__shfl_up_sync, __nvvm_shfl_sync_up_i32, unsigned, 0)
SOFTGPU_SHUFFLE(__shfl_down_sync, __nvvm_shfl_sync_down_i32, unsigned, 0x1f)
#undef SOFTGPU_SHUFFLE

__device__ __forceinline__ unsigned __ballot_sync(unsigned mask, int p) {
  return __nvvm_vote_ballot_sync(mask, p);
}
__device__ __forceinline__ int __any_sync(unsigned mask, int p) {
  return __nvvm_vote_any_sync(mask, p);
}
__device__ __forceinline__ int __all_sync(unsigned mask, int p) {
  return __nvvm_vote_all_sync(mask, p);
}
__device__ __forceinline__ unsigned __activemask() {
  unsigned mask;
  asm volatile("activemask.b32 %0;" : "=r"(mask));
  return mask;
}

template <class T>
__device__ __forceinline__ unsigned __match_any_sync(unsigned mask, T value) {
  static_assert(std::is_arithmetic_v<T> && (sizeof(T) == 4 || sizeof(T) == 8));
  if constexpr (sizeof(T) == 4) {
    return __nvvm_match_any_sync_i32(mask, __builtin_bit_cast(int, value));
  } else {
    return __nvvm_match_any_sync_i64(mask, __builtin_bit_cast(long long, value));
  }
}
template <class T>
__device__ __forceinline__ unsigned __match_all_sync(unsigned mask, T value, int* all) {
  static_assert(std::is_arithmetic_v<T> && (sizeof(T) == 4 || sizeof(T) == 8));
  if constexpr (sizeof(T) == 4) {
    return __nvvm_match_all_sync_i32p(mask, __builtin_bit_cast(int, value), all);
  } else {
    return __nvvm_match_all_sync_i64p(mask, __builtin_bit_cast(long long, value), all);
  }
}

#define SOFTGPU_REDUCE(NAME, T, INSTRUCTION)                                    \
  __device__ __forceinline__ T __reduce_##NAME##_sync(unsigned mask, T value) { \
    return static_cast<T>(INSTRUCTION(value, mask));                            \
  }
SOFTGPU_REDUCE(add, unsigned, __nvvm_redux_sync_add)
SOFTGPU_REDUCE(add, int, __nvvm_redux_sync_add)
SOFTGPU_REDUCE(min, unsigned, __nvvm_redux_sync_umin)
SOFTGPU_REDUCE(min, int, __nvvm_redux_sync_min)
SOFTGPU_REDUCE(max, unsigned, __nvvm_redux_sync_umax)
SOFTGPU_REDUCE(max, int, __nvvm_redux_sync_max)
SOFTGPU_REDUCE(and, unsigned, __nvvm_redux_sync_and)
SOFTGPU_REDUCE(or, unsigned, __nvvm_redux_sync_or)
SOFTGPU_REDUCE(xor, unsigned, __nvvm_redux_sync_xor)
#undef SOFTGPU_REDUCE

// ---- Time --------------------------------------------------------------------------------------

__device__ __forceinline__ void __nanosleep(unsigned ns) {
  asm volatile("nanosleep.u32 %0;" ::"r"(ns) : "memory");
}
__device__ __forceinline__ long long clock64() { return __nvvm_read_ptx_sreg_clock64(); }
__device__ __forceinline__ long clock() { return __nvvm_read_ptx_sreg_clock64(); }
