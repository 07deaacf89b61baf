// Fences, loads that name a cache, and the location of an address.
#pragma once

#include <cstddef>

// Sequentially consistent, as documented.
__device__ __forceinline__ void __threadfence_block() { __nvvm_membar_cta(); }
__device__ __forceinline__ void __threadfence() { __nvvm_membar_gl(); }
__device__ __forceinline__ void __threadfence_system() { __nvvm_membar_sys(); }

// Memory that a kernel never writes while it runs. The softgpu has no caches, so these are plain
// loads and stores.
#define SOFTGPU_CACHED(SUFFIX)                            \
  template <class T>                                      \
  __device__ __forceinline__ T __ld##SUFFIX(const T* p) { \
    return *static_cast<const T*>(p);                     \
  }
SOFTGPU_CACHED(g)
SOFTGPU_CACHED(ca)
SOFTGPU_CACHED(cg)
SOFTGPU_CACHED(cs)
SOFTGPU_CACHED(lu)
SOFTGPU_CACHED(cv)
#undef SOFTGPU_CACHED

#define SOFTGPU_ADDRESS(NAME, SPACE)                                                        \
  __device__ __forceinline__ std::size_t __cvta_generic_to_##NAME(const void* p) {          \
    return reinterpret_cast<std::size_t>((void __attribute__((address_space(SPACE)))*)(p)); \
  }                                                                                         \
  __device__ __forceinline__ void* __cvta_##NAME##_to_generic(std::size_t address) {        \
    return (void*)(reinterpret_cast<void __attribute__((address_space(SPACE)))*>(address)); \
  }
SOFTGPU_ADDRESS(global, 1)
SOFTGPU_ADDRESS(shared, 3)
SOFTGPU_ADDRESS(constant, 4)
SOFTGPU_ADDRESS(local, 5)
#undef SOFTGPU_ADDRESS
__device__ __forceinline__ unsigned __isGlobal(const void* p) { return __nvvm_isspacep_global(p); }
__device__ __forceinline__ unsigned __isShared(const void* p) { return __nvvm_isspacep_shared(p); }
__device__ __forceinline__ unsigned __isConstant(const void* p) { return __nvvm_isspacep_const(p); }
__device__ __forceinline__ unsigned __isLocal(const void* p) { return __nvvm_isspacep_local(p); }

extern "C" {
// LLVM's <new> needs them; the softgpu implements them under these names.
__device__ void* malloc(std::size_t bytes);
__device__ void free(void* p);

__device__ __forceinline__ void* memcpy(void* to, const void* from, std::size_t bytes) {
  return __builtin_memcpy(to, from, bytes);
}
__device__ __forceinline__ void* memmove(void* to, const void* from, std::size_t bytes) {
  return __builtin_memmove(to, from, bytes);
}
__device__ __forceinline__ void* memset(void* p, int byte, std::size_t bytes) {
  return __builtin_memset(p, byte, bytes);
}
}
