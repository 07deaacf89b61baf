// atomicAdd and the like: relaxed, with the scope of the device; _block and _system name another
// scope.
#pragma once

#define SOFTGPU_ATOMIC_SCOPED(NAME, SUFFIX, SCOPE, T, REGISTER, CONSTRAINT, TYPE) \
  __device__ __forceinline__ T NAME##SUFFIX(T* p, T value) {                      \
    REGISTER old;                                                                 \
    asm volatile("atom" SCOPE TYPE " %0, [%1], %2;"                               \
                 : "=" CONSTRAINT(old)                                            \
                 : "l"(p), CONSTRAINT(static_cast<REGISTER>(value))               \
                 : "memory");                                                     \
    return static_cast<T>(old);                                                   \
  }
#define SOFTGPU_ATOMIC(NAME, ...)                          \
  SOFTGPU_ATOMIC_SCOPED(NAME, , ".gpu", __VA_ARGS__)       \
  SOFTGPU_ATOMIC_SCOPED(NAME, _block, ".cta", __VA_ARGS__) \
  SOFTGPU_ATOMIC_SCOPED(NAME, _system, ".sys", __VA_ARGS__)
#define SOFTGPU_OF_32_BITS(NAME, S32, U32) \
  SOFTGPU_ATOMIC(NAME, int, int, "r", S32) \
  SOFTGPU_ATOMIC(NAME, unsigned, unsigned, "r", U32)
#define SOFTGPU_OF_64_BITS(NAME, U64) \
  SOFTGPU_ATOMIC(NAME, unsigned long long, unsigned long long, "l", U64)

SOFTGPU_OF_32_BITS(atomicAdd, ".add.s32", ".add.u32")
SOFTGPU_OF_64_BITS(atomicAdd, ".add.u64")
SOFTGPU_ATOMIC(atomicAdd, float, float, "f", ".add.f32")
SOFTGPU_ATOMIC(atomicAdd, double, double, "d", ".add.f64")
SOFTGPU_OF_32_BITS(atomicExch, ".exch.b32", ".exch.b32")
SOFTGPU_OF_64_BITS(atomicExch, ".exch.b64")
SOFTGPU_OF_32_BITS(atomicMin, ".min.s32", ".min.u32")
SOFTGPU_OF_64_BITS(atomicMin, ".min.u64")
SOFTGPU_ATOMIC(atomicMin, long long, long long, "l", ".min.s64")
SOFTGPU_OF_32_BITS(atomicMax, ".max.s32", ".max.u32")
SOFTGPU_OF_64_BITS(atomicMax, ".max.u64")
SOFTGPU_ATOMIC(atomicMax, long long, long long, "l", ".max.s64")
SOFTGPU_OF_32_BITS(atomicAnd, ".and.b32", ".and.b32")
SOFTGPU_OF_64_BITS(atomicAnd, ".and.b64")
SOFTGPU_OF_32_BITS(atomicOr, ".or.b32", ".or.b32")
SOFTGPU_OF_64_BITS(atomicOr, ".or.b64")
SOFTGPU_OF_32_BITS(atomicXor, ".xor.b32", ".xor.b32")
SOFTGPU_OF_64_BITS(atomicXor, ".xor.b64")
SOFTGPU_ATOMIC(atomicInc, unsigned, unsigned, "r", ".inc.u32")
SOFTGPU_ATOMIC(atomicDec, unsigned, unsigned, "r", ".dec.u32")
#undef SOFTGPU_OF_64_BITS
#undef SOFTGPU_OF_32_BITS
#undef SOFTGPU_ATOMIC
#undef SOFTGPU_ATOMIC_SCOPED

// Differences are sums; the exchange of a float is that of an int with its bits.
#define SOFTGPU_BY_ANOTHER(SUFFIX)                                                             \
  __device__ __forceinline__ int atomicSub##SUFFIX(int* p, int value) {                        \
    return atomicAdd##SUFFIX(p, static_cast<int>(0u - static_cast<unsigned>(value)));          \
  }                                                                                            \
  __device__ __forceinline__ unsigned atomicSub##SUFFIX(unsigned* p, unsigned value) {         \
    return atomicAdd##SUFFIX(p, 0u - value);                                                   \
  }                                                                                            \
  __device__ __forceinline__ float atomicExch##SUFFIX(float* p, float value) {                 \
    return __builtin_bit_cast(                                                                 \
        float, atomicExch##SUFFIX(reinterpret_cast<int*>(p), __builtin_bit_cast(int, value))); \
  }
SOFTGPU_BY_ANOTHER()
SOFTGPU_BY_ANOTHER(_block)
SOFTGPU_BY_ANOTHER(_system)
#undef SOFTGPU_BY_ANOTHER

#define SOFTGPU_CAS_SCOPED(SUFFIX, SCOPE, T, CONSTRAINT, TYPE)                  \
  __device__ __forceinline__ T atomicCAS##SUFFIX(T* p, T expected, T desired) { \
    T old;                                                                      \
    asm volatile("atom" SCOPE ".cas" TYPE " %0, [%1], %2, %3;"                  \
                 : "=" CONSTRAINT(old)                                          \
                 : "l"(p), CONSTRAINT(expected), CONSTRAINT(desired)            \
                 : "memory");                                                   \
    return old;                                                                 \
  }
#define SOFTGPU_CAS(...)                          \
  SOFTGPU_CAS_SCOPED(, ".gpu", __VA_ARGS__)       \
  SOFTGPU_CAS_SCOPED(_block, ".cta", __VA_ARGS__) \
  SOFTGPU_CAS_SCOPED(_system, ".sys", __VA_ARGS__)
SOFTGPU_CAS(int, "r", ".b32")
SOFTGPU_CAS(unsigned, "r", ".b32")
SOFTGPU_CAS(unsigned long long, "l", ".b64")
SOFTGPU_CAS(unsigned short, "h", ".b16")
#undef SOFTGPU_CAS
#undef SOFTGPU_CAS_SCOPED
