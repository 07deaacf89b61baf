// The PTX instructions on multicast addresses (sm_90): one address, at which each GPU of a
// multicast object has memory of its own. Only exec includes this.
//
// PTX allows no other instruction there. Relaxed, at system scope: each is a strong access of every
// GPU's memory, in no order.
#ifndef CHIME_DEVICE_PTX_MULTIMEM_CUH_
#define CHIME_DEVICE_PTX_MULTIMEM_CUH_

#include <cstdint>

#include "chime/device/exec/ptx_memory.cuh"

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define CHIME_PTX_HAS_MULTIMEM 1
#else
#define CHIME_PTX_HAS_MULTIMEM 0
#endif

#if CHIME_PTX_HAS_MULTIMEM
namespace chime::exec::ptx {

// ---- One value of all GPUs' --------------------------------------------------------------------

#define CHIME_PTX_LD_REDUCE(NAME, T, CONSTRAINT, OPERATION)                       \
  struct NAME {                                                                   \
    using Word = T;                                                               \
    __device__ static __forceinline__ T load(const T* p) {                        \
      T v;                                                                        \
      asm volatile("multimem.ld_reduce.relaxed.sys.global" OPERATION " %0, [%1];" \
                   : "=" CONSTRAINT(v)                                            \
                   : "l"(global_address(p))                                       \
                   : "memory");                                                   \
      return v;                                                                   \
    }                                                                             \
  };
CHIME_PTX_LD_REDUCE(LoadSumU32, std::uint32_t, "r", ".add.u32")
CHIME_PTX_LD_REDUCE(LoadSumU64, std::uint64_t, "l", ".add.u64")
CHIME_PTX_LD_REDUCE(LoadMinU32, std::uint32_t, "r", ".min.u32")
CHIME_PTX_LD_REDUCE(LoadMinS32, std::uint32_t, "r", ".min.s32")
CHIME_PTX_LD_REDUCE(LoadMinU64, std::uint64_t, "l", ".min.u64")
CHIME_PTX_LD_REDUCE(LoadMinS64, std::uint64_t, "l", ".min.s64")
CHIME_PTX_LD_REDUCE(LoadMaxU32, std::uint32_t, "r", ".max.u32")
CHIME_PTX_LD_REDUCE(LoadMaxS32, std::uint32_t, "r", ".max.s32")
CHIME_PTX_LD_REDUCE(LoadMaxU64, std::uint64_t, "l", ".max.u64")
CHIME_PTX_LD_REDUCE(LoadMaxS64, std::uint64_t, "l", ".max.s64")
CHIME_PTX_LD_REDUCE(LoadAnd32, std::uint32_t, "r", ".and.b32")
CHIME_PTX_LD_REDUCE(LoadAnd64, std::uint64_t, "l", ".and.b64")
CHIME_PTX_LD_REDUCE(LoadOr32, std::uint32_t, "r", ".or.b32")
CHIME_PTX_LD_REDUCE(LoadOr64, std::uint64_t, "l", ".or.b64")
CHIME_PTX_LD_REDUCE(LoadXor32, std::uint32_t, "r", ".xor.b32")
CHIME_PTX_LD_REDUCE(LoadXor64, std::uint64_t, "l", ".xor.b64")
#undef CHIME_PTX_LD_REDUCE

// ---- One value to all GPUs ---------------------------------------------------------------------

__device__ __forceinline__ void multimem_st(std::uint32_t* p, std::uint32_t v) {
  asm volatile("multimem.st.relaxed.sys.global.b32 [%0], %1;" ::"l"(global_address(p)), "r"(v)
               : "memory");
}
__device__ __forceinline__ void multimem_st(std::uint64_t* p, std::uint64_t v) {
  asm volatile("multimem.st.relaxed.sys.global.b64 [%0], %1;" ::"l"(global_address(p)), "l"(v)
               : "memory");
}
// PTX has vectors of floating point alone. A store changes no bit.
__device__ __forceinline__ void multimem_st_16(void* p, Vec16 v) {
  asm volatile(
      "multimem.st.relaxed.sys.global.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(global_address(p)),
      "r"(v.w[0]), "r"(v.w[1]), "r"(v.w[2]), "r"(v.w[3])
      : "memory");
}

// Between accesses of the same memory by its multicast address and by another one: to PTX these are
// two proxies.
__device__ __forceinline__ void fence_proxy_alias() {
  asm volatile("fence.proxy.alias;" ::: "memory");
}

}  // namespace chime::exec::ptx
#endif

#endif  // CHIME_DEVICE_PTX_MULTIMEM_CUH_
