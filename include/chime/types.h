// The type tables of OpenSHMEM 1.5 and NVSHMEM, streams and teams. Families, C names and tests take
// their types from these rows.
//
// A row is X(NAME, TYPE): NAME is the spelling in function names, TYPE the C type. Further
// arguments of a table go to each row: CHIME_FOR_..._TYPES(X, ...) calls X(NAME, TYPE, ...).
#ifndef CHIME_TYPES_H_
#define CHIME_TYPES_H_

// In C before C23 and C++ before C++20, __VA_OPT__ and variadic macros without arguments are
// extensions. -Wpedantic warns at every use, and only a system header silences it.
#if defined(__GNUC__) && (!defined(__cplusplus) || __cplusplus < 202002L)
#pragma GCC system_header
#endif

#include <stddef.h>
#include <stdint.h>

// The bytes of `n` elements of `size` bytes. If size_t cannot hold them: SIZE_MAX, which every
// operation refuses.
#define CHIME_BYTES(n, size) ((n) >= SIZE_MAX / (size) ? SIZE_MAX : (n) * (size))

// A stream of the device: a cudaStream_t on a GPU, one of exec::stream_create on the CPU device.
// Null is the calling thread's default stream (on a GPU cudaStreamPerThread).
typedef void* chimex_stream_t;

// A team's handle. It is an integer, so that it is a constant in kernels, too.
typedef int32_t chime_team_t;

// The predefined teams, from init to finalize. Members are numbered from 0 in the order of their
// PEs. A program makes others by chime_team_split_strided and its neighbours (chime.h).
//
//   WORLD           all PEs
//   SHARED          the calling PE, and the PEs whose heaps it has mapped (chime_ptr is not null);
//                   with CHIME_P2P=off itself alone
//   NODE            the PEs of the calling PE's node
//   SAME_MYPE_NODE  from each node the PE with the calling PE's number in NODE
enum {
  CHIME_TEAM_INVALID = -1,
  CHIME_TEAM_WORLD = 0,
  CHIME_TEAM_SHARED = 1,
  CHIMEX_TEAM_NODE = 2,
  CHIMEX_TEAM_SAME_MYPE_NODE = 3
};

// What a new team is asked for. A call looks at the members that its mask names.
typedef struct {
  int num_contexts;  // how many contexts of its own it will have at a time
} chime_team_config_t;
#define CHIME_TEAM_NUM_CONTEXTS 1L  // in a mask: num_contexts

// A value and where it was found: laid out as CUDA's double2.
typedef struct __attribute__((aligned(16))) {
  double x, y;
} chimex_double2_t;

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

// Floating-point types whose atomics add, as NVSHMEM has them. half is no C type, and has a table
// of its own. Used by: chimex_..._atomic_add, atomic_fetch_add.
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

// RMA types that every C compiler has: the RMA table without half and bfloat16.
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

// Reduction types, as NVSHMEM has them. Used by: and, or, xor of reduce and reducescatter; sum,
// prod, min and max have those of arithmetic, too.
#define CHIME_FOR_BITWISE_REDUCTION_TYPES(X, ...)             \
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
  X(size, size_t __VA_OPT__(, ) __VA_ARGS__)
#define CHIME_FOR_REDUCTION_C_TYPES(X, ...)                       \
  CHIME_FOR_BITWISE_REDUCTION_TYPES(X __VA_OPT__(, ) __VA_ARGS__) \
  X(char, char __VA_OPT__(, ) __VA_ARGS__)                        \
  X(schar, signed char __VA_OPT__(, ) __VA_ARGS__)                \
  X(short, short __VA_OPT__(, ) __VA_ARGS__)                      \
  X(int, int __VA_OPT__(, ) __VA_ARGS__)                          \
  X(long, long __VA_OPT__(, ) __VA_ARGS__)                        \
  X(longlong, long long __VA_OPT__(, ) __VA_ARGS__)               \
  X(float, float __VA_OPT__(, ) __VA_ARGS__)                      \
  X(double, double __VA_OPT__(, ) __VA_ARGS__)
#define CHIME_FOR_REDUCTION_TYPES(X, ...)                   \
  CHIME_FOR_REDUCTION_C_TYPES(X __VA_OPT__(, ) __VA_ARGS__) \
  X(half, chime_half_t __VA_OPT__(, ) __VA_ARGS__)          \
  X(bfloat16, chime_bfloat16_t __VA_OPT__(, ) __VA_ARGS__)

// Types that kernels do not have, of OpenSHMEM 1.5's Tables 3 and 12. Used by: collectives of the
// host and on streams. CHIME_COMPLEX_OF(REAL) is made by chime/complex.h.
#define CHIME_FOR_LONG_DOUBLE(X, ...) X(longdouble, long double __VA_OPT__(, ) __VA_ARGS__)
#define CHIME_FOR_COMPLEX_TYPES(X, ...)                           \
  X(complexf, CHIME_COMPLEX_OF(float) __VA_OPT__(, ) __VA_ARGS__) \
  X(complexd, CHIME_COMPLEX_OF(double) __VA_OPT__(, ) __VA_ARGS__)

// Pairs {value, location}. Used by: maxloc_reduce.
#define CHIME_FOR_PAIR_TYPES(X, ...) X(double2, chimex_double2_t __VA_OPT__(, ) __VA_ARGS__)

// RMA by the size of an element: X(BITS, BYTES). Used by: put8..put128, get8..get128, iput, iget,
// put_signal.
#define CHIME_FOR_RMA_SIZES(X, ...)   \
  X(8, 1 __VA_OPT__(, ) __VA_ARGS__)  \
  X(16, 2 __VA_OPT__(, ) __VA_ARGS__) \
  X(32, 4 __VA_OPT__(, ) __VA_ARGS__) \
  X(64, 8 __VA_OPT__(, ) __VA_ARGS__) \
  X(128, 16 __VA_OPT__(, ) __VA_ARGS__)

#endif  // CHIME_TYPES_H_
