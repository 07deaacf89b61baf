// The specifications' names: the families that host and kernels share (families.h) on top of the
// templates, and the warp and block forms that only kernels have.
#ifndef CHIME_DEVICE_API_CUH_
#define CHIME_DEVICE_API_CUH_

#include "chime/abi/state.h"
#include "chime/chime.h"
#include "chime/device/amo.cuh"
#include "chime/device/coll/barrier.cuh"
#include "chime/device/exec.cuh"
#include "chime/device/group.cuh"
#include "chime/device/rma.cuh"
#include "chime/device/signal.cuh"
#include "chime/device/state.cuh"
#include "chime/device/sync.cuh"

// Internal linkage: under nvcc these read their translation unit's own copy of the state.
#define CHIME_FN [[maybe_unused]] static CHIME_HOST_DEVICE
#define CHIME_BOTH(device, host) CHIME_IF_DEVICE(device, host)
#include "chime/families.h"
#undef CHIME_BOTH
#undef CHIME_FN

#define CHIME_DEVICE_FN [[maybe_unused]] static CHIME_DEVICE

// ---- Remote memory access by a warp or a block --------------------------------------------------

#define CHIME_RMA_GROUP(NAME, T, SUFFIX, GROUP)                                                   \
  CHIME_DEVICE_FN void chimex_##NAME##_put##SUFFIX(T* dst, const T* src, size_t n, int pe) {      \
    chime::put(chime::self(), GROUP{}, dst, src, n, pe);                                          \
  }                                                                                               \
  CHIME_DEVICE_FN void chimex_##NAME##_put_nbi##SUFFIX(T* dst, const T* src, size_t n, int pe) {  \
    chime::put_nbi(chime::self(), GROUP{}, dst, src, n, pe);                                      \
  }                                                                                               \
  CHIME_DEVICE_FN void chimex_##NAME##_get##SUFFIX(T* dst, const T* src, size_t n, int pe) {      \
    chime::get(chime::self(), GROUP{}, dst, src, n, pe);                                          \
  }                                                                                               \
  CHIME_DEVICE_FN void chimex_##NAME##_get_nbi##SUFFIX(T* dst, const T* src, size_t n, int pe) {  \
    chime::get_nbi(chime::self(), GROUP{}, dst, src, n, pe);                                      \
  }                                                                                               \
  CHIME_DEVICE_FN void chimex_##NAME##_iput##SUFFIX(T* dst, const T* src, ptrdiff_t dst_stride,   \
                                                    ptrdiff_t src_stride, size_t n, int pe) {     \
    chime::iput(chime::self(), GROUP{}, dst, src, dst_stride, src_stride, n, pe);                 \
  }                                                                                               \
  CHIME_DEVICE_FN void chimex_##NAME##_iget##SUFFIX(T* dst, const T* src, ptrdiff_t dst_stride,   \
                                                    ptrdiff_t src_stride, size_t n, int pe) {     \
    chime::iget(chime::self(), GROUP{}, dst, src, dst_stride, src_stride, n, pe);                 \
  }                                                                                               \
  CHIME_DEVICE_FN void chimex_##NAME##_put_signal##SUFFIX(                                        \
      T* dst, const T* src, size_t n, uint64_t* sig, uint64_t value, int op, int pe) {            \
    chime::put_signal(chime::self(), GROUP{}, dst, src, n, chime::signal_of(sig, value, op), pe); \
  }                                                                                               \
  CHIME_DEVICE_FN void chimex_##NAME##_put_signal_nbi##SUFFIX(                                    \
      T* dst, const T* src, size_t n, uint64_t* sig, uint64_t value, int op, int pe) {            \
    chime::put_signal_nbi(chime::self(), GROUP{}, dst, src, n, chime::signal_of(sig, value, op),  \
                          pe);                                                                    \
  }
CHIME_FOR_RMA_TYPES(CHIME_RMA_GROUP, _warp, chime::Warp)
CHIME_FOR_RMA_TYPES(CHIME_RMA_GROUP, _block, chime::Block)
#undef CHIME_RMA_GROUP

#define CHIME_RMA_MEM_GROUP(NAME, SCALE, SUFFIX, GROUP)                                         \
  CHIME_DEVICE_FN void chimex_put##NAME##SUFFIX(void* dst, const void* src, size_t n, int pe) { \
    chime::putmem(chime::self(), GROUP{}, dst, src, CHIME_BYTES(n, SCALE), pe);                 \
  }                                                                                             \
  CHIME_DEVICE_FN void chimex_put##NAME##_nbi##SUFFIX(void* dst, const void* src, size_t n,     \
                                                      int pe) {                                 \
    chime::putmem_nbi(chime::self(), GROUP{}, dst, src, CHIME_BYTES(n, SCALE), pe);             \
  }                                                                                             \
  CHIME_DEVICE_FN void chimex_get##NAME##SUFFIX(void* dst, const void* src, size_t n, int pe) { \
    chime::getmem(chime::self(), GROUP{}, dst, src, CHIME_BYTES(n, SCALE), pe);                 \
  }                                                                                             \
  CHIME_DEVICE_FN void chimex_get##NAME##_nbi##SUFFIX(void* dst, const void* src, size_t n,     \
                                                      int pe) {                                 \
    chime::getmem_nbi(chime::self(), GROUP{}, dst, src, CHIME_BYTES(n, SCALE), pe);             \
  }                                                                                             \
  CHIME_DEVICE_FN void chimex_put##NAME##_signal##SUFFIX(                                       \
      void* dst, const void* src, size_t n, uint64_t* sig, uint64_t value, int op, int pe) {    \
    chime::putmem_signal(chime::self(), GROUP{}, dst, src, CHIME_BYTES(n, SCALE),               \
                         chime::signal_of(sig, value, op), pe);                                 \
  }                                                                                             \
  CHIME_DEVICE_FN void chimex_put##NAME##_signal_nbi##SUFFIX(                                   \
      void* dst, const void* src, size_t n, uint64_t* sig, uint64_t value, int op, int pe) {    \
    chime::putmem_signal_nbi(chime::self(), GROUP{}, dst, src, CHIME_BYTES(n, SCALE),           \
                             chime::signal_of(sig, value, op), pe);                             \
  }
CHIME_RMA_MEM_GROUP(mem, 1, _warp, chime::Warp)
CHIME_RMA_MEM_GROUP(mem, 1, _block, chime::Block)
CHIME_FOR_RMA_SIZES(CHIME_RMA_MEM_GROUP, _warp, chime::Warp)
CHIME_FOR_RMA_SIZES(CHIME_RMA_MEM_GROUP, _block, chime::Block)
#undef CHIME_RMA_MEM_GROUP

#define CHIME_RMA_STRIDED_GROUP(BITS, BYTES, SUFFIX, GROUP)                                        \
  CHIME_DEVICE_FN void chimex_iput##BITS##SUFFIX(void* dst, const void* src, ptrdiff_t dst_stride, \
                                                 ptrdiff_t src_stride, size_t n, int pe) {         \
    using Element = chime::detail::Word<BYTES>;                                                    \
    chime::iput(chime::self(), GROUP{}, static_cast<Element*>(dst),                                \
                static_cast<const Element*>(src), dst_stride, src_stride, n, pe);                  \
  }                                                                                                \
  CHIME_DEVICE_FN void chimex_iget##BITS##SUFFIX(void* dst, const void* src, ptrdiff_t dst_stride, \
                                                 ptrdiff_t src_stride, size_t n, int pe) {         \
    using Element = chime::detail::Word<BYTES>;                                                    \
    chime::iget(chime::self(), GROUP{}, static_cast<Element*>(dst),                                \
                static_cast<const Element*>(src), dst_stride, src_stride, n, pe);                  \
  }
CHIME_FOR_RMA_SIZES(CHIME_RMA_STRIDED_GROUP, _warp, chime::Warp)
CHIME_FOR_RMA_SIZES(CHIME_RMA_STRIDED_GROUP, _block, chime::Block)
#undef CHIME_RMA_STRIDED_GROUP

// ---- Signal wait, barrier and sync by a warp or a block -----------------------------------------

#define CHIME_SYNC_GROUP(SUFFIX, GROUP)                                                        \
  CHIME_DEVICE_FN uint64_t chimex_signal_wait_until##SUFFIX(uint64_t* sig, int cmp,            \
                                                            uint64_t value) {                  \
    return chime::signal_wait_until(chime::self(), GROUP{}, sig, static_cast<chime::Cmp>(cmp), \
                                    value);                                                    \
  }                                                                                            \
  CHIME_DEVICE_FN void chimex_barrier_all##SUFFIX() {                                          \
    chime::barrier_all(chime::self(), GROUP{});                                                \
  }                                                                                            \
  CHIME_DEVICE_FN void chimex_sync_all##SUFFIX() { chime::sync_all(chime::self(), GROUP{}); }
CHIME_SYNC_GROUP(_warp, chime::Warp)
CHIME_SYNC_GROUP(_block, chime::Block)
#undef CHIME_SYNC_GROUP

#undef CHIME_DEVICE_FN

#endif  // CHIME_DEVICE_API_CUH_
