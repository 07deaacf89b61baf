// The standard library's functions of numbers, for kernels.
//
// Functions with a GPU instruction are built-ins of LLVM. The others are calls of functions that
// the PTX only declares, named softgpu_ and the function. The softgpu implements them with the
// host's library of mathematics, so that kernels compute what the CPU device computes, bit for bit.
#pragma once

#include <type_traits>

#include "host_functions.h"

#define SOFTGPU_MATH __device__ __forceinline__

// ---- Instructions ------------------------------------------------------------------------------

#define SOFTGPU_OF_ONE(NAME)                                             \
  SOFTGPU_MATH float NAME##f(float x) { return __builtin_##NAME##f(x); } \
  SOFTGPU_MATH float NAME(float x) { return __builtin_##NAME##f(x); }    \
  SOFTGPU_MATH double NAME(double x) { return __builtin_##NAME(x); }
SOFTGPU_OF_ONE(fabs)
SOFTGPU_OF_ONE(floor)
SOFTGPU_OF_ONE(ceil)
SOFTGPU_OF_ONE(trunc)
SOFTGPU_OF_ONE(rint)
SOFTGPU_OF_ONE(nearbyint)
SOFTGPU_OF_ONE(round)
#undef SOFTGPU_OF_ONE
SOFTGPU_MATH float sqrtf(float x) { return __nvvm_sqrt_rn_f(x); }
SOFTGPU_MATH float sqrt(float x) { return __nvvm_sqrt_rn_f(x); }
SOFTGPU_MATH double sqrt(double x) { return __nvvm_sqrt_rn_d(x); }
SOFTGPU_MATH float rsqrtf(float x) { return 1 / __nvvm_sqrt_rn_f(x); }
SOFTGPU_MATH double rsqrt(double x) { return 1 / __nvvm_sqrt_rn_d(x); }

#define SOFTGPU_OF_TWO(NAME)                                                         \
  SOFTGPU_MATH float NAME##f(float x, float y) { return __builtin_##NAME##f(x, y); } \
  SOFTGPU_MATH float NAME(float x, float y) { return __builtin_##NAME##f(x, y); }    \
  SOFTGPU_MATH double NAME(double x, double y) { return __builtin_##NAME(x, y); }
SOFTGPU_OF_TWO(fmin)
SOFTGPU_OF_TWO(fmax)
SOFTGPU_OF_TWO(copysign)
#undef SOFTGPU_OF_TWO
SOFTGPU_MATH float fmaf(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
SOFTGPU_MATH float fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
SOFTGPU_MATH double fma(double x, double y, double z) { return __builtin_fma(x, y, z); }
SOFTGPU_MATH float __fmaf_rn(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
SOFTGPU_MATH double __fma_rn(double x, double y, double z) { return __builtin_fma(x, y, z); }

// Half away from zero, as round does.
#define SOFTGPU_TO_INTEGER(T, NAME, BY)                                \
  SOFTGPU_MATH T NAME##f(float x) { return static_cast<T>(BY##f(x)); } \
  SOFTGPU_MATH T NAME(float x) { return static_cast<T>(BY##f(x)); }    \
  SOFTGPU_MATH T NAME(double x) { return static_cast<T>(BY(x)); }
SOFTGPU_TO_INTEGER(long, lround, round)
SOFTGPU_TO_INTEGER(long long, llround, round)
SOFTGPU_TO_INTEGER(long, lrint, rint)
SOFTGPU_TO_INTEGER(long long, llrint, rint)
#undef SOFTGPU_TO_INTEGER

// CUDA's names: the source type, the target type, and the rounding. A number beyond the integer's
// range becomes the nearest in it.
#define SOFTGPU_CONVERT(FROM, from, TO, to, HOW, NVVM_FROM, NVVM_TO, NVVM_HOW) \
  SOFTGPU_MATH TO __##from##2##to##_##HOW(FROM x) {                            \
    return __nvvm_##NVVM_FROM##2##NVVM_TO##_##NVVM_HOW(x);                     \
  }
#define SOFTGPU_CONVERT_ALL(FROM, from, TO, to, NVVM_FROM, NVVM_TO) \
  SOFTGPU_CONVERT(FROM, from, TO, to, rn, NVVM_FROM, NVVM_TO, rn)   \
  SOFTGPU_CONVERT(FROM, from, TO, to, rz, NVVM_FROM, NVVM_TO, rz)   \
  SOFTGPU_CONVERT(FROM, from, TO, to, rd, NVVM_FROM, NVVM_TO, rm)   \
  SOFTGPU_CONVERT(FROM, from, TO, to, ru, NVVM_FROM, NVVM_TO, rp)
SOFTGPU_CONVERT_ALL(float, float, int, int, f, i)
SOFTGPU_CONVERT_ALL(float, float, unsigned, uint, f, ui)
SOFTGPU_CONVERT_ALL(float, float, long long, ll, f, ll)
SOFTGPU_CONVERT_ALL(float, float, unsigned long long, ull, f, ull)
SOFTGPU_CONVERT_ALL(double, double, int, int, d, i)
SOFTGPU_CONVERT_ALL(double, double, unsigned, uint, d, ui)
SOFTGPU_CONVERT_ALL(double, double, long long, ll, d, ll)
SOFTGPU_CONVERT_ALL(double, double, unsigned long long, ull, d, ull)
SOFTGPU_CONVERT_ALL(int, int, float, float, i, f)
SOFTGPU_CONVERT_ALL(unsigned, uint, float, float, ui, f)
SOFTGPU_CONVERT_ALL(long long, ll, float, float, ll, f)
SOFTGPU_CONVERT_ALL(unsigned long long, ull, float, float, ull, f)
SOFTGPU_CONVERT_ALL(double, double, float, float, d, f)
#undef SOFTGPU_CONVERT_ALL
#undef SOFTGPU_CONVERT
SOFTGPU_MATH double __int2double_rn(int x) { return x; }
SOFTGPU_MATH double __uint2double_rn(unsigned x) { return x; }
SOFTGPU_MATH double __ll2double_rn(long long x) { return __nvvm_ll2d_rn(x); }
SOFTGPU_MATH double __ull2double_rn(unsigned long long x) { return __nvvm_ull2d_rn(x); }

// ---- Integers ----------------------------------------------------------------------------------

SOFTGPU_MATH int abs(int x) { return __builtin_abs(x); }
SOFTGPU_MATH long abs(long x) { return __builtin_labs(x); }
SOFTGPU_MATH long long abs(long long x) { return __builtin_llabs(x); }
SOFTGPU_MATH float abs(float x) { return __builtin_fabsf(x); }
SOFTGPU_MATH double abs(double x) { return __builtin_fabs(x); }
SOFTGPU_MATH long labs(long x) { return __builtin_labs(x); }
SOFTGPU_MATH long long llabs(long long x) { return __builtin_llabs(x); }
// In host code, too, as nvcc has them.
#define SOFTGPU_OF_BOTH __host__ __device__ __forceinline__
#define SOFTGPU_LEAST_AND_GREATEST(T)                       \
  SOFTGPU_OF_BOTH T min(T a, T b) { return b < a ? b : a; } \
  SOFTGPU_OF_BOTH T max(T a, T b) { return a < b ? b : a; }
SOFTGPU_LEAST_AND_GREATEST(int)
SOFTGPU_LEAST_AND_GREATEST(unsigned)
SOFTGPU_LEAST_AND_GREATEST(long)
SOFTGPU_LEAST_AND_GREATEST(unsigned long)
SOFTGPU_LEAST_AND_GREATEST(long long)
SOFTGPU_LEAST_AND_GREATEST(unsigned long long)
#undef SOFTGPU_LEAST_AND_GREATEST
// By names that contain the type.
#define SOFTGPU_LEAST_AND_GREATEST(T, PREFIX)                       \
  SOFTGPU_OF_BOTH T PREFIX##min(T a, T b) { return b < a ? b : a; } \
  SOFTGPU_OF_BOTH T PREFIX##max(T a, T b) { return a < b ? b : a; }
SOFTGPU_LEAST_AND_GREATEST(unsigned, u)
SOFTGPU_LEAST_AND_GREATEST(long long, ll)
SOFTGPU_LEAST_AND_GREATEST(unsigned long long, ull)
#undef SOFTGPU_LEAST_AND_GREATEST
SOFTGPU_OF_BOTH float min(float a, float b) { return __builtin_fminf(a, b); }
SOFTGPU_OF_BOTH double min(double a, double b) { return __builtin_fmin(a, b); }
SOFTGPU_OF_BOTH float max(float a, float b) { return __builtin_fmaxf(a, b); }
SOFTGPU_OF_BOTH double max(double a, double b) { return __builtin_fmax(a, b); }
// Two types become the one that arithmetic makes of them: unsigned and int become unsigned. Only
// numbers of the sizes above: a program's own types have functions of their own, or none.
template <class T>
concept softgpu_number = std::is_arithmetic_v<T> && sizeof(T) <= 8;
template <softgpu_number A, softgpu_number B, class T = decltype(A() + B())>
requires(!std::is_same_v<A, B>)  // these are the functions above, or the standard library's
    SOFTGPU_OF_BOTH T min(A a, B b) {
  return min(static_cast<T>(a), static_cast<T>(b));
}
template <softgpu_number A, softgpu_number B, class T = decltype(A() + B())>
requires(!std::is_same_v<A, B>)  // these are the functions above, or the standard library's
    SOFTGPU_OF_BOTH T max(A a, B b) {
  return max(static_cast<T>(a), static_cast<T>(b));
}
#undef SOFTGPU_OF_BOTH

// ---- Kinds of numbers --------------------------------------------------------------------------

#define SOFTGPU_KIND(NAME, ...)                           \
  SOFTGPU_MATH bool NAME(float x) { return __VA_ARGS__; } \
  SOFTGPU_MATH bool NAME(double x) { return __VA_ARGS__; }
SOFTGPU_KIND(isnan, __builtin_isnan(x))
SOFTGPU_KIND(isinf, __builtin_isinf(x))
SOFTGPU_KIND(isfinite, __builtin_isfinite(x))
SOFTGPU_KIND(signbit, __builtin_signbit(x))
#undef SOFTGPU_KIND

// ---- Functions of the host's library -----------------------------------------------------------

#define SOFTGPU_OF_ONE(NAME)                                           \
  extern "C" __device__ float softgpu_##NAME##f(float);                \
  extern "C" __device__ double softgpu_##NAME(double);                 \
  SOFTGPU_MATH float NAME##f(float x) { return softgpu_##NAME##f(x); } \
  SOFTGPU_MATH float NAME(float x) { return softgpu_##NAME##f(x); }    \
  SOFTGPU_MATH double NAME(double x) { return softgpu_##NAME(x); }
SOFTGPU_HOST_FUNCTIONS_OF_ONE(SOFTGPU_OF_ONE)
#undef SOFTGPU_OF_ONE
#define SOFTGPU_OF_TWO(NAME)                                                       \
  extern "C" __device__ float softgpu_##NAME##f(float, float);                     \
  extern "C" __device__ double softgpu_##NAME(double, double);                     \
  SOFTGPU_MATH float NAME##f(float x, float y) { return softgpu_##NAME##f(x, y); } \
  SOFTGPU_MATH float NAME(float x, float y) { return softgpu_##NAME##f(x, y); }    \
  SOFTGPU_MATH double NAME(double x, double y) { return softgpu_##NAME(x, y); }
SOFTGPU_HOST_FUNCTIONS_OF_TWO(SOFTGPU_OF_TWO)
#undef SOFTGPU_OF_TWO
#undef SOFTGPU_MATH
