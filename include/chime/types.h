// The type tables of OpenSHMEM 1.5 and NVSHMEM, once. Families, C names and tests all come from
// these rows.
//
// A row is X(NAME, TYPE): NAME is the spelling in function names, TYPE the C type. Extra arguments
// of the caller travel behind X: CHIME_FOR_..._TYPES(X, ...) calls X(NAME, TYPE, ...).
#ifndef CHIME_TYPES_H_
#define CHIME_TYPES_H_

// C before C23 and C++ before C++20 have __VA_OPT__, and variadic macros without arguments, as
// extensions, of which -Wpedantic complains at every use. The compilers know no other way to say
// that they are meant.
#if defined(__GNUC__) && (!defined(__cplusplus) || __cplusplus < 202002L)
#pragma GCC system_header
#endif

#include <stddef.h>
#include <stdint.h>

// The size of `n` elements of `size` bytes; SIZE_MAX, which no heap has, where size_t cannot hold
// it.
#define CHIME_BYTES(n, size) ((n) >= SIZE_MAX / (size) ? SIZE_MAX : (n) * (size))

// A stream of the device: a cudaStream_t, or exec::stream_create's on the CPU device. Null: the
// calling thread's default stream (on a GPU cudaStreamPerThread).
typedef void* chimex_stream_t;

// A team's handle: an integer, so that it is a constant in kernels, too.
typedef int32_t chime_team_t;

// Teams that are there from init to finalize. WORLD: all PEs. SHARED: the PEs whose heaps the
// calling PE has mapped (chime_ptr is not null), and itself; CHIME_P2P decides about them, so that
// with off it is the PE alone. NODE: the PEs of its node. SAME_MYPE_NODE: of each node the PE that
// has the calling PE's number among those of its node. Members are numbered in the order of their
// PEs. A PE that is lost may leave SHARED.
enum {
  CHIME_TEAM_INVALID = -1,
  CHIME_TEAM_WORLD = 0,
  CHIME_TEAM_SHARED = 1,
  CHIMEX_TEAM_NODE = 2,
  CHIMEX_TEAM_SAME_MYPE_NODE = 3
};

// Standard AMO types, bitwise part. OpenSHMEM 1.5 Table 7. Used by: atomic_and/or/xor and their
// fetch forms.
#define CHIME_FOR_BITWISE_AMO_TYPES(X, ...)                   \
  X(uint, unsigned int __VA_OPT__(, ) __VA_ARGS__)            \
  X(ulong, unsigned long __VA_OPT__(, ) __VA_ARGS__)          \
  X(ulonglong, unsigned long long __VA_OPT__(, ) __VA_ARGS__) \
  X(int32, int32_t __VA_OPT__(, ) __VA_ARGS__)                \
  X(uint32, uint32_t __VA_OPT__(, ) __VA_ARGS__)              \
  X(int64, int64_t __VA_OPT__(, ) __VA_ARGS__)                \
  X(uint64, uint64_t __VA_OPT__(, ) __VA_ARGS__)

// Standard AMO types. OpenSHMEM 1.5 Table 5. Used by: atomic_inc, add, fetch_inc, fetch_add,
// compare_swap.
#define CHIME_FOR_STANDARD_AMO_TYPES(X, ...)                \
  CHIME_FOR_BITWISE_AMO_TYPES(X __VA_OPT__(, ) __VA_ARGS__) \
  X(int, int __VA_OPT__(, ) __VA_ARGS__)                    \
  X(long, long __VA_OPT__(, ) __VA_ARGS__)                  \
  X(longlong, long long __VA_OPT__(, ) __VA_ARGS__)         \
  X(size, size_t __VA_OPT__(, ) __VA_ARGS__)                \
  X(ptrdiff, ptrdiff_t __VA_OPT__(, ) __VA_ARGS__)

// Extended AMO types. OpenSHMEM 1.5 Table 6. Used by: atomic_fetch, set, swap.
#define CHIME_FOR_EXTENDED_AMO_TYPES(X, ...)                 \
  CHIME_FOR_STANDARD_AMO_TYPES(X __VA_OPT__(, ) __VA_ARGS__) \
  X(float, float __VA_OPT__(, ) __VA_ARGS__)                 \
  X(double, double __VA_OPT__(, ) __VA_ARGS__)

// Types whose atomics also add: NVSHMEM's, of which half is no C type. Used by: atomic_add,
// fetch_add of chimex_.
#define CHIME_FOR_FLOAT_AMO_C_TYPES(X, ...)  \
  X(float, float __VA_OPT__(, ) __VA_ARGS__) \
  X(double, double __VA_OPT__(, ) __VA_ARGS__)
#define CHIME_FOR_HALF_AMO_TYPES(X, ...) X(half, chime_half_t __VA_OPT__(, ) __VA_ARGS__)

// Point-to-point synchronisation types. OpenSHMEM 1.5 Table 8. Used by: wait_until and test
// families.
#define CHIME_FOR_WAIT_TYPES(X, ...)                   \
  X(short, short __VA_OPT__(, ) __VA_ARGS__)           \
  X(ushort, unsigned short __VA_OPT__(, ) __VA_ARGS__) \
  CHIME_FOR_STANDARD_AMO_TYPES(X __VA_OPT__(, ) __VA_ARGS__)

// RMA types with a C spelling on every compiler: the RMA table without half and bfloat16.
#define CHIME_FOR_RMA_C_TYPES(X, ...)                         \
  X(float, float __VA_OPT__(, ) __VA_ARGS__)                  \
  X(double, double __VA_OPT__(, ) __VA_ARGS__)                \
  X(char, char __VA_OPT__(, ) __VA_ARGS__)                    \
  X(schar, signed char __VA_OPT__(, ) __VA_ARGS__)            \
  X(short, short __VA_OPT__(, ) __VA_ARGS__)                  \
  X(int, int __VA_OPT__(, ) __VA_ARGS__)                      \
  X(long, long __VA_OPT__(, ) __VA_ARGS__)                    \
  X(longlong, long long __VA_OPT__(, ) __VA_ARGS__)           \
  X(uchar, unsigned char __VA_OPT__(, ) __VA_ARGS__)          \
  X(ushort, unsigned short __VA_OPT__(, ) __VA_ARGS__)        \
  X(uint, unsigned int __VA_OPT__(, ) __VA_ARGS__)            \
  X(ulong, unsigned long __VA_OPT__(, ) __VA_ARGS__)          \
  X(ulonglong, unsigned long long __VA_OPT__(, ) __VA_ARGS__) \
  X(int8, int8_t __VA_OPT__(, ) __VA_ARGS__)                  \
  X(int16, int16_t __VA_OPT__(, ) __VA_ARGS__)                \
  X(int32, int32_t __VA_OPT__(, ) __VA_ARGS__)                \
  X(int64, int64_t __VA_OPT__(, ) __VA_ARGS__)                \
  X(uint8, uint8_t __VA_OPT__(, ) __VA_ARGS__)                \
  X(uint16, uint16_t __VA_OPT__(, ) __VA_ARGS__)              \
  X(uint32, uint32_t __VA_OPT__(, ) __VA_ARGS__)              \
  X(uint64, uint64_t __VA_OPT__(, ) __VA_ARGS__)              \
  X(size, size_t __VA_OPT__(, ) __VA_ARGS__)                  \
  X(ptrdiff, ptrdiff_t __VA_OPT__(, ) __VA_ARGS__)

// RMA types. OpenSHMEM 1.5 Table 3 as NVSHMEM has it: with half and bfloat16, without long double.
// Used by: p, g, put, get, iput, iget, put_signal and the collectives that only move data.
#define CHIME_FOR_RMA_TYPES(X, ...)                   \
  CHIME_FOR_RMA_C_TYPES(X __VA_OPT__(, ) __VA_ARGS__) \
  X(half, chime_half_t __VA_OPT__(, ) __VA_ARGS__)    \
  X(bfloat16, chime_bfloat16_t __VA_OPT__(, ) __VA_ARGS__)

// RMA by size in bits: X(BITS, BYTES). Used by: put8..put128, get8..get128, iput, iget, put_signal.
#define CHIME_FOR_RMA_SIZES(X, ...)   \
  X(8, 1 __VA_OPT__(, ) __VA_ARGS__)  \
  X(16, 2 __VA_OPT__(, ) __VA_ARGS__) \
  X(32, 4 __VA_OPT__(, ) __VA_ARGS__) \
  X(64, 8 __VA_OPT__(, ) __VA_ARGS__) \
  X(128, 16 __VA_OPT__(, ) __VA_ARGS__)

#endif  // CHIME_TYPES_H_
