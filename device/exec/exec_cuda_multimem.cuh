// exec under nvcc: multicast addresses, of sm_90 and newer. Included by exec_cuda.cuh alone.
#ifndef CHIME_DEVICE_EXEC_CUDA_MULTIMEM_CUH_
#define CHIME_DEVICE_EXEC_CUDA_MULTIMEM_CUH_

#include <cstdint>
#include <type_traits>

#include "chime/device/exec/exec_cuda_memory.cuh"
#include "chime/device/exec/exec_cuda_threads.cuh"
#include "chime/device/exec/ptx_multimem.cuh"

namespace chime::exec {

// Whether this code has the instructions. Without, the calls below trap.
CHIME_DEVICE constexpr bool has_multimem() { return CHIME_PTX_HAS_MULTIMEM != 0; }

// How the words of all GPUs become one: in operations whose order changes no bit.
enum class Multimem { kAdd, kMin, kMax, kAnd, kOr, kXor };

namespace detail {

#if CHIME_PTX_HAS_MULTIMEM
template <class T, class S32, class U32, class S64, class U64>
using BySign = std::conditional_t<std::is_signed_v<T>, BySize<T, S32, S64>, BySize<T, U32, U64>>;

template <Multimem kOp, class T>
CHIME_DEVICE auto ld_reduce_of() {
  if constexpr (kOp == Multimem::kAdd) {
    return BySize<T, ptx::LoadSumU32, ptx::LoadSumU64>{};
  } else if constexpr (kOp == Multimem::kMin) {
    return BySign<T, ptx::LoadMinS32, ptx::LoadMinU32, ptx::LoadMinS64, ptx::LoadMinU64>{};
  } else if constexpr (kOp == Multimem::kMax) {
    return BySign<T, ptx::LoadMaxS32, ptx::LoadMaxU32, ptx::LoadMaxS64, ptx::LoadMaxU64>{};
  } else if constexpr (kOp == Multimem::kAnd) {
    return BySize<T, ptx::LoadAnd32, ptx::LoadAnd64>{};
  } else if constexpr (kOp == Multimem::kOr) {
    return BySize<T, ptx::LoadOr32, ptx::LoadOr64>{};
  } else {
    return BySize<T, ptx::LoadXor32, ptx::LoadXor64>{};
  }
}
#endif

[[noreturn]] CHIME_DEVICE void trap_without_multimem() {
  trap("chime: multimem needs a GPU of compute capability 9.0, and code compiled for it");
}

}  // namespace detail

// The words of all GPUs at `p`, an integer of 4 or 8 bytes, combined.
template <Multimem kOp, class T>
CHIME_DEVICE T multimem_ld_reduce([[maybe_unused]] const T* p) {
  static_assert(std::is_integral_v<T> && (sizeof(T) == 4 || sizeof(T) == 8));
#if CHIME_PTX_HAS_MULTIMEM
  using Load = decltype(detail::ld_reduce_of<kOp, T>());
  return static_cast<T>(Load::load(reinterpret_cast<const typename Load::Word*>(p)));
#else
  detail::trap_without_multimem();
#endif
}

// To all GPUs: 4 or 8 bytes.
template <class T>
CHIME_DEVICE void multimem_st([[maybe_unused]] T* p,
                              [[maybe_unused]] std::type_identity_t<T> value) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8);
#if CHIME_PTX_HAS_MULTIMEM
  ptx::multimem_st(detail::word_pointer(p), detail::to_word(value));
#else
  detail::trap_without_multimem();
#endif
}
CHIME_DEVICE void multimem_st16([[maybe_unused]] void* p, [[maybe_unused]] Vec16 value) {
#if CHIME_PTX_HAS_MULTIMEM
  ptx::multimem_st_16(p, value);
#else
  detail::trap_without_multimem();
#endif
}

// Orders this thread's accesses by multicast addresses and those of the same memory by others.
CHIME_DEVICE void multimem_fence() {
#if CHIME_PTX_HAS_MULTIMEM
  ptx::fence_proxy_alias();
#else
  detail::trap_without_multimem();
#endif
}

}  // namespace chime::exec

#endif  // CHIME_DEVICE_EXEC_CUDA_MULTIMEM_CUH_
