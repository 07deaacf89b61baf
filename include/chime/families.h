// The families: a row is one operation, for every type of its table and every form of its name. It
// has the prototype. The contract is in chime_device.cuh, in the operation's chapter; chime.h has
// that of the on-stream forms.
//
//     ROW(RESULT, PREFIX, STEM, (PARAMETERS),
//         TEMPLATE, (ARGUMENTS),
//         CALL)
//
//   RESULT, PARAMETERS   of the prototype; the name is PREFIX and STEM
//   TEMPLATE, ARGUMENTS  what a kernel runs: a template of namespace chime. It takes the context,
//                        the group where groups do the operation, and ARGUMENTS
//   CALL                 what the host runs: a function of libchime.so (host_ops.h, on_host.hpp)
//   T, NAME              a type and its spelling in names, from types.h
//
// A user passes its own macro for ROW. device/api.cuh makes the forms for a thread, a warp, a block
// and a stream; chime.h the declaration for C; host/ops/c_api.cpp the symbol of libchime.so.
#ifndef CHIME_FAMILIES_H_
#define CHIME_FAMILIES_H_

#if defined(__GNUC__) && !defined(__cplusplus)
#pragma GCC system_header  // why: types.h
#endif

#include "chime/types.h"

// Three lines a row, aligned by hand.
// clang-format off

// ---- Query --------------------------------------------------------------------------------------

#define CHIME_QUERY_ROWS(ROW)                                                                      \
  ROW(int, chime_, my_pe, (void), my_pe, (), chimex_host_my_pe())                                  \
  ROW(int, chime_, n_pes, (void), n_pes, (), chimex_host_n_pes())                                  \
  ROW(void*, chime_, ptr, (const void* dst, int pe),                                               \
      ptr, ((char*)dst, pe),                                                                       \
      chime_host_ptr(dst, pe))                                                                     \
  ROW(int, chime_, team_my_pe, (chime_team_t team),                                                \
      team_my_pe, (team),                                                                          \
      chime_host_team_my_pe(team))                                                                 \
  ROW(int, chime_, team_n_pes, (chime_team_t team),                                                \
      team_n_pes, (team),                                                                          \
      chime_host_team_n_pes(team))                                                                 \
  ROW(int, chime_, team_translate_pe, (chime_team_t team, int pe, chime_team_t other),             \
      team_translate_pe, (team, pe, other),                                                        \
      chime_host_team_translate_pe(team, pe, other))

// Chime's own: NVSHMEM has no such names.
#define CHIME_OWN_ROWS(ROW)                                                                        \
  ROW(void*, chime_, team_ptr, (chime_team_t team, const void* dst, int pe),                       \
      team_ptr, (team, dst, pe),                                                                   \
      chime_host_team_ptr(team, dst, pe))                                                          \
  ROW(chime_team_t, chimex_, team_lane, (chime_team_t team, int lane),                             \
      team_lane, (team, lane),                                                                     \
      chime_host_team_lane(team, lane))                                                            \
  ROW(int, chimex_, node_my_pe, (void), node_my_pe, (), chimex_host_node_my_pe())                  \
  ROW(int, chimex_, node_n_pes, (void), node_n_pes, (), chimex_host_node_n_pes())                  \
  ROW(int, chimex_, pe_status, (int pe), pe_status, (pe), chimex_host_pe_status(pe))               \
  ROW(int, chimex_, signal_wait_until_timeout,                                                     \
      (uint64_t* sig, int cmp, uint64_t value, uint64_t timeout_ns, uint64_t* seen),               \
      signal_wait_until_timeout, (sig, (chime::Cmp)cmp, value, timeout_ns, seen),                  \
      chime_host_signal_wait_until_timeout(sig, cmp, value, timeout_ns, seen))

// ---- Remote memory access -----------------------------------------------------------------------

#define CHIME_PUT_GET_ROWS(NAME, T, ROW)                                                           \
  ROW(void, chime_, NAME##_put, (T* dst, const T* src, size_t n, int pe),                          \
      put, (dst, src, n, pe),                                                                      \
      chime_host_put(dst, src, chime::on_host::bytes(n, sizeof(T)), pe))                           \
  ROW(void, chime_, NAME##_put_nbi, (T* dst, const T* src, size_t n, int pe),                      \
      put_nbi, (dst, src, n, pe),                                                                  \
      chime_host_put_nbi(dst, src, chime::on_host::bytes(n, sizeof(T)), pe))                       \
  ROW(void, chime_, NAME##_get, (T* dst, const T* src, size_t n, int pe),                          \
      get, (dst, src, n, pe),                                                                      \
      chime_host_get(dst, src, chime::on_host::bytes(n, sizeof(T)), pe))                           \
  ROW(void, chime_, NAME##_get_nbi, (T* dst, const T* src, size_t n, int pe),                      \
      get_nbi, (dst, src, n, pe),                                                                  \
      chime_host_get_nbi(dst, src, chime::on_host::bytes(n, sizeof(T)), pe))                       \
  ROW(void, chime_, NAME##_iput,                                                                   \
      (T* dst, const T* src, ptrdiff_t dst_stride, ptrdiff_t src_stride, size_t n, int pe),        \
      iput, (dst, src, dst_stride, src_stride, n, pe),                                             \
      chime_host_iput(dst, src, dst_stride, src_stride, n, sizeof(T), pe))                         \
  ROW(void, chime_, NAME##_iget,                                                                   \
      (T* dst, const T* src, ptrdiff_t dst_stride, ptrdiff_t src_stride, size_t n, int pe),        \
      iget, (dst, src, dst_stride, src_stride, n, pe),                                             \
      chime_host_iget(dst, src, dst_stride, src_stride, n, sizeof(T), pe))                         \
  ROW(void, chime_, NAME##_put_signal,                                                             \
      (T* dst, const T* src, size_t n, uint64_t* sig, uint64_t value, int op, int pe),             \
      put_signal, (dst, src, n, chime::signal_of(sig, value, op), pe),                             \
      chime_host_put_signal(dst, src, chime::on_host::bytes(n, sizeof(T)), sig, value, op, pe))    \
  ROW(void, chime_, NAME##_put_signal_nbi,                                                         \
      (T* dst, const T* src, size_t n, uint64_t* sig, uint64_t value, int op, int pe),             \
      put_signal_nbi, (dst, src, n, chime::signal_of(sig, value, op), pe),                         \
      chime_host_put_signal_nbi(dst, src, chime::on_host::bytes(n, sizeof(T)),                     \
                                sig, value, op, pe))

#define CHIME_ELEMENT_ROWS(NAME, T, ROW)                                                           \
  ROW(void, chime_, NAME##_p, (T* dst, T value, int pe),                                           \
      p, (dst, value, pe),                                                                         \
      chime_host_p(dst, &value, sizeof(T), pe))                                                    \
  ROW(T, chime_, NAME##_g, (const T* src, int pe),                                                 \
      g, (src, pe),                                                                                \
      chime::on_host::g(src, pe))

#define CHIME_PUT_GET_SIZE_ROWS(NAME, BYTES, ROW)                                                  \
  ROW(void, chime_, put##NAME, (void* dst, const void* src, size_t n, int pe),                     \
      putmem, (dst, src, CHIME_BYTES(n, BYTES), pe),                                               \
      chime_host_put(dst, src, chime::on_host::bytes(n, BYTES), pe))                               \
  ROW(void, chime_, put##NAME##_nbi, (void* dst, const void* src, size_t n, int pe),               \
      putmem_nbi, (dst, src, CHIME_BYTES(n, BYTES), pe),                                           \
      chime_host_put_nbi(dst, src, chime::on_host::bytes(n, BYTES), pe))                           \
  ROW(void, chime_, get##NAME, (void* dst, const void* src, size_t n, int pe),                     \
      getmem, (dst, src, CHIME_BYTES(n, BYTES), pe),                                               \
      chime_host_get(dst, src, chime::on_host::bytes(n, BYTES), pe))                               \
  ROW(void, chime_, get##NAME##_nbi, (void* dst, const void* src, size_t n, int pe),               \
      getmem_nbi, (dst, src, CHIME_BYTES(n, BYTES), pe),                                           \
      chime_host_get_nbi(dst, src, chime::on_host::bytes(n, BYTES), pe))                           \
  ROW(void, chime_, put##NAME##_signal,                                                            \
      (void* dst, const void* src, size_t n, uint64_t* sig, uint64_t value, int op, int pe),       \
      putmem_signal, (dst, src, CHIME_BYTES(n, BYTES), chime::signal_of(sig, value, op), pe),      \
      chime_host_put_signal(dst, src, chime::on_host::bytes(n, BYTES), sig, value, op, pe))        \
  ROW(void, chime_, put##NAME##_signal_nbi,                                                        \
      (void* dst, const void* src, size_t n, uint64_t* sig, uint64_t value, int op, int pe),       \
      putmem_signal_nbi, (dst, src, CHIME_BYTES(n, BYTES), chime::signal_of(sig, value, op), pe),  \
      chime_host_put_signal_nbi(dst, src, chime::on_host::bytes(n, BYTES), sig, value, op, pe))

#define CHIME_STRIDED_SIZE_ROWS(BITS, BYTES, ROW)                                                  \
  ROW(void, chime_, iput##BITS,                                                                    \
      (void* dst, const void* src, ptrdiff_t dst_stride, ptrdiff_t src_stride, size_t n, int pe),  \
      iput, ((chime::detail::Word<BYTES>*)dst, (const chime::detail::Word<BYTES>*)src,             \
             dst_stride, src_stride, n, pe),                                                       \
      chime_host_iput(dst, src, dst_stride, src_stride, n, BYTES, pe))                             \
  ROW(void, chime_, iget##BITS,                                                                    \
      (void* dst, const void* src, ptrdiff_t dst_stride, ptrdiff_t src_stride, size_t n, int pe),  \
      iget, ((chime::detail::Word<BYTES>*)dst, (const chime::detail::Word<BYTES>*)src,             \
             dst_stride, src_stride, n, pe),                                                       \
      chime_host_iget(dst, src, dst_stride, src_stride, n, BYTES, pe))

// ---- Signals ------------------------------------------------------------------------------------

#define CHIME_SIGNAL_ROWS(ROW)                                                                     \
  ROW(void, chimex_, signal_op, (uint64_t* sig, uint64_t value, int op, int pe),                   \
      signal_op, (chime::signal_of(sig, value, op), pe),                                           \
      chime_host_signal_op(sig, value, op, pe))                                                    \
  ROW(uint64_t, chime_, signal_fetch, (const uint64_t* sig),                                       \
      signal_fetch, (sig),                                                                         \
      chime_host_signal_fetch(sig))

#define CHIME_SIGNAL_WAIT_ROWS(ROW)                                                                \
  ROW(uint64_t, chime_, signal_wait_until, (uint64_t* sig, int cmp, uint64_t value),               \
      signal_wait_until, (sig, (chime::Cmp)cmp, value),                                            \
      chime_host_signal_wait_until(sig, cmp, value))

// ---- Atomics ------------------------------------------------------------------------------------

#define CHIME_EXTENDED_AMO_ROWS(NAME, T, ROW)                                                      \
  ROW(T, chime_, NAME##_atomic_fetch, (const T* src, int pe),                                      \
      atomic_fetch, (src, pe),                                                                     \
      chime::on_host::fetch(src, pe))                                                              \
  ROW(void, chime_, NAME##_atomic_set, (T* dst, T value, int pe),                                  \
      atomic_set, (dst, value, pe),                                                                \
      chime::on_host::amo(CHIME_AMO_SET, dst, value, pe))                                          \
  ROW(T, chime_, NAME##_atomic_swap, (T* dst, T value, int pe),                                    \
      atomic_swap, (dst, value, pe),                                                               \
      chime::on_host::fetch_amo(CHIME_AMO_SWAP, dst, value, pe))

#define CHIME_STANDARD_AMO_ROWS(NAME, T, ROW)                                                      \
  ROW(void, chime_, NAME##_atomic_inc, (T* dst, int pe),                                           \
      atomic_inc, (dst, pe),                                                                       \
      chime::on_host::amo(CHIME_AMO_INC, dst, (T)1, pe))                                           \
  ROW(void, chime_, NAME##_atomic_add, (T* dst, T value, int pe),                                  \
      atomic_add, (dst, value, pe),                                                                \
      chime::on_host::amo(CHIME_AMO_ADD, dst, value, pe))                                          \
  ROW(T, chime_, NAME##_atomic_fetch_inc, (T* dst, int pe),                                        \
      atomic_fetch_inc, (dst, pe),                                                                 \
      chime::on_host::fetch_amo(CHIME_AMO_INC, dst, (T)1, pe))                                     \
  ROW(T, chime_, NAME##_atomic_fetch_add, (T* dst, T value, int pe),                               \
      atomic_fetch_add, (dst, value, pe),                                                          \
      chime::on_host::fetch_amo(CHIME_AMO_ADD, dst, value, pe))                                    \
  ROW(T, chime_, NAME##_atomic_compare_swap, (T* dst, T cond, T value, int pe),                    \
      atomic_compare_swap, (dst, cond, value, pe),                                                 \
      chime::on_host::compare_swap(dst, cond, value, pe))

#define CHIME_FLOAT_AMO_ROWS(NAME, T, ROW)                                                         \
  ROW(void, chimex_, NAME##_atomic_add, (T* dst, T value, int pe),                                 \
      atomic_add, (dst, value, pe),                                                                \
      chime::on_host::amo(CHIME_AMO_FLOAT_ADD, dst, value, pe))                                    \
  ROW(T, chimex_, NAME##_atomic_fetch_add, (T* dst, T value, int pe),                              \
      atomic_fetch_add, (dst, value, pe),                                                          \
      chime::on_host::fetch_amo(CHIME_AMO_FLOAT_ADD, dst, value, pe))

#define CHIME_BITWISE_AMO_ROWS(NAME, T, ROW)                                                       \
  ROW(void, chime_, NAME##_atomic_and, (T* dst, T value, int pe),                                  \
      atomic_and, (dst, value, pe),                                                                \
      chime::on_host::amo(CHIME_AMO_AND, dst, value, pe))                                          \
  ROW(void, chime_, NAME##_atomic_or, (T* dst, T value, int pe),                                   \
      atomic_or, (dst, value, pe),                                                                 \
      chime::on_host::amo(CHIME_AMO_OR, dst, value, pe))                                           \
  ROW(void, chime_, NAME##_atomic_xor, (T* dst, T value, int pe),                                  \
      atomic_xor, (dst, value, pe),                                                                \
      chime::on_host::amo(CHIME_AMO_XOR, dst, value, pe))                                          \
  ROW(T, chime_, NAME##_atomic_fetch_and, (T* dst, T value, int pe),                               \
      atomic_fetch_and, (dst, value, pe),                                                          \
      chime::on_host::fetch_amo(CHIME_AMO_AND, dst, value, pe))                                    \
  ROW(T, chime_, NAME##_atomic_fetch_or, (T* dst, T value, int pe),                                \
      atomic_fetch_or, (dst, value, pe),                                                           \
      chime::on_host::fetch_amo(CHIME_AMO_OR, dst, value, pe))                                     \
  ROW(T, chime_, NAME##_atomic_fetch_xor, (T* dst, T value, int pe),                               \
      atomic_fetch_xor, (dst, value, pe),                                                          \
      chime::on_host::fetch_amo(CHIME_AMO_XOR, dst, value, pe))

// ---- Waits and tests ----------------------------------------------------------------------------

#define CHIME_WAIT_ROWS(NAME, T, ROW)                                                              \
  ROW(void, chime_, NAME##_wait_until, (T* ivar, int cmp, T value),                                \
      wait_until, (ivar, (chime::Cmp)cmp, value),                                                  \
      chime::on_host::wait(CHIME_WAIT_ONE, ivar, 1, NULL, NULL, cmp, &value, 0))                   \
  ROW(void, chime_, NAME##_wait_until_all,                                                         \
      (T* ivars, size_t n, const int* status, int cmp, T value),                                   \
      wait_until_all, (ivars, n, status, (chime::Cmp)cmp, value),                                  \
      chime::on_host::wait(CHIME_WAIT_ALL, ivars, n, NULL, status, cmp, &value, 0))                \
  ROW(size_t, chime_, NAME##_wait_until_any,                                                       \
      (T* ivars, size_t n, const int* status, int cmp, T value),                                   \
      wait_until_any, (ivars, n, status, (chime::Cmp)cmp, value),                                  \
      chime::on_host::wait(CHIME_WAIT_ANY, ivars, n, NULL, status, cmp, &value, 0))                \
  ROW(size_t, chime_, NAME##_wait_until_some,                                                      \
      (T* ivars, size_t n, size_t* indices, const int* status, int cmp, T value),                  \
      wait_until_some, (ivars, n, indices, status, (chime::Cmp)cmp, value),                        \
      chime::on_host::wait(CHIME_WAIT_SOME, ivars, n, indices, status, cmp, &value, 0))            \
  ROW(void, chime_, NAME##_wait_until_all_vector,                                                  \
      (T* ivars, size_t n, const int* status, int cmp, T* values),                                 \
      wait_until_all_vector, (ivars, n, status, (chime::Cmp)cmp, values),                          \
      chime::on_host::wait(CHIME_WAIT_ALL, ivars, n, NULL, status, cmp, values, 1))                \
  ROW(size_t, chime_, NAME##_wait_until_any_vector,                                                \
      (T* ivars, size_t n, const int* status, int cmp, T* values),                                 \
      wait_until_any_vector, (ivars, n, status, (chime::Cmp)cmp, values),                          \
      chime::on_host::wait(CHIME_WAIT_ANY, ivars, n, NULL, status, cmp, values, 1))                \
  ROW(size_t, chime_, NAME##_wait_until_some_vector,                                               \
      (T* ivars, size_t n, size_t* indices, const int* status, int cmp, T* values),                \
      wait_until_some_vector, (ivars, n, indices, status, (chime::Cmp)cmp, values),                \
      chime::on_host::wait(CHIME_WAIT_SOME, ivars, n, indices, status, cmp, values, 1))

// Chime's own: NVSHMEM has no such names.
#define CHIME_WAIT_TIMEOUT_ROWS(NAME, T, ROW)                                                      \
  ROW(int, chimex_, NAME##_wait_until_timeout, (T* ivar, int cmp, T value, uint64_t timeout_ns),   \
      wait_until_timeout, (ivar, (chime::Cmp)cmp, value, timeout_ns),                              \
      chime::on_host::wait_timeout(ivar, cmp, &value, timeout_ns))

#define CHIME_TEST_ROWS(NAME, T, ROW)                                                              \
  ROW(int, chime_, NAME##_test, (T* ivar, int cmp, T value),                                       \
      test, (ivar, (chime::Cmp)cmp, value),                                                        \
      chime::on_host::test(CHIME_WAIT_ONE, ivar, 1, NULL, NULL, cmp, &value, 0))                   \
  ROW(int, chime_, NAME##_test_all, (T* ivars, size_t n, const int* status, int cmp, T value),     \
      test_all, (ivars, n, status, (chime::Cmp)cmp, value),                                        \
      chime::on_host::test(CHIME_WAIT_ALL, ivars, n, NULL, status, cmp, &value, 0))                \
  ROW(size_t, chime_, NAME##_test_any, (T* ivars, size_t n, const int* status, int cmp, T value),  \
      test_any, (ivars, n, status, (chime::Cmp)cmp, value),                                        \
      chime::on_host::test(CHIME_WAIT_ANY, ivars, n, NULL, status, cmp, &value, 0))                \
  ROW(size_t, chime_, NAME##_test_some,                                                            \
      (T* ivars, size_t n, size_t* indices, const int* status, int cmp, T value),                  \
      test_some, (ivars, n, indices, status, (chime::Cmp)cmp, value),                              \
      chime::on_host::test(CHIME_WAIT_SOME, ivars, n, indices, status, cmp, &value, 0))            \
  ROW(int, chime_, NAME##_test_all_vector,                                                         \
      (T* ivars, size_t n, const int* status, int cmp, T* values),                                 \
      test_all_vector, (ivars, n, status, (chime::Cmp)cmp, values),                                \
      chime::on_host::test(CHIME_WAIT_ALL, ivars, n, NULL, status, cmp, values, 1))                \
  ROW(size_t, chime_, NAME##_test_any_vector,                                                      \
      (T* ivars, size_t n, const int* status, int cmp, T* values),                                 \
      test_any_vector, (ivars, n, status, (chime::Cmp)cmp, values),                                \
      chime::on_host::test(CHIME_WAIT_ANY, ivars, n, NULL, status, cmp, values, 1))                \
  ROW(size_t, chime_, NAME##_test_some_vector,                                                     \
      (T* ivars, size_t n, size_t* indices, const int* status, int cmp, T* values),                \
      test_some_vector, (ivars, n, indices, status, (chime::Cmp)cmp, values),                      \
      chime::on_host::test(CHIME_WAIT_SOME, ivars, n, indices, status, cmp, values, 1))

// ---- Ordering and collectives -------------------------------------------------------------------

#define CHIME_ORDER_ROWS(ROW)                                                                      \
  ROW(void, chime_, fence, (void), fence, (), chime_host_fence())                                  \
  ROW(void, chime_, quiet, (void), quiet, (), chime_host_quiet())

#define CHIME_COLLECTIVE_ROWS(ROW)                                                                 \
  ROW(void, chime_, barrier_all, (void), barrier_all, (), chime_host_barrier_all())                \
  ROW(void, chime_, sync_all, (void), sync_all, (), chime_host_sync_all())                         \
  ROW(int, chime_, barrier, (chime_team_t team), team_barrier, (team), chime_host_barrier(team))   \
  ROW(int, chime_, team_sync, (chime_team_t team), team_sync, (team), chime_host_team_sync(team))

// ---- Collectives that move data -----------------------------------------------------------------

#define CHIME_COLLECTIVE_MOVE_ROWS(NAME, T, ROW)                                                   \
  ROW(int, chime_, NAME##_broadcast,                                                               \
      (chime_team_t team, T* dst, const T* src, size_t n, int root),                               \
      broadcastmem, (team, dst, src, CHIME_BYTES(n, sizeof(T)), root),                             \
      chime::on_host::move(CHIME_COLLECTIVE_BROADCAST, team, dst, src, n, sizeof(T), root))        \
  ROW(int, chime_, NAME##_fcollect, (chime_team_t team, T* dst, const T* src, size_t n),           \
      fcollectmem, (team, dst, src, CHIME_BYTES(n, sizeof(T))),                                    \
      chime::on_host::move(CHIME_COLLECTIVE_FCOLLECT, team, dst, src, n, sizeof(T), 0))            \
  ROW(int, chime_, NAME##_alltoall, (chime_team_t team, T* dst, const T* src, size_t n),           \
      alltoallmem, (team, dst, src, CHIME_BYTES(n, sizeof(T))),                                    \
      chime::on_host::move(CHIME_COLLECTIVE_ALLTOALL, team, dst, src, n, sizeof(T), 0))

#define CHIME_COLLECTIVE_MEM_ROWS(ROW)                                                             \
  ROW(int, chime_, broadcastmem,                                                                   \
      (chime_team_t team, void* dst, const void* src, size_t n, int root),                         \
      broadcastmem, (team, dst, src, n, root),                                                     \
      chime::on_host::move(CHIME_COLLECTIVE_BROADCAST, team, dst, src, n, 1, root))                \
  ROW(int, chime_, fcollectmem, (chime_team_t team, void* dst, const void* src, size_t n),         \
      fcollectmem, (team, dst, src, n),                                                            \
      chime::on_host::move(CHIME_COLLECTIVE_FCOLLECT, team, dst, src, n, 1, 0))                    \
  ROW(int, chime_, alltoallmem, (chime_team_t team, void* dst, const void* src, size_t n),         \
      alltoallmem, (team, dst, src, n),                                                            \
      chime::on_host::move(CHIME_COLLECTIVE_ALLTOALL, team, dst, src, n, 1, 0))

#define CHIME_REDUCTION_ROWS(NAME, T, OP, TEMPLATE_OP, NUMBER, ROW)                                \
  ROW(int, chime_, NAME##_##OP##_reduce, (chime_team_t team, T* dst, const T* src, size_t n),      \
      reduce<chime::TEMPLATE_OP>, (team, dst, src, n),                                             \
      chime::on_host::reduce(CHIME_COLLECTIVE_REDUCE, NUMBER, team, dst, src, n))                  \
  ROW(int, chime_, NAME##_##OP##_reducescatter,                                                    \
      (chime_team_t team, T* dst, const T* src, size_t n),                                         \
      reducescatter<chime::TEMPLATE_OP>, (team, dst, src, n),                                      \
      chime::on_host::reduce(CHIME_COLLECTIVE_REDUCESCATTER, NUMBER, team, dst, src, n))

// Also for types that have no order.
#define CHIME_FIELD_REDUCTION_ROWS(NAME, T, ROW)                                                   \
  CHIME_REDUCTION_ROWS(NAME, T, sum, Sum, CHIME_REDUCE_SUM, ROW)                                   \
  CHIME_REDUCTION_ROWS(NAME, T, prod, Product, CHIME_REDUCE_PROD, ROW)

#define CHIME_ARITHMETIC_REDUCTION_ROWS(NAME, T, ROW)                                              \
  CHIME_FIELD_REDUCTION_ROWS(NAME, T, ROW)                                                         \
  CHIME_REDUCTION_ROWS(NAME, T, min, Min, CHIME_REDUCE_MIN, ROW)                                   \
  CHIME_REDUCTION_ROWS(NAME, T, max, Max, CHIME_REDUCE_MAX, ROW)

#define CHIME_BITWISE_REDUCTION_ROWS(NAME, T, ROW)                                                 \
  CHIME_REDUCTION_ROWS(NAME, T, and, And, CHIME_REDUCE_AND, ROW)                                   \
  CHIME_REDUCTION_ROWS(NAME, T, or, Or, CHIME_REDUCE_OR, ROW)                                      \
  CHIME_REDUCTION_ROWS(NAME, T, xor, Xor, CHIME_REDUCE_XOR, ROW)

// Chime's own: NVSHMEM has no such names.
#define CHIME_OWN_MOVE_ROWS(NAME, T, ROW)                                                          \
  ROW(int, chime_, NAME##_collect, (chime_team_t team, T* dst, const T* src, size_t n),            \
      collectmem, (team, dst, src, CHIME_BYTES(n, sizeof(T))),                                     \
      chime::on_host::move(CHIME_COLLECTIVE_COLLECT, team, dst, src, n, sizeof(T), 0))             \
  ROW(int, chime_, NAME##_alltoalls,                                                               \
      (chime_team_t team, T* dst, const T* src, ptrdiff_t dst_stride, ptrdiff_t src_stride,        \
       size_t n),                                                                                  \
      alltoallsmem, (team, dst, src, dst_stride, src_stride, n, sizeof(T)),                        \
      chime::on_host::collective(chime::on_host::request_to_move_strided(                          \
          team, dst, src, dst_stride, src_stride, n, sizeof(T))))                                  \
  ROW(int, chimex_, NAME##_alltoallv,                                                              \
      (chime_team_t team, T* dst, size_t* dst_counts, const size_t* dst_offsets, const T* src,     \
       const size_t* src_counts, const size_t* src_offsets),                                       \
      alltoallvmem,                                                                                \
      (team, dst, dst_counts, dst_offsets, src, src_counts, src_offsets, sizeof(T)),               \
      chime::on_host::collective(chime::on_host::request_to_move_counted(                          \
          team, dst, dst_counts, dst_offsets, src, src_counts, src_offsets, sizeof(T))))

#define CHIME_OWN_MOVE_MEM_ROWS(ROW)                                                               \
  ROW(int, chime_, collectmem, (chime_team_t team, void* dst, const void* src, size_t n),          \
      collectmem, (team, dst, src, n),                                                             \
      chime::on_host::move(CHIME_COLLECTIVE_COLLECT, team, dst, src, n, 1, 0))                     \
  ROW(int, chime_, alltoallsmem,                                                                   \
      (chime_team_t team, void* dst, const void* src, ptrdiff_t dst_stride, ptrdiff_t src_stride,  \
       size_t n),                                                                                  \
      alltoallsmem, (team, dst, src, dst_stride, src_stride, n),                                   \
      chime::on_host::collective(chime::on_host::request_to_move_strided(                          \
          team, dst, src, dst_stride, src_stride, n, 1)))                                          \
  ROW(int, chimex_, alltoallvmem,                                                                  \
      (chime_team_t team, void* dst, size_t* dst_counts, const size_t* dst_offsets,                \
       const void* src, const size_t* src_counts, const size_t* src_offsets),                      \
      alltoallvmem, (team, dst, dst_counts, dst_offsets, src, src_counts, src_offsets),            \
      chime::on_host::collective(chime::on_host::request_to_move_counted(                          \
          team, dst, dst_counts, dst_offsets, src, src_counts, src_offsets, 1)))

// With a bound of the call's own.
#define CHIME_TIMED_COLLECTIVE_ROWS(ROW)                                                           \
  ROW(int, chimex_, barrier_timeout, (chime_team_t team, uint64_t timeout_ns),                     \
      team_barrier_timeout, (team, timeout_ns),                                                    \
      chime::on_host::meet_within(timeout_ns, CHIME_COLLECTIVE_BARRIER, team))                     \
  ROW(int, chimex_, team_sync_timeout, (chime_team_t team, uint64_t timeout_ns),                   \
      team_sync_timeout, (team, timeout_ns),                                                       \
      chime::on_host::meet_within(timeout_ns, CHIME_COLLECTIVE_SYNC, team))                        \
  ROW(int, chimex_, broadcastmem_timeout,                                                          \
      (chime_team_t team, void* dst, const void* src, size_t n, int root, uint64_t timeout_ns),    \
      broadcastmem_timeout, (team, dst, src, n, root, timeout_ns),                                 \
      chime::on_host::move_within(timeout_ns, CHIME_COLLECTIVE_BROADCAST, team, dst, src, n, root))\
  ROW(int, chimex_, fcollectmem_timeout,                                                           \
      (chime_team_t team, void* dst, const void* src, size_t n, uint64_t timeout_ns),              \
      fcollectmem_timeout, (team, dst, src, n, timeout_ns),                                        \
      chime::on_host::move_within(timeout_ns, CHIME_COLLECTIVE_FCOLLECT, team, dst, src, n, 0))    \
  ROW(int, chimex_, alltoallmem_timeout,                                                           \
      (chime_team_t team, void* dst, const void* src, size_t n, uint64_t timeout_ns),              \
      alltoallmem_timeout, (team, dst, src, n, timeout_ns),                                        \
      chime::on_host::move_within(timeout_ns, CHIME_COLLECTIVE_ALLTOALL, team, dst, src, n, 0))    \
  ROW(int, chimex_, collectmem_timeout,                                                            \
      (chime_team_t team, void* dst, const void* src, size_t n, uint64_t timeout_ns),              \
      collectmem_timeout, (team, dst, src, n, timeout_ns),                                         \
      chime::on_host::move_within(timeout_ns, CHIME_COLLECTIVE_COLLECT, team, dst, src, n, 0))     \
  ROW(int, chimex_, alltoallsmem_timeout,                                                          \
      (chime_team_t team, void* dst, const void* src, ptrdiff_t dst_stride, ptrdiff_t src_stride,  \
       size_t n, uint64_t timeout_ns),                                                             \
      alltoallsmem_timeout, (team, dst, src, dst_stride, src_stride, n, timeout_ns),               \
      chime::on_host::collective_within(timeout_ns, chime::on_host::request_to_move_strided(       \
          team, dst, src, dst_stride, src_stride, n, 1)))                                          \
  ROW(int, chimex_, alltoallvmem_timeout,                                                          \
      (chime_team_t team, void* dst, size_t* dst_counts, const size_t* dst_offsets,                \
       const void* src, const size_t* src_counts, const size_t* src_offsets, uint64_t timeout_ns), \
      alltoallvmem_timeout,                                                                        \
      (team, dst, dst_counts, dst_offsets, src, src_counts, src_offsets, timeout_ns),              \
      chime::on_host::collective_within(timeout_ns, chime::on_host::request_to_move_counted(       \
          team, dst, dst_counts, dst_offsets, src, src_counts, src_offsets, 1)))

#define CHIME_SCAN_ROWS(NAME, T, ROW)                                                              \
  ROW(int, chime_, NAME##_sum_inscan, (chime_team_t team, T* dst, const T* src, size_t n),         \
      inscan<chime::Sum>, (team, dst, src, n),                                                     \
      chime::on_host::reduce(CHIME_COLLECTIVE_INSCAN, CHIME_REDUCE_SUM, team, dst, src, n))        \
  ROW(int, chime_, NAME##_sum_exscan, (chime_team_t team, T* dst, const T* src, size_t n),         \
      exscan<chime::Sum>, (team, dst, src, n),                                                     \
      chime::on_host::reduce(CHIME_COLLECTIVE_EXSCAN, CHIME_REDUCE_SUM, team, dst, src, n))

// NVSHMEM has it for blocks alone.
#define CHIME_MAXLOC_ROWS(NAME, T, ROW)                                                            \
  ROW(int, chimex_, NAME##_maxloc_reduce, (chime_team_t team, T* dst, const T* src, size_t n),     \
      reduce<chime::MaxLocation>, (team, dst, src, n),                                             \
      chime::on_host::reduce(CHIME_COLLECTIVE_REDUCE, CHIME_REDUCE_MAXLOC, team, dst, src, n))

// ---- On a stream: kernels have no such call -----------------------------------------------------

#define CHIME_STREAM_ROWS(NAME, T, ROW)                                                            \
  ROW(void, chimex_, NAME##_put_on_stream,                                                         \
      (T* dst, const T* src, size_t n, int pe, chimex_stream_t stream), , ,                        \
      chimex_putmem_on_stream(dst, src, chime::on_host::bytes(n, sizeof(T)), pe, stream))          \
  ROW(void, chimex_, NAME##_put_nbi_on_stream,                                                     \
      (T* dst, const T* src, size_t n, int pe, chimex_stream_t stream), , ,                        \
      chimex_putmem_nbi_on_stream(dst, src, chime::on_host::bytes(n, sizeof(T)), pe, stream))      \
  ROW(void, chimex_, NAME##_get_on_stream,                                                         \
      (T* dst, const T* src, size_t n, int pe, chimex_stream_t stream), , ,                        \
      chimex_getmem_on_stream(dst, src, chime::on_host::bytes(n, sizeof(T)), pe, stream))          \
  ROW(void, chimex_, NAME##_get_nbi_on_stream,                                                     \
      (T* dst, const T* src, size_t n, int pe, chimex_stream_t stream), , ,                        \
      chimex_getmem_nbi_on_stream(dst, src, chime::on_host::bytes(n, sizeof(T)), pe, stream))      \
  ROW(void, chimex_, NAME##_put_signal_on_stream,                                                  \
      (T* dst, const T* src, size_t n, uint64_t* sig, uint64_t value, int op, int pe,              \
       chimex_stream_t stream), , ,                                                                \
      chimex_putmem_signal_on_stream(dst, src, chime::on_host::bytes(n, sizeof(T)),                \
                                     sig, value, op, pe, stream))                                  \
  ROW(void, chimex_, NAME##_put_signal_nbi_on_stream,                                              \
      (T* dst, const T* src, size_t n, uint64_t* sig, uint64_t value, int op, int pe,              \
       chimex_stream_t stream), , ,                                                                \
      chimex_putmem_signal_nbi_on_stream(dst, src, chime::on_host::bytes(n, sizeof(T)),            \
                                         sig, value, op, pe, stream))                              \
  ROW(void, chimex_, NAME##_iput_on_stream,                                                        \
      (T* dst, const T* src, ptrdiff_t dst_stride, ptrdiff_t src_stride, size_t n, int pe,         \
       chimex_stream_t stream), , ,                                                                \
      chime_host_iput_on_stream(dst, src, dst_stride, src_stride, n, sizeof(T), pe, stream))       \
  ROW(void, chimex_, NAME##_iget_on_stream,                                                        \
      (T* dst, const T* src, ptrdiff_t dst_stride, ptrdiff_t src_stride, size_t n, int pe,         \
       chimex_stream_t stream), , ,                                                                \
      chime_host_iget_on_stream(dst, src, dst_stride, src_stride, n, sizeof(T), pe, stream))       \
  ROW(void, chimex_, NAME##_p_on_stream,                                                           \
      (T* dst, T value, int pe, chimex_stream_t stream), , ,                                       \
      chime_host_p_on_stream(dst, &value, sizeof(T), pe, stream))                                  \
  ROW(T, chimex_, NAME##_g_on_stream,                                                              \
      (const T* src, int pe, chimex_stream_t stream), , ,                                          \
      chime::on_host::g_on_stream(src, pe, stream))

#define CHIME_STREAM_SIZE_ROWS(BITS, BYTES, ROW)                                                   \
  ROW(void, chimex_, put##BITS##_on_stream,                                                        \
      (void* dst, const void* src, size_t n, int pe, chimex_stream_t stream), , ,                  \
      chimex_putmem_on_stream(dst, src, chime::on_host::bytes(n, BYTES), pe, stream))              \
  ROW(void, chimex_, put##BITS##_nbi_on_stream,                                                    \
      (void* dst, const void* src, size_t n, int pe, chimex_stream_t stream), , ,                  \
      chimex_putmem_nbi_on_stream(dst, src, chime::on_host::bytes(n, BYTES), pe, stream))          \
  ROW(void, chimex_, get##BITS##_on_stream,                                                        \
      (void* dst, const void* src, size_t n, int pe, chimex_stream_t stream), , ,                  \
      chimex_getmem_on_stream(dst, src, chime::on_host::bytes(n, BYTES), pe, stream))              \
  ROW(void, chimex_, get##BITS##_nbi_on_stream,                                                    \
      (void* dst, const void* src, size_t n, int pe, chimex_stream_t stream), , ,                  \
      chimex_getmem_nbi_on_stream(dst, src, chime::on_host::bytes(n, BYTES), pe, stream))          \
  ROW(void, chimex_, put##BITS##_signal_on_stream,                                                 \
      (void* dst, const void* src, size_t n, uint64_t* sig, uint64_t value, int op, int pe,        \
       chimex_stream_t stream), , ,                                                                \
      chimex_putmem_signal_on_stream(dst, src, chime::on_host::bytes(n, BYTES),                    \
                                     sig, value, op, pe, stream))                                  \
  ROW(void, chimex_, put##BITS##_signal_nbi_on_stream,                                             \
      (void* dst, const void* src, size_t n, uint64_t* sig, uint64_t value, int op, int pe,        \
       chimex_stream_t stream), , ,                                                                \
      chimex_putmem_signal_nbi_on_stream(dst, src, chime::on_host::bytes(n, BYTES),                \
                                         sig, value, op, pe, stream))                              \
  ROW(void, chimex_, iput##BITS##_on_stream,                                                       \
      (void* dst, const void* src, ptrdiff_t dst_stride, ptrdiff_t src_stride, size_t n,           \
       int pe, chimex_stream_t stream), , ,                                                        \
      chime_host_iput_on_stream(dst, src, dst_stride, src_stride, n, BYTES, pe, stream))           \
  ROW(void, chimex_, iget##BITS##_on_stream,                                                       \
      (void* dst, const void* src, ptrdiff_t dst_stride, ptrdiff_t src_stride, size_t n,           \
       int pe, chimex_stream_t stream), , ,                                                        \
      chime_host_iget_on_stream(dst, src, dst_stride, src_stride, n, BYTES, pe, stream))

#define CHIME_STREAM_WAIT_ROWS(NAME, T, ROW)                                                       \
  ROW(void, chimex_, NAME##_wait_until_on_stream,                                                  \
      (T* ivar, int cmp, T value, chimex_stream_t stream), , ,                                     \
      chime::on_host::wait_on_stream(CHIME_WAIT_ONE, ivar, 1, NULL, cmp, &value, 0, stream))       \
  ROW(void, chimex_, NAME##_wait_until_all_on_stream,                                              \
      (T* ivars, size_t n, const int* status, int cmp, T value, chimex_stream_t stream), , ,       \
      chime::on_host::wait_on_stream(CHIME_WAIT_ALL, ivars, n, status, cmp, &value, 0, stream))    \
  ROW(void, chimex_, NAME##_wait_until_all_vector_on_stream,                                       \
      (T* ivars, size_t n, const int* status, int cmp, T* values, chimex_stream_t stream), , ,     \
      chime::on_host::wait_on_stream(CHIME_WAIT_ALL, ivars, n, status, cmp, values, 1, stream))

#define CHIME_STREAM_COLLECTIVE_MOVE_ROWS(NAME, T, ROW)                                            \
  ROW(int, chimex_, NAME##_broadcast_on_stream,                                                    \
      (chime_team_t team, T* dst, const T* src, size_t n, int root, chimex_stream_t stream), , ,   \
      chime::on_host::move_on_stream(CHIME_COLLECTIVE_BROADCAST, team, dst, src, n, sizeof(T),     \
                                     root, stream))                                                \
  ROW(int, chimex_, NAME##_fcollect_on_stream,                                                     \
      (chime_team_t team, T* dst, const T* src, size_t n, chimex_stream_t stream), , ,             \
      chime::on_host::move_on_stream(CHIME_COLLECTIVE_FCOLLECT, team, dst, src, n, sizeof(T), 0,   \
                                     stream))                                                      \
  ROW(int, chimex_, NAME##_alltoall_on_stream,                                                     \
      (chime_team_t team, T* dst, const T* src, size_t n, chimex_stream_t stream), , ,             \
      chime::on_host::move_on_stream(CHIME_COLLECTIVE_ALLTOALL, team, dst, src, n, sizeof(T), 0,   \
                                     stream))

#define CHIME_STREAM_COLLECTIVE_MEM_ROWS(ROW)                                                      \
  ROW(int, chimex_, broadcastmem_on_stream,                                                        \
      (chime_team_t team, void* dst, const void* src, size_t n, int root,                          \
       chimex_stream_t stream), , ,                                                                \
      chime::on_host::move_on_stream(CHIME_COLLECTIVE_BROADCAST, team, dst, src, n, 1, root,       \
                                     stream))                                                      \
  ROW(int, chimex_, fcollectmem_on_stream,                                                         \
      (chime_team_t team, void* dst, const void* src, size_t n, chimex_stream_t stream), , ,       \
      chime::on_host::move_on_stream(CHIME_COLLECTIVE_FCOLLECT, team, dst, src, n, 1, 0, stream))  \
  ROW(int, chimex_, alltoallmem_on_stream,                                                         \
      (chime_team_t team, void* dst, const void* src, size_t n, chimex_stream_t stream), , ,       \
      chime::on_host::move_on_stream(CHIME_COLLECTIVE_ALLTOALL, team, dst, src, n, 1, 0, stream))

// Chime's own.
#define CHIME_OWN_STREAM_MOVE_ROWS(NAME, T, ROW)                                                   \
  ROW(int, chimex_, NAME##_collect_on_stream,                                                      \
      (chime_team_t team, T* dst, const T* src, size_t n, chimex_stream_t stream), , ,             \
      chime::on_host::move_on_stream(CHIME_COLLECTIVE_COLLECT, team, dst, src, n, sizeof(T), 0,    \
                                     stream))                                                      \
  ROW(int, chimex_, NAME##_alltoalls_on_stream,                                                    \
      (chime_team_t team, T* dst, const T* src, ptrdiff_t dst_stride, ptrdiff_t src_stride,        \
       size_t n, chimex_stream_t stream), , ,                                                      \
      chime::on_host::collective_on_stream(                                                        \
          chime::on_host::request_to_move_strided(team, dst, src, dst_stride, src_stride, n,       \
                                                  sizeof(T)),                                      \
          stream))                                                                                 \
  ROW(int, chimex_, NAME##_alltoallv_on_stream,                                                    \
      (chime_team_t team, T* dst, size_t* dst_counts, const size_t* dst_offsets, const T* src,     \
       const size_t* src_counts, const size_t* src_offsets, chimex_stream_t stream), , ,           \
      chime::on_host::collective_on_stream(                                                        \
          chime::on_host::request_to_move_counted(team, dst, dst_counts, dst_offsets, src,         \
                                                  src_counts, src_offsets, sizeof(T)),             \
          stream))

#define CHIME_OWN_STREAM_MOVE_MEM_ROWS(ROW)                                                        \
  ROW(int, chimex_, collectmem_on_stream,                                                          \
      (chime_team_t team, void* dst, const void* src, size_t n, chimex_stream_t stream), , ,       \
      chime::on_host::move_on_stream(CHIME_COLLECTIVE_COLLECT, team, dst, src, n, 1, 0, stream))   \
  ROW(int, chimex_, alltoallsmem_on_stream,                                                        \
      (chime_team_t team, void* dst, const void* src, ptrdiff_t dst_stride, ptrdiff_t src_stride,  \
       size_t n, chimex_stream_t stream), , ,                                                      \
      chime::on_host::collective_on_stream(                                                        \
          chime::on_host::request_to_move_strided(team, dst, src, dst_stride, src_stride, n, 1),   \
          stream))                                                                                 \
  ROW(int, chimex_, alltoallvmem_on_stream,                                                        \
      (chime_team_t team, void* dst, size_t* dst_counts, const size_t* dst_offsets,                \
       const void* src, const size_t* src_counts, const size_t* src_offsets,                       \
       chimex_stream_t stream), , ,                                                                \
      chime::on_host::collective_on_stream(                                                        \
          chime::on_host::request_to_move_counted(team, dst, dst_counts, dst_offsets, src,         \
                                                  src_counts, src_offsets, 1),                     \
          stream))

#define CHIME_STREAM_SCAN_ROWS(NAME, T, ROW)                                                       \
  ROW(int, chimex_, NAME##_sum_inscan_on_stream,                                                   \
      (chime_team_t team, T* dst, const T* src, size_t n, chimex_stream_t stream), , ,             \
      chime::on_host::reduce_on_stream(CHIME_COLLECTIVE_INSCAN, CHIME_REDUCE_SUM, team, dst, src,  \
                                       n, stream))                                                 \
  ROW(int, chimex_, NAME##_sum_exscan_on_stream,                                                   \
      (chime_team_t team, T* dst, const T* src, size_t n, chimex_stream_t stream), , ,             \
      chime::on_host::reduce_on_stream(CHIME_COLLECTIVE_EXSCAN, CHIME_REDUCE_SUM, team, dst, src,  \
                                       n, stream))

#define CHIME_STREAM_MAXLOC_ROWS(NAME, T, ROW)                                                     \
  ROW(int, chimex_, NAME##_maxloc_reduce_on_stream,                                                \
      (chime_team_t team, T* dst, const T* src, size_t n, chimex_stream_t stream), , ,             \
      chime::on_host::reduce_on_stream(CHIME_COLLECTIVE_REDUCE, CHIME_REDUCE_MAXLOC, team, dst,    \
                                       src, n, stream))

#define CHIME_STREAM_REDUCTION_ROWS(NAME, T, OP, NUMBER, ROW)                                      \
  ROW(int, chimex_, NAME##_##OP##_reduce_on_stream,                                                \
      (chime_team_t team, T* dst, const T* src, size_t n, chimex_stream_t stream), , ,             \
      chime::on_host::reduce_on_stream(CHIME_COLLECTIVE_REDUCE, NUMBER, team, dst, src, n,         \
                                       stream))                                                    \
  ROW(int, chimex_, NAME##_##OP##_reducescatter_on_stream,                                         \
      (chime_team_t team, T* dst, const T* src, size_t n, chimex_stream_t stream), , ,             \
      chime::on_host::reduce_on_stream(CHIME_COLLECTIVE_REDUCESCATTER, NUMBER, team, dst, src, n,  \
                                       stream))

#define CHIME_STREAM_FIELD_REDUCTION_ROWS(NAME, T, ROW)                                            \
  CHIME_STREAM_REDUCTION_ROWS(NAME, T, sum, CHIME_REDUCE_SUM, ROW)                                 \
  CHIME_STREAM_REDUCTION_ROWS(NAME, T, prod, CHIME_REDUCE_PROD, ROW)

#define CHIME_STREAM_ARITHMETIC_REDUCTION_ROWS(NAME, T, ROW)                                       \
  CHIME_STREAM_FIELD_REDUCTION_ROWS(NAME, T, ROW)                                                  \
  CHIME_STREAM_REDUCTION_ROWS(NAME, T, min, CHIME_REDUCE_MIN, ROW)                                 \
  CHIME_STREAM_REDUCTION_ROWS(NAME, T, max, CHIME_REDUCE_MAX, ROW)

#define CHIME_STREAM_BITWISE_REDUCTION_ROWS(NAME, T, ROW)                                          \
  CHIME_STREAM_REDUCTION_ROWS(NAME, T, and, CHIME_REDUCE_AND, ROW)                                 \
  CHIME_STREAM_REDUCTION_ROWS(NAME, T, or, CHIME_REDUCE_OR, ROW)                                   \
  CHIME_STREAM_REDUCTION_ROWS(NAME, T, xor, CHIME_REDUCE_XOR, ROW)
// clang-format on

// ---- All rows -----------------------------------------------------------------------------------

// half and bfloat16 exist only in C++ with the device side.
#if defined(__cplusplus) && !defined(CHIME_HOST_ONLY)
#define CHIME_FOR_FAMILY_RMA_TYPES CHIME_FOR_RMA_TYPES
#define CHIME_FOR_FAMILY_HALF_TYPES CHIME_FOR_HALF_AMO_TYPES
#define CHIME_FOR_FAMILY_REDUCTION_TYPES CHIME_FOR_REDUCTION_TYPES
#else
#define CHIME_FOR_FAMILY_REDUCTION_TYPES CHIME_FOR_REDUCTION_C_TYPES
#define CHIME_FOR_FAMILY_RMA_TYPES CHIME_FOR_RMA_C_TYPES
#define CHIME_FOR_FAMILY_HALF_TYPES(...)
#endif

// Operations of a thread, a warp or a block. Transfers have no result. The names of sized transfers
// and of meetings have no type in them.
#define CHIME_FOR_SIZED_TRANSFERS(ROW)              \
  CHIME_PUT_GET_SIZE_ROWS(mem, 1, ROW)              \
  CHIME_FOR_RMA_SIZES(CHIME_PUT_GET_SIZE_ROWS, ROW) \
  CHIME_FOR_RMA_SIZES(CHIME_STRIDED_SIZE_ROWS, ROW)
#define CHIME_FOR_GROUP_TRANSFERS(ROW)                \
  CHIME_FOR_FAMILY_RMA_TYPES(CHIME_PUT_GET_ROWS, ROW) \
  CHIME_FOR_SIZED_TRANSFERS(ROW)
#define CHIME_FOR_UNTYPED_GROUP_MEETINGS(ROW) \
  CHIME_SIGNAL_WAIT_ROWS(ROW)                 \
  CHIME_COLLECTIVE_ROWS(ROW)                  \
  CHIME_COLLECTIVE_MEM_ROWS(ROW)
// Collectives with a type in their names.
#define CHIME_FOR_TYPED_COLLECTIVES(ROW)                                 \
  CHIME_FOR_FAMILY_RMA_TYPES(CHIME_COLLECTIVE_MOVE_ROWS, ROW)            \
  CHIME_FOR_FAMILY_REDUCTION_TYPES(CHIME_ARITHMETIC_REDUCTION_ROWS, ROW) \
  CHIME_FOR_BITWISE_REDUCTION_TYPES(CHIME_BITWISE_REDUCTION_ROWS, ROW)
#define CHIME_FOR_OWN_COLLECTIVES(ROW)                   \
  CHIME_FOR_FAMILY_RMA_TYPES(CHIME_OWN_MOVE_ROWS, ROW)   \
  CHIME_OWN_MOVE_MEM_ROWS(ROW)                           \
  CHIME_TIMED_COLLECTIVE_ROWS(ROW)                       \
  CHIME_FOR_FAMILY_REDUCTION_TYPES(CHIME_SCAN_ROWS, ROW) \
  CHIME_FOR_PAIR_TYPES(CHIME_MAXLOC_ROWS, ROW)
#define CHIME_FOR_NVSHMEM_GROUP_OPERATIONS(ROW) \
  CHIME_FOR_GROUP_TRANSFERS(ROW)                \
  CHIME_FOR_UNTYPED_GROUP_MEETINGS(ROW)         \
  CHIME_FOR_TYPED_COLLECTIVES(ROW)
#define CHIME_FOR_GROUP_OPERATIONS(ROW)   \
  CHIME_FOR_NVSHMEM_GROUP_OPERATIONS(ROW) \
  CHIME_FOR_OWN_COLLECTIVES(ROW)

// Operations of a thread alone.
#define CHIME_FOR_UNTYPED_THREAD_OPERATIONS(ROW) \
  CHIME_QUERY_ROWS(ROW)                          \
  CHIME_SIGNAL_ROWS(ROW)                         \
  CHIME_ORDER_ROWS(ROW)
#define CHIME_FOR_NVSHMEM_THREAD_OPERATIONS(ROW)             \
  CHIME_FOR_UNTYPED_THREAD_OPERATIONS(ROW)                   \
  CHIME_FOR_FAMILY_RMA_TYPES(CHIME_ELEMENT_ROWS, ROW)        \
  CHIME_FOR_EXTENDED_AMO_TYPES(CHIME_EXTENDED_AMO_ROWS, ROW) \
  CHIME_FOR_FAMILY_HALF_TYPES(CHIME_EXTENDED_AMO_ROWS, ROW)  \
  CHIME_FOR_FLOAT_AMO_C_TYPES(CHIME_FLOAT_AMO_ROWS, ROW)     \
  CHIME_FOR_FAMILY_HALF_TYPES(CHIME_FLOAT_AMO_ROWS, ROW)     \
  CHIME_FOR_STANDARD_AMO_TYPES(CHIME_STANDARD_AMO_ROWS, ROW) \
  CHIME_FOR_BITWISE_AMO_TYPES(CHIME_BITWISE_AMO_ROWS, ROW)   \
  CHIME_FOR_WAIT_TYPES(CHIME_WAIT_ROWS, ROW)                 \
  CHIME_FOR_WAIT_TYPES(CHIME_TEST_ROWS, ROW)
#define CHIME_FOR_THREAD_OPERATIONS(ROW)   \
  CHIME_FOR_NVSHMEM_THREAD_OPERATIONS(ROW) \
  CHIME_OWN_ROWS(ROW)                      \
  CHIME_FOR_WAIT_TYPES(CHIME_WAIT_TIMEOUT_ROWS, ROW)

// Operations of the host alone.
#define CHIME_FOR_SIZED_STREAM_OPERATIONS(ROW)     \
  CHIME_FOR_RMA_SIZES(CHIME_STREAM_SIZE_ROWS, ROW) \
  CHIME_STREAM_COLLECTIVE_MEM_ROWS(ROW)
#define CHIME_FOR_NVSHMEM_STREAM_OPERATIONS(ROW)                                \
  CHIME_FOR_FAMILY_RMA_TYPES(CHIME_STREAM_ROWS, ROW)                            \
  CHIME_FOR_SIZED_STREAM_OPERATIONS(ROW)                                        \
  CHIME_FOR_WAIT_TYPES(CHIME_STREAM_WAIT_ROWS, ROW)                             \
  CHIME_FOR_FAMILY_RMA_TYPES(CHIME_STREAM_COLLECTIVE_MOVE_ROWS, ROW)            \
  CHIME_FOR_FAMILY_REDUCTION_TYPES(CHIME_STREAM_ARITHMETIC_REDUCTION_ROWS, ROW) \
  CHIME_FOR_BITWISE_REDUCTION_TYPES(CHIME_STREAM_BITWISE_REDUCTION_ROWS, ROW)
#define CHIME_FOR_STREAM_OPERATIONS(ROW)                        \
  CHIME_FOR_NVSHMEM_STREAM_OPERATIONS(ROW)                      \
  CHIME_FOR_FAMILY_RMA_TYPES(CHIME_OWN_STREAM_MOVE_ROWS, ROW)   \
  CHIME_OWN_STREAM_MOVE_MEM_ROWS(ROW)                           \
  CHIME_FOR_FAMILY_REDUCTION_TYPES(CHIME_STREAM_SCAN_ROWS, ROW) \
  CHIME_FOR_PAIR_TYPES(CHIME_STREAM_MAXLOC_ROWS, ROW)

// For types that kernels do not have: host calls, with and without a stream.
#define CHIME_FOR_LONG_DOUBLE_COLLECTIVES(ROW)                       \
  CHIME_FOR_LONG_DOUBLE(CHIME_COLLECTIVE_MOVE_ROWS, ROW)             \
  CHIME_FOR_LONG_DOUBLE(CHIME_OWN_MOVE_ROWS, ROW)                    \
  CHIME_FOR_LONG_DOUBLE(CHIME_ARITHMETIC_REDUCTION_ROWS, ROW)        \
  CHIME_FOR_LONG_DOUBLE(CHIME_SCAN_ROWS, ROW)                        \
  CHIME_FOR_LONG_DOUBLE(CHIME_STREAM_COLLECTIVE_MOVE_ROWS, ROW)      \
  CHIME_FOR_LONG_DOUBLE(CHIME_OWN_STREAM_MOVE_ROWS, ROW)             \
  CHIME_FOR_LONG_DOUBLE(CHIME_STREAM_ARITHMETIC_REDUCTION_ROWS, ROW) \
  CHIME_FOR_LONG_DOUBLE(CHIME_STREAM_SCAN_ROWS, ROW)
#define CHIME_FOR_COMPLEX_COLLECTIVES(ROW)                        \
  CHIME_FOR_COMPLEX_TYPES(CHIME_COLLECTIVE_MOVE_ROWS, ROW)        \
  CHIME_FOR_COMPLEX_TYPES(CHIME_OWN_MOVE_ROWS, ROW)               \
  CHIME_FOR_COMPLEX_TYPES(CHIME_FIELD_REDUCTION_ROWS, ROW)        \
  CHIME_FOR_COMPLEX_TYPES(CHIME_SCAN_ROWS, ROW)                   \
  CHIME_FOR_COMPLEX_TYPES(CHIME_STREAM_COLLECTIVE_MOVE_ROWS, ROW) \
  CHIME_FOR_COMPLEX_TYPES(CHIME_OWN_STREAM_MOVE_ROWS, ROW)        \
  CHIME_FOR_COMPLEX_TYPES(CHIME_STREAM_FIELD_REDUCTION_ROWS, ROW) \
  CHIME_FOR_COMPLEX_TYPES(CHIME_STREAM_SCAN_ROWS, ROW)

#endif  // CHIME_FAMILIES_H_
