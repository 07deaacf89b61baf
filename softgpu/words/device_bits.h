// Bits of integers.
#pragma once

__device__ __forceinline__ int __popc(unsigned v) { return __builtin_popcount(v); }
__device__ __forceinline__ int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
__device__ __forceinline__ int __ffs(int v) { return __builtin_ffs(v); }
__device__ __forceinline__ int __ffsll(long long v) { return __builtin_ffsll(v); }
__device__ __forceinline__ int __clz(int v) { return v == 0 ? 32 : __builtin_clz(v); }
__device__ __forceinline__ int __clzll(long long v) { return v == 0 ? 64 : __builtin_clzll(v); }
__device__ __forceinline__ unsigned __brev(unsigned v) { return __builtin_bitreverse32(v); }
__device__ __forceinline__ unsigned long long __brevll(unsigned long long v) {
  return __builtin_bitreverse64(v);
}
__device__ __forceinline__ int __mulhi(int a, int b) {
  return static_cast<int>(static_cast<long long>(a) * b >> 32);
}
__device__ __forceinline__ unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(static_cast<unsigned long long>(a) * b >> 32);
}
__device__ __forceinline__ unsigned long long __umul64hi(unsigned long long a,
                                                         unsigned long long b) {
  return static_cast<unsigned long long>(static_cast<unsigned __int128>(a) * b >> 64);
}
// Bytes of y:x, chosen by the low three bits of each half byte of s; its top bit replaces the byte
// by its sign in all bits.
__device__ __forceinline__ unsigned __byte_perm(unsigned x, unsigned y, unsigned s) {
  return __nvvm_prmt(x, y, s);
}
__device__ __forceinline__ unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>(
      ((static_cast<unsigned long long>(high) << 32 | low) << (shift & 31)) >> 32);
}
__device__ __forceinline__ unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((static_cast<unsigned long long>(high) << 32 | low) >> (shift & 31));
}
__device__ __forceinline__ int __float_as_int(float v) { return __builtin_bit_cast(int, v); }
__device__ __forceinline__ unsigned __float_as_uint(float v) {
  return __builtin_bit_cast(unsigned, v);
}
__device__ __forceinline__ float __int_as_float(int v) { return __builtin_bit_cast(float, v); }
__device__ __forceinline__ float __uint_as_float(unsigned v) {
  return __builtin_bit_cast(float, v);
}
__device__ __forceinline__ long long __double_as_longlong(double v) {
  return __builtin_bit_cast(long long, v);
}
__device__ __forceinline__ double __longlong_as_double(long long v) {
  return __builtin_bit_cast(double, v);
}
