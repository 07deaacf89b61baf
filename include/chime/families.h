// The families that host code and kernels call by the same names, for every row of the type tables:
// each function is one call to a template (in a kernel) or to host_ops.h (on the host). Their
// contracts are in chime_device.cuh.
//
// Included by device/api.cuh, which defines CHIME_BOTH(device, host) as
// "the first in a kernel, the second on the host", or by chime.h for C and host-only C++, where
// only the second exists. CHIME_FN is how such a function is declared.
#ifndef CHIME_BOTH
#include "chime/chime.h"  // somebody includes this file alone
#elif !defined(CHIME_FAMILIES_H_)
#define CHIME_FAMILIES_H_

#if defined(__GNUC__) && !defined(__cplusplus)
#pragma GCC system_header  // why: types.h
#endif

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "chime/host_ops.h"
#include "chime/types.h"

// C, and C++ without the device side, have no half and bfloat16.
#if defined(__cplusplus) && !defined(CHIME_HOST_ONLY)
#define CHIME_FOR_FAMILY_RMA_TYPES CHIME_FOR_RMA_TYPES
#else
#define CHIME_FOR_FAMILY_RMA_TYPES CHIME_FOR_RMA_C_TYPES
#endif

// ---- Query --------------------------------------------------------------------------------------

CHIME_FN int chime_my_pe(void) {
  CHIME_BOTH(return chime::my_pe(chime::self()), return chimex_host_my_pe());
}
CHIME_FN int chime_n_pes(void) {
  CHIME_BOTH(return chime::n_pes(chime::self()), return chimex_host_n_pes());
}
CHIME_FN int chimex_node_my_pe(void) {
  CHIME_BOTH(return chime::node_my_pe(chime::self()), return chimex_host_node_my_pe());
}
CHIME_FN int chimex_node_n_pes(void) {
  CHIME_BOTH(return chime::node_n_pes(chime::self()), return chimex_host_node_n_pes());
}
CHIME_FN void* chime_ptr(const void* dst, int pe) {
  CHIME_BOTH(return (void*)chime::ptr(chime::self(), (const char*)dst, pe),
                    return chime_host_ptr(dst, pe));
}

// ---- Remote memory access -----------------------------------------------------------------------

#define CHIME_RMA(NAME, T)                                                                         \
  CHIME_FN void chime_##NAME##_put(T* dst, const T* src, size_t n, int pe) {                       \
    CHIME_BOTH(chime::put(chime::self(), chime::Thread{}, dst, src, n, pe),                        \
               chime_host_put(dst, src, CHIME_BYTES(n, sizeof(T)), pe));                           \
  }                                                                                                \
  CHIME_FN void chime_##NAME##_put_nbi(T* dst, const T* src, size_t n, int pe) {                   \
    CHIME_BOTH(chime::put_nbi(chime::self(), chime::Thread{}, dst, src, n, pe),                    \
               chime_host_put_nbi(dst, src, CHIME_BYTES(n, sizeof(T)), pe));                       \
  }                                                                                                \
  CHIME_FN void chime_##NAME##_get(T* dst, const T* src, size_t n, int pe) {                       \
    CHIME_BOTH(chime::get(chime::self(), chime::Thread{}, dst, src, n, pe),                        \
               chime_host_get(dst, src, CHIME_BYTES(n, sizeof(T)), pe));                           \
  }                                                                                                \
  CHIME_FN void chime_##NAME##_get_nbi(T* dst, const T* src, size_t n, int pe) {                   \
    CHIME_BOTH(chime::get_nbi(chime::self(), chime::Thread{}, dst, src, n, pe),                    \
               chime_host_get_nbi(dst, src, CHIME_BYTES(n, sizeof(T)), pe));                       \
  }                                                                                                \
  CHIME_FN void chime_##NAME##_iput(T* dst, const T* src, ptrdiff_t dst_stride,                    \
                                    ptrdiff_t src_stride, size_t n, int pe) {                      \
    CHIME_BOTH(                                                                                    \
        chime::iput(chime::self(), chime::Thread{}, dst, src, dst_stride, src_stride, n, pe),      \
        chime_host_iput(dst, src, dst_stride, src_stride, n, sizeof(T), pe));                      \
  }                                                                                                \
  CHIME_FN void chime_##NAME##_iget(T* dst, const T* src, ptrdiff_t dst_stride,                    \
                                    ptrdiff_t src_stride, size_t n, int pe) {                      \
    CHIME_BOTH(                                                                                    \
        chime::iget(chime::self(), chime::Thread{}, dst, src, dst_stride, src_stride, n, pe),      \
        chime_host_iget(dst, src, dst_stride, src_stride, n, sizeof(T), pe));                      \
  }                                                                                                \
  CHIME_FN void chime_##NAME##_p(T* dst, T value, int pe) {                                        \
    CHIME_BOTH(chime::p(chime::self(), dst, value, pe), chime_host_p(dst, &value, sizeof(T), pe)); \
  }                                                                                                \
  CHIME_FN T chime_##NAME##_g(const T* src, int pe) {                                              \
    CHIME_BOTH(return chime::g(chime::self(), src, pe), T value;                                   \
               memset((void*)&value, 0, sizeof(T)); chime_host_g(&value, src, sizeof(T), pe);      \
               return value);                                                                      \
  }                                                                                                \
  CHIME_FN void chime_##NAME##_put_signal(T* dst, const T* src, size_t n, uint64_t* sig,           \
                                          uint64_t value, int op, int pe) {                        \
    CHIME_BOTH(chime::put_signal(chime::self(), chime::Thread{}, dst, src, n,                      \
                                 chime::signal_of(sig, value, op), pe),                            \
               chime_host_put_signal(dst, src, CHIME_BYTES(n, sizeof(T)), sig, value, op, pe));    \
  }                                                                                                \
  CHIME_FN void chime_##NAME##_put_signal_nbi(T* dst, const T* src, size_t n, uint64_t* sig,       \
                                              uint64_t value, int op, int pe) {                    \
    CHIME_BOTH(                                                                                    \
        chime::put_signal_nbi(chime::self(), chime::Thread{}, dst, src, n,                         \
                              chime::signal_of(sig, value, op), pe),                               \
        chime_host_put_signal_nbi(dst, src, CHIME_BYTES(n, sizeof(T)), sig, value, op, pe));       \
  }

CHIME_FOR_FAMILY_RMA_TYPES(CHIME_RMA)
#undef CHIME_RMA

#define CHIME_RMA_MEM(NAME, SCALE)                                                                 \
  CHIME_FN void chime_put##NAME(void* dst, const void* src, size_t n, int pe) {                    \
    CHIME_BOTH(chime::putmem(chime::self(), chime::Thread{}, dst, src, CHIME_BYTES(n, SCALE), pe), \
               chime_host_put(dst, src, CHIME_BYTES(n, SCALE), pe));                               \
  }                                                                                                \
  CHIME_FN void chime_put##NAME##_nbi(void* dst, const void* src, size_t n, int pe) {              \
    CHIME_BOTH(                                                                                    \
        chime::putmem_nbi(chime::self(), chime::Thread{}, dst, src, CHIME_BYTES(n, SCALE), pe),    \
        chime_host_put_nbi(dst, src, CHIME_BYTES(n, SCALE), pe));                                  \
  }                                                                                                \
  CHIME_FN void chime_get##NAME(void* dst, const void* src, size_t n, int pe) {                    \
    CHIME_BOTH(chime::getmem(chime::self(), chime::Thread{}, dst, src, CHIME_BYTES(n, SCALE), pe), \
               chime_host_get(dst, src, CHIME_BYTES(n, SCALE), pe));                               \
  }                                                                                                \
  CHIME_FN void chime_get##NAME##_nbi(void* dst, const void* src, size_t n, int pe) {              \
    CHIME_BOTH(                                                                                    \
        chime::getmem_nbi(chime::self(), chime::Thread{}, dst, src, CHIME_BYTES(n, SCALE), pe),    \
        chime_host_get_nbi(dst, src, CHIME_BYTES(n, SCALE), pe));                                  \
  }                                                                                                \
  CHIME_FN void chime_put##NAME##_signal(void* dst, const void* src, size_t n, uint64_t* sig,      \
                                         uint64_t value, int op, int pe) {                         \
    CHIME_BOTH(chime::putmem_signal(chime::self(), chime::Thread{}, dst, src,                      \
                                    CHIME_BYTES(n, SCALE), chime::signal_of(sig, value, op), pe),  \
               chime_host_put_signal(dst, src, CHIME_BYTES(n, SCALE), sig, value, op, pe));        \
  }                                                                                                \
  CHIME_FN void chime_put##NAME##_signal_nbi(void* dst, const void* src, size_t n, uint64_t* sig,  \
                                             uint64_t value, int op, int pe) {                     \
    CHIME_BOTH(                                                                                    \
        chime::putmem_signal_nbi(chime::self(), chime::Thread{}, dst, src, CHIME_BYTES(n, SCALE),  \
                                 chime::signal_of(sig, value, op), pe),                            \
        chime_host_put_signal_nbi(dst, src, CHIME_BYTES(n, SCALE), sig, value, op, pe));           \
  }
CHIME_RMA_MEM(mem, 1)
CHIME_FOR_RMA_SIZES(CHIME_RMA_MEM)
#undef CHIME_RMA_MEM

#define CHIME_RMA_STRIDED(BITS, BYTES)                                                             \
  CHIME_FN void chime_iput##BITS(void* dst, const void* src, ptrdiff_t dst_stride,                 \
                                 ptrdiff_t src_stride, size_t n, int pe) {                         \
    CHIME_BOTH(chime::iput(chime::self(), chime::Thread{}, (chime::detail::Word<BYTES>*)dst,       \
                           (const chime::detail::Word<BYTES>*)src, dst_stride, src_stride, n, pe), \
               chime_host_iput(dst, src, dst_stride, src_stride, n, BYTES, pe));                   \
  }                                                                                                \
  CHIME_FN void chime_iget##BITS(void* dst, const void* src, ptrdiff_t dst_stride,                 \
                                 ptrdiff_t src_stride, size_t n, int pe) {                         \
    CHIME_BOTH(chime::iget(chime::self(), chime::Thread{}, (chime::detail::Word<BYTES>*)dst,       \
                           (const chime::detail::Word<BYTES>*)src, dst_stride, src_stride, n, pe), \
               chime_host_iget(dst, src, dst_stride, src_stride, n, BYTES, pe));                   \
  }
CHIME_FOR_RMA_SIZES(CHIME_RMA_STRIDED)
#undef CHIME_RMA_STRIDED

// ---- Signals ------------------------------------------------------------------------------------

CHIME_FN void chimex_signal_op(uint64_t* sig, uint64_t value, int op, int pe) {
  CHIME_BOTH(chime::signal_op(chime::self(), chime::signal_of(sig, value, op), pe),
             chime_host_signal_op(sig, value, op, pe));
}
CHIME_FN uint64_t chime_signal_fetch(const uint64_t* sig) {
  CHIME_BOTH(return chime::signal_fetch(chime::self(), sig), return chime_host_signal_fetch(sig));
}
CHIME_FN uint64_t chime_signal_wait_until(uint64_t* sig, int cmp, uint64_t value) {
  CHIME_BOTH(return chime::signal_wait_until(chime::self(), sig, (chime::Cmp)cmp, value),
                    return chime_host_signal_wait_until(sig, cmp, value));
}
CHIME_FN int chimex_signal_wait_until_timeout(uint64_t* sig, int cmp, uint64_t value,
                                              uint64_t timeout_ns, uint64_t* seen) {
  CHIME_BOTH(return chime::signal_wait_until_timeout(chime::self(), sig, (chime::Cmp)cmp, value,
                                                     timeout_ns, seen),
                    return chime_host_signal_wait_until_timeout(sig, cmp, value, timeout_ns, seen));
}

// ---- Atomics ------------------------------------------------------------------------------------

#define CHIME_AMO_EXTENDED(NAME, T)                                                               \
  CHIME_FN T chime_##NAME##_atomic_fetch(const T* src, int pe) {                                  \
    CHIME_BOTH(                                                                                   \
        return chime::atomic_fetch(chime::self(), src, pe), T result;                             \
        const uint64_t old = chime_host_amo(CHIME_AMO_FETCH, 1, (void*)src, sizeof(T), 0, 0, pe); \
        memcpy(&result, &old, sizeof(T)); return result);                                         \
  }                                                                                               \
  CHIME_FN void chime_##NAME##_atomic_set(T* dst, T value, int pe) {                              \
    CHIME_BOTH(chime::atomic_set(chime::self(), dst, value, pe), uint64_t bits = 0;               \
               memcpy(&bits, &value, sizeof(T));                                                  \
               chime_host_amo(CHIME_AMO_SET, 0, dst, sizeof(T), bits, 0, pe));                    \
  }                                                                                               \
  CHIME_FN T chime_##NAME##_atomic_swap(T* dst, T value, int pe) {                                \
    CHIME_BOTH(return chime::atomic_swap(chime::self(), dst, value, pe), uint64_t bits = 0;       \
               memcpy(&bits, &value, sizeof(T));                                                  \
               bits = chime_host_amo(CHIME_AMO_SWAP, 1, dst, sizeof(T), bits, 0, pe);             \
               memcpy(&value, &bits, sizeof(T)); return value);                                   \
  }
CHIME_FOR_EXTENDED_AMO_TYPES(CHIME_AMO_EXTENDED)
#undef CHIME_AMO_EXTENDED

#define CHIME_AMO_STANDARD(NAME, T)                                                               \
  CHIME_FN void chime_##NAME##_atomic_inc(T* dst, int pe) {                                       \
    CHIME_BOTH(chime::atomic_inc(chime::self(), dst, pe),                                         \
               chime_host_amo(CHIME_AMO_INC, 0, dst, sizeof(T), 1, 0, pe));                       \
  }                                                                                               \
  CHIME_FN void chime_##NAME##_atomic_add(T* dst, T value, int pe) {                              \
    CHIME_BOTH(chime::atomic_add(chime::self(), dst, value, pe),                                  \
               chime_host_amo(CHIME_AMO_ADD, 0, dst, sizeof(T), (uint64_t)value, 0, pe));         \
  }                                                                                               \
  CHIME_FN T chime_##NAME##_atomic_fetch_inc(T* dst, int pe) {                                    \
    CHIME_BOTH(return chime::atomic_fetch_inc(chime::self(), dst, pe),                            \
                      return (T)chime_host_amo(CHIME_AMO_INC, 1, dst, sizeof(T), 1, 0, pe));      \
  }                                                                                               \
  CHIME_FN T chime_##NAME##_atomic_fetch_add(T* dst, T value, int pe) {                           \
    CHIME_BOTH(return chime::atomic_fetch_add(chime::self(), dst, value, pe),                     \
                      return (T)chime_host_amo(CHIME_AMO_ADD, 1, dst, sizeof(T), (uint64_t)value, \
                                               0, pe));                                           \
  }                                                                                               \
  CHIME_FN T chime_##NAME##_atomic_compare_swap(T* dst, T cond, T value, int pe) {                \
    CHIME_BOTH(return chime::atomic_compare_swap(chime::self(), dst, cond, value, pe),            \
                      return (T)chime_host_amo(CHIME_AMO_COMPARE_SWAP, 1, dst, sizeof(T),         \
                                               (uint64_t)value, (uint64_t)cond, pe));             \
  }
CHIME_FOR_STANDARD_AMO_TYPES(CHIME_AMO_STANDARD)
#undef CHIME_AMO_STANDARD

#define CHIME_AMO_BITWISE_OP(NAME, T, OP, HOST_OP)                                            \
  CHIME_FN void chime_##NAME##_atomic_##OP(T* dst, T value, int pe) {                         \
    CHIME_BOTH(chime::atomic_##OP(chime::self(), dst, value, pe),                             \
               chime_host_amo(HOST_OP, 0, dst, sizeof(T), (uint64_t)value, 0, pe));           \
  }                                                                                           \
  CHIME_FN T chime_##NAME##_atomic_fetch_##OP(T* dst, T value, int pe) {                      \
    CHIME_BOTH(                                                                               \
        return chime::atomic_fetch_##OP(chime::self(), dst, value, pe),                       \
               return (T)chime_host_amo(HOST_OP, 1, dst, sizeof(T), (uint64_t)value, 0, pe)); \
  }
CHIME_FOR_BITWISE_AMO_TYPES(CHIME_AMO_BITWISE_OP, and, CHIME_AMO_AND)
CHIME_FOR_BITWISE_AMO_TYPES(CHIME_AMO_BITWISE_OP, or, CHIME_AMO_OR)
CHIME_FOR_BITWISE_AMO_TYPES(CHIME_AMO_BITWISE_OP, xor, CHIME_AMO_XOR)
#undef CHIME_AMO_BITWISE_OP

// ---- Waits and tests ----------------------------------------------------------------------------

// A chime_wait_request, in the order of its members; `INDICES` for the some forms, else null.
#define CHIME_WAIT_SET(T, IVARS, N, SKIP, CMP, VALUES, VECTOR, MODE, INDICES) \
  chime_wait_request request;                                                 \
  request.elements = IVARS;                                                   \
  request.count = N;                                                          \
  request.skip = SKIP;                                                        \
  request.cmp = CMP;                                                          \
  request.values = VALUES;                                                    \
  request.vector = VECTOR;                                                    \
  request.width = (int)sizeof(T);                                             \
  request.is_signed = (T)-1 < (T)1;                                           \
  request.mode = MODE;                                                        \
  request.indices = INDICES

#define CHIME_WAIT(NAME, T)                                                                        \
  CHIME_FN void chime_##NAME##_wait_until(T* ivar, int cmp, T value) {                             \
    CHIME_BOTH(chime::wait_until(chime::self(), ivar, (chime::Cmp)cmp, value),                     \
               CHIME_WAIT_SET(T, ivar, 1, NULL, cmp, &value, 0, CHIME_WAIT_ONE, NULL);             \
               chime_host_wait(&request));                                                         \
  }                                                                                                \
  CHIME_FN int chimex_##NAME##_wait_until_timeout(T* ivar, int cmp, T value,                       \
                                                  uint64_t timeout_ns) {                           \
    CHIME_BOTH(                                                                                    \
        return chime::wait_until_timeout(chime::self(), ivar, (chime::Cmp)cmp, value, timeout_ns), \
               CHIME_WAIT_SET(T, ivar, 1, NULL, cmp, &value, 0, CHIME_WAIT_ONE, NULL);             \
        return chime_host_wait_timeout(&request, timeout_ns));                                     \
  }                                                                                                \
  CHIME_FN void chime_##NAME##_wait_until_all(T* ivars, size_t n, const int* status, int cmp,      \
                                              T value) {                                           \
    CHIME_BOTH(chime::wait_until_all(chime::self(), ivars, n, status, (chime::Cmp)cmp, value),     \
               CHIME_WAIT_SET(T, ivars, n, status, cmp, &value, 0, CHIME_WAIT_ALL, NULL);          \
               chime_host_wait(&request));                                                         \
  }                                                                                                \
  CHIME_FN size_t chime_##NAME##_wait_until_any(T* ivars, size_t n, const int* status, int cmp,    \
                                                T value) {                                         \
    CHIME_BOTH(                                                                                    \
        return chime::wait_until_any(chime::self(), ivars, n, status, (chime::Cmp)cmp, value),     \
               CHIME_WAIT_SET(T, ivars, n, status, cmp, &value, 0, CHIME_WAIT_ANY, NULL);          \
        return chime_host_wait(&request));                                                         \
  }                                                                                                \
  CHIME_FN size_t chime_##NAME##_wait_until_some(T* ivars, size_t n, size_t* indices,              \
                                                 const int* status, int cmp, T value) {            \
    CHIME_BOTH(                                                                                    \
        return chime::wait_until_some(chime::self(), ivars, n, indices, status, (chime::Cmp)cmp,   \
                                      value),                                                      \
               CHIME_WAIT_SET(T, ivars, n, status, cmp, &value, 0, CHIME_WAIT_SOME, indices);      \
        return chime_host_wait(&request));                                                         \
  }                                                                                                \
  CHIME_FN void chime_##NAME##_wait_until_all_vector(T* ivars, size_t n, const int* status,        \
                                                     int cmp, T* values) {                         \
    CHIME_BOTH(                                                                                    \
        chime::wait_until_all_vector(chime::self(), ivars, n, status, (chime::Cmp)cmp, values),    \
        CHIME_WAIT_SET(T, ivars, n, status, cmp, values, 1, CHIME_WAIT_ALL, NULL);                 \
        chime_host_wait(&request));                                                                \
  }                                                                                                \
  CHIME_FN size_t chime_##NAME##_wait_until_any_vector(T* ivars, size_t n, const int* status,      \
                                                       int cmp, T* values) {                       \
    CHIME_BOTH(return chime::wait_until_any_vector(chime::self(), ivars, n, status,                \
                                                   (chime::Cmp)cmp, values),                       \
                      CHIME_WAIT_SET(T, ivars, n, status, cmp, values, 1, CHIME_WAIT_ANY, NULL);   \
               return chime_host_wait(&request));                                                  \
  }                                                                                                \
  CHIME_FN size_t chime_##NAME##_wait_until_some_vector(T* ivars, size_t n, size_t* indices,       \
                                                        const int* status, int cmp, T* values) {   \
    CHIME_BOTH(                                                                                    \
        return chime::wait_until_some_vector(chime::self(), ivars, n, indices, status,             \
                                             (chime::Cmp)cmp, values),                             \
               CHIME_WAIT_SET(T, ivars, n, status, cmp, values, 1, CHIME_WAIT_SOME, indices);      \
        return chime_host_wait(&request));                                                         \
  }
CHIME_FOR_WAIT_TYPES(CHIME_WAIT)
#undef CHIME_WAIT

#define CHIME_TEST(NAME, T)                                                                        \
  CHIME_FN int chime_##NAME##_test(T* ivar, int cmp, T value) {                                    \
    CHIME_BOTH(return chime::test(chime::self(), ivar, (chime::Cmp)cmp, value),                    \
                      CHIME_WAIT_SET(T, ivar, 1, NULL, cmp, &value, 0, CHIME_WAIT_ONE, NULL);      \
               return (int)chime_host_test(&request));                                             \
  }                                                                                                \
  CHIME_FN int chime_##NAME##_test_all(T* ivars, size_t n, const int* status, int cmp, T value) {  \
    CHIME_BOTH(return chime::test_all(chime::self(), ivars, n, status, (chime::Cmp)cmp, value),    \
                      CHIME_WAIT_SET(T, ivars, n, status, cmp, &value, 0, CHIME_WAIT_ALL, NULL);   \
               return (int)chime_host_test(&request));                                             \
  }                                                                                                \
  CHIME_FN size_t chime_##NAME##_test_any(T* ivars, size_t n, const int* status, int cmp,          \
                                          T value) {                                               \
    CHIME_BOTH(return chime::test_any(chime::self(), ivars, n, status, (chime::Cmp)cmp, value),    \
                      CHIME_WAIT_SET(T, ivars, n, status, cmp, &value, 0, CHIME_WAIT_ANY, NULL);   \
               return chime_host_test(&request));                                                  \
  }                                                                                                \
  CHIME_FN size_t chime_##NAME##_test_some(T* ivars, size_t n, size_t* indices, const int* status, \
                                           int cmp, T value) {                                     \
    CHIME_BOTH(                                                                                    \
        return chime::test_some(chime::self(), ivars, n, indices, status, (chime::Cmp)cmp, value), \
               CHIME_WAIT_SET(T, ivars, n, status, cmp, &value, 0, CHIME_WAIT_SOME, indices);      \
        return chime_host_test(&request));                                                         \
  }                                                                                                \
  CHIME_FN int chime_##NAME##_test_all_vector(T* ivars, size_t n, const int* status, int cmp,      \
                                              T* values) {                                         \
    CHIME_BOTH(                                                                                    \
        return chime::test_all_vector(chime::self(), ivars, n, status, (chime::Cmp)cmp, values),   \
               CHIME_WAIT_SET(T, ivars, n, status, cmp, values, 1, CHIME_WAIT_ALL, NULL);          \
        return (int)chime_host_test(&request));                                                    \
  }                                                                                                \
  CHIME_FN size_t chime_##NAME##_test_any_vector(T* ivars, size_t n, const int* status, int cmp,   \
                                                 T* values) {                                      \
    CHIME_BOTH(                                                                                    \
        return chime::test_any_vector(chime::self(), ivars, n, status, (chime::Cmp)cmp, values),   \
               CHIME_WAIT_SET(T, ivars, n, status, cmp, values, 1, CHIME_WAIT_ANY, NULL);          \
        return chime_host_test(&request));                                                         \
  }                                                                                                \
  CHIME_FN size_t chime_##NAME##_test_some_vector(T* ivars, size_t n, size_t* indices,             \
                                                  const int* status, int cmp, T* values) {         \
    CHIME_BOTH(                                                                                    \
        return chime::test_some_vector(chime::self(), ivars, n, indices, status, (chime::Cmp)cmp,  \
                                       values),                                                    \
               CHIME_WAIT_SET(T, ivars, n, status, cmp, values, 1, CHIME_WAIT_SOME, indices);      \
        return chime_host_test(&request));                                                         \
  }
CHIME_FOR_WAIT_TYPES(CHIME_TEST)
#undef CHIME_TEST
#undef CHIME_WAIT_SET

// ---- Ordering and collectives -------------------------------------------------------------------

CHIME_FN void chime_fence(void) { CHIME_BOTH(chime::fence(chime::self()), chime_host_fence()); }
CHIME_FN void chime_quiet(void) { CHIME_BOTH(chime::quiet(chime::self()), chime_host_quiet()); }
CHIME_FN void chime_barrier_all(void) {
  CHIME_BOTH(chime::barrier_all(chime::self(), chime::Thread{}), chime_host_barrier_all());
}
CHIME_FN void chime_sync_all(void) {
  CHIME_BOTH(chime::sync_all(chime::self(), chime::Thread{}), chime_host_sync_all());
}

// ---- On-stream, typed (host only) ---------------------------------------------------------------

#define CHIME_ON_STREAM(NAME, T)                                                                 \
  static inline void chimex_##NAME##_put_on_stream(T* dst, const T* src, size_t n, int pe,       \
                                                   chimex_stream_t stream) {                     \
    chimex_putmem_on_stream(dst, src, CHIME_BYTES(n, sizeof(T)), pe, stream);                    \
  }                                                                                              \
  static inline void chimex_##NAME##_put_nbi_on_stream(T* dst, const T* src, size_t n, int pe,   \
                                                       chimex_stream_t stream) {                 \
    chimex_putmem_nbi_on_stream(dst, src, CHIME_BYTES(n, sizeof(T)), pe, stream);                \
  }                                                                                              \
  static inline void chimex_##NAME##_get_on_stream(T* dst, const T* src, size_t n, int pe,       \
                                                   chimex_stream_t stream) {                     \
    chimex_getmem_on_stream(dst, src, CHIME_BYTES(n, sizeof(T)), pe, stream);                    \
  }                                                                                              \
  static inline void chimex_##NAME##_put_signal_on_stream(T* dst, const T* src, size_t n,        \
                                                          uint64_t* sig, uint64_t value, int op, \
                                                          int pe, chimex_stream_t stream) {      \
    chimex_putmem_signal_on_stream(dst, src, CHIME_BYTES(n, sizeof(T)), sig, value, op, pe,      \
                                   stream);                                                      \
  }                                                                                              \
  static inline void chimex_##NAME##_put_signal_nbi_on_stream(                                   \
      T* dst, const T* src, size_t n, uint64_t* sig, uint64_t value, int op, int pe,             \
      chimex_stream_t stream) {                                                                  \
    chimex_putmem_signal_nbi_on_stream(dst, src, CHIME_BYTES(n, sizeof(T)), sig, value, op, pe,  \
                                       stream);                                                  \
  }
CHIME_FOR_FAMILY_RMA_TYPES(CHIME_ON_STREAM)
#undef CHIME_ON_STREAM
#undef CHIME_FOR_FAMILY_RMA_TYPES

#endif  // CHIME_FAMILIES_H_
