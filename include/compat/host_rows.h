// NVSHMEM's host functions that do the same as Chime's of the same name and are no rows of
// chime/families.h: ROW(RESULT, NAME, (PARAMETERS), (ARGUMENTS), CALLED). nvshmem.h declares them;
// host/setup/nvshmem_api.cpp defines them as calls of CALLED.
#ifndef CHIME_COMPAT_HOST_ROWS_H_
#define CHIME_COMPAT_HOST_ROWS_H_

#include "chime/chime.h"
#include "chime/host_ops.h"

// clang-format off
#define CHIME_NVSHMEM_HOST_ROWS(ROW)                                                               \
  ROW(void, nvshmem_query_thread, (int* provided), (provided), chime_query_thread)                 \
  ROW(void, nvshmem_finalize, (void), (), chime_finalize)                                          \
  ROW(void, nvshmemx_hostlib_finalize, (void), (), chime_finalize)                                 \
  ROW(int, nvshmemx_init_status, (void), (), chimex_init_status)                                   \
  ROW(int, nvshmemx_cumodule_init, (chimex_cumodule_t module), (module), chimex_cumodule_init)     \
  ROW(int, nvshmemx_cumodule_finalize, (chimex_cumodule_t module), (module),                       \
      chimex_cumodule_finalize)                                                                    \
  ROW(int, nvshmemx_culibrary_init, (chimex_culibrary_t library), (library),                       \
      chimex_culibrary_init)                                                                       \
  ROW(int, nvshmemx_culibrary_finalize, (chimex_culibrary_t library), (library),                   \
      chimex_culibrary_finalize)                                                                   \
  ROW(const char*, nvshmemx_status_string, (int status), (status), chimex_status_string)           \
  ROW(void*, nvshmem_malloc, (size_t size), (size), chime_malloc)                                  \
  ROW(void*, nvshmem_calloc, (size_t count, size_t size), (count, size), chime_calloc)             \
  ROW(void*, nvshmem_align, (size_t alignment, size_t size), (alignment, size), chime_align)       \
  ROW(void, nvshmem_free, (void* ptr), (ptr), chime_free)                                          \
  ROW(int, nvshmemx_buffer_register, (void* addr, size_t length), (addr, length),                  \
      chimex_buffer_register)                                                                      \
  ROW(int, nvshmemx_buffer_unregister, (void* addr), (addr), chimex_buffer_unregister)             \
  ROW(void, nvshmemx_buffer_unregister_all, (void), (), chimex_buffer_unregister_all)              \
  ROW(void*, nvshmemx_buffer_register_symmetric, (void* buffer, size_t size, int flags),           \
      (buffer, size, flags), chimex_buffer_register_symmetric)                                     \
  ROW(int, nvshmemx_buffer_unregister_symmetric, (void* address, size_t size), (address, size),    \
      chimex_buffer_unregister_symmetric)                                                          \
  ROW(void, nvshmemx_putmem_on_stream,                                                             \
      (void* dst, const void* src, size_t bytes, int pe, chimex_stream_t stream),                  \
      (dst, src, bytes, pe, stream), chimex_putmem_on_stream)                                      \
  ROW(void, nvshmemx_putmem_nbi_on_stream,                                                         \
      (void* dst, const void* src, size_t bytes, int pe, chimex_stream_t stream),                  \
      (dst, src, bytes, pe, stream), chimex_putmem_nbi_on_stream)                                  \
  ROW(void, nvshmemx_getmem_on_stream,                                                             \
      (void* dst, const void* src, size_t bytes, int pe, chimex_stream_t stream),                  \
      (dst, src, bytes, pe, stream), chimex_getmem_on_stream)                                      \
  ROW(void, nvshmemx_getmem_nbi_on_stream,                                                         \
      (void* dst, const void* src, size_t bytes, int pe, chimex_stream_t stream),                  \
      (dst, src, bytes, pe, stream), chimex_getmem_nbi_on_stream)                                  \
  ROW(void, nvshmemx_putmem_signal_on_stream,                                                      \
      (void* dst, const void* src, size_t bytes, uint64_t* sig, uint64_t value, int op, int pe,    \
       chimex_stream_t stream),                                                                    \
      (dst, src, bytes, sig, value, op, pe, stream), chimex_putmem_signal_on_stream)               \
  ROW(void, nvshmemx_putmem_signal_nbi_on_stream,                                                  \
      (void* dst, const void* src, size_t bytes, uint64_t* sig, uint64_t value, int op, int pe,    \
       chimex_stream_t stream),                                                                    \
      (dst, src, bytes, sig, value, op, pe, stream), chimex_putmem_signal_nbi_on_stream)           \
  ROW(void, nvshmemx_signal_op_on_stream,                                                          \
      (uint64_t* sig, uint64_t value, int op, int pe, chimex_stream_t stream),                     \
      (sig, value, op, pe, stream), chimex_signal_op_on_stream)                                    \
  ROW(void, nvshmemx_signal_wait_until_on_stream,                                                  \
      (uint64_t* sig, int cmp, uint64_t value, chimex_stream_t stream),                            \
      (sig, cmp, value, stream), chimex_signal_wait_until_on_stream)                               \
  ROW(void, nvshmemx_quiet_on_stream, (chimex_stream_t stream), (stream), chimex_quiet_on_stream)  \
  ROW(void, nvshmemx_flush_on_stream, (chimex_stream_t stream), (stream), chimex_quiet_on_stream)  \
  ROW(void, nvshmemx_barrier_all_on_stream, (chimex_stream_t stream), (stream),                    \
      chimex_barrier_all_on_stream)                                                                \
  ROW(void, nvshmemx_sync_all_on_stream, (chimex_stream_t stream), (stream),                       \
      chimex_sync_all_on_stream)                                                                   \
  ROW(int, nvshmemx_barrier_on_stream, (chime_team_t team, chimex_stream_t stream),                \
      (team, stream), chimex_barrier_on_stream)                                                    \
  ROW(int, nvshmemx_team_sync_on_stream, (chime_team_t team, chimex_stream_t stream),              \
      (team, stream), chimex_team_sync_on_stream)

// After it, sources of earlier nbi puts may be written again. It is a quiet, which promises more:
// Chime does not count sources separately. A row like those of chime/families.h.
#define CHIME_NVSHMEM_FLUSH_ROWS(ROW)                                                              \
  ROW(void, chimex_, flush, (void), nvshmem::flush, (), chime_host_quiet())

// Resets a counter of this PE to 0. Counted signals are those that put_signal adds to.
#define CHIME_NVSHMEM_COUNTED_ROWS(ROW)                                                            \
  ROW(void, chimex_, signal_counted_reset, (uint64_t* sig), nvshmem::signal_counted_reset, (sig),  \
      chime_host_signal_op(sig, 0, CHIME_SIGNAL_SET, chimex_host_my_pe()))
// clang-format on

#endif  // CHIME_COMPAT_HOST_ROWS_H_
