// The functions of libchime.so behind the families on the host, with the types erased. Programs
// call the typed names (families.h), whose contracts are in chime_device.cuh. This header promises
// nothing beyond them.
//
// Each acts on the calling thread's PE. On the CPU device the library runs the templates that
// kernels run (device/rma.cuh and its neighbours) as the group Thread. On a GPU it copies through
// the driver or runs a kernel of its own. Failures: chime.h, "Errors".
//
// Arguments have the same meaning throughout:
//
//   dst, src      put: symmetric address at `pe`, local address; get: local, symmetric
//   bytes         size of the transfer, 0 or more
//   sig           symmetric word
//   op            CHIME_SIGNAL_*, for atomics CHIME_AMO_*
//   cmp           CHIME_CMP_*, the word on the left
//   pe            a PE of the job, 0..n-1
//   timeout_ns    nanoseconds; 0: no bound
#ifndef CHIME_HOST_OPS_H_
#define CHIME_HOST_OPS_H_

#include <stddef.h>
#include <stdint.h>

#include "chime/export.h"
#include "chime/types.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Remote memory access ----------------------------------------------------------------------

CHIME_EXPORT void chime_host_put(void* dst, const void* src, size_t bytes, int pe);
CHIME_EXPORT void chime_host_put_nbi(void* dst, const void* src, size_t bytes, int pe);
CHIME_EXPORT void chime_host_get(void* dst, const void* src, size_t bytes, int pe);
CHIME_EXPORT void chime_host_get_nbi(void* dst, const void* src, size_t bytes, int pe);

// One element of 1, 2, 4, 8 or 16 bytes. The symmetric address is aligned to it.
CHIME_EXPORT void chime_host_p(void* dst, const void* value, size_t bytes, int pe);
CHIME_EXPORT void chime_host_g(void* value, const void* src, size_t bytes, int pe);

// `count` elements of `element_bytes` (1, 2, 4, 8 or 16). Strides count elements, at least 1.
CHIME_EXPORT void chime_host_iput(void* dst, const void* src, ptrdiff_t dst_stride,
                                  ptrdiff_t src_stride, size_t count, size_t element_bytes, int pe);
CHIME_EXPORT void chime_host_iget(void* dst, const void* src, ptrdiff_t dst_stride,
                                  ptrdiff_t src_stride, size_t count, size_t element_bytes, int pe);

// ---- Signals -----------------------------------------------------------------------------------

CHIME_EXPORT void chime_host_put_signal(void* dst, const void* src, size_t bytes, uint64_t* sig,
                                        uint64_t value, int op, int pe);
CHIME_EXPORT void chime_host_put_signal_nbi(void* dst, const void* src, size_t bytes, uint64_t* sig,
                                            uint64_t value, int op, int pe);
CHIME_EXPORT void chime_host_signal_op(uint64_t* sig, uint64_t value, int op, int pe);
CHIME_EXPORT uint64_t chime_host_signal_fetch(const uint64_t* sig);
CHIME_EXPORT uint64_t chime_host_signal_wait_until(uint64_t* sig, int cmp, uint64_t value);
// Returns CHIMEX_OK, CHIMEX_ERR_TIMEOUT or another chimex_status. `*seen` receives the last value;
// null is CHIMEX_ERR_INVALID.
CHIME_EXPORT int chime_host_signal_wait_until_timeout(uint64_t* sig, int cmp, uint64_t value,
                                                      uint64_t timeout_ns, uint64_t* seen);

// ---- Atomics -----------------------------------------------------------------------------------

typedef enum chime_amo_op {
  CHIME_AMO_FETCH = 0,
  CHIME_AMO_SET = 1,
  CHIME_AMO_ADD = 2,
  CHIME_AMO_AND = 3,
  CHIME_AMO_OR = 4,
  CHIME_AMO_XOR = 5,
  CHIME_AMO_SWAP = 6,
  CHIME_AMO_COMPARE_SWAP = 7,
  CHIME_AMO_INC = 8,       // ADD under a name of its own; `operand` is 1
  CHIME_AMO_FLOAT_ADD = 9  // half, float or double, by `width`
} chime_amo_op;

// One atomic on the symmetric word `dst` at `pe`.
//
//   fetch    not 0: return the old bits; FETCH, SWAP and COMPARE_SWAP always do
//   width    of the word: 4 or 8 bytes; FETCH, SET, SWAP and FLOAT_ADD also 2
//   operand  the value's bits, zero-extended
//   compare  likewise, what COMPARE_SWAP expects
//
// Returns the old bits, zero-extended, or 0. CHIMEX_ERR_INVALID: no such `op` or `width`.
CHIME_EXPORT uint64_t chime_host_amo(int op, int fetch, void* dst, int width, uint64_t operand,
                                     uint64_t compare, int pe);

// ---- Waits and tests on this PE's memory --------------------------------------------------------

// How many elements must hold. ONE is ALL of one element.
enum { CHIME_WAIT_ALL = 0, CHIME_WAIT_ANY = 1, CHIME_WAIT_SOME = 2, CHIME_WAIT_ONE = 3 };

// A wait or test of `count` elements of this PE's memory. `values` holds one value if `vector` is
// 0, else one for each element.
typedef struct chime_wait_request {
  const void* elements;
  size_t count;
  const int* skip;  // skip[i] != 0 leaves element i out; may be null
  int cmp;          // CHIME_CMP_*
  const void* values;
  int vector;
  int width;        // of an element: 2, 4 or 8 bytes
  int is_signed;    // how LT, LE, GT, GE compare
  int mode;         // CHIME_WAIT_*
  size_t* indices;  // of the satisfied ones; mode SOME
} chime_wait_request;

// Blocks until enough elements hold. ALL, ONE: returns 0. ANY: the index of an element that holds,
// SIZE_MAX at once if all are left out. SOME: how many hold, 0 at once if all are left out; their
// indices are in `indices`.
CHIME_EXPORT size_t chime_host_wait(const chime_wait_request* request);
// Looks once. ALL, ONE: returns 1 if all hold or are left out, else 0. ANY, SOME: as the wait;
// SIZE_MAX or 0 if none holds.
CHIME_EXPORT size_t chime_host_test(const chime_wait_request* request);
// chime_host_wait of mode ONE with a bound. Returns CHIMEX_OK, CHIMEX_ERR_TIMEOUT or another
// chimex_status.
CHIME_EXPORT int chime_host_wait_timeout(const chime_wait_request* request, uint64_t timeout_ns);

// What a waiting thread does now and then: a language's interpreter looks for signals. The waiting
// thread itself calls `look`, which returns CHIMEX_OK, or the status with which the wait ends.
typedef struct chime_wait_look {
  int (*look)(void* argument);
  void* argument;
  uint64_t every_ns;  // nanoseconds between two looks, at least 1
} chime_wait_look;

// The waits with a bound (0: none), as one wait on the timeline however often they look. They also
// return an error that the PE meets meanwhile, and what `look` returned.
CHIME_EXPORT int chime_host_signal_wait_looking(uint64_t* sig, int cmp, uint64_t value,
                                                uint64_t timeout_ns, const chime_wait_look* look,
                                                uint64_t* seen);
CHIME_EXPORT int chime_host_wait_looking(const chime_wait_request* request, uint64_t timeout_ns,
                                         const chime_wait_look* look);

// ---- Collectives that move data -----------------------------------------------------------------

enum {
  CHIME_COLLECTIVE_BROADCAST = 0,
  CHIME_COLLECTIVE_FCOLLECT = 1,
  CHIME_COLLECTIVE_ALLTOALL = 2,
  CHIME_COLLECTIVE_REDUCE = 3,
  CHIME_COLLECTIVE_REDUCESCATTER = 4,
  CHIME_COLLECTIVE_INSCAN = 5,
  CHIME_COLLECTIVE_EXSCAN = 6,
  CHIME_COLLECTIVE_COLLECT = 7,
  CHIME_COLLECTIVE_ALLTOALLS = 8,
  CHIME_COLLECTIVE_ALLTOALLV = 9,
  // Without data, and with a bound of the call's own.
  CHIME_COLLECTIVE_BARRIER = 10,
  CHIME_COLLECTIVE_SYNC = 11
};
enum {
  CHIME_REDUCE_SUM = 0,
  CHIME_REDUCE_PROD = 1,
  CHIME_REDUCE_MIN = 2,
  CHIME_REDUCE_MAX = 3,
  CHIME_REDUCE_AND = 4,
  CHIME_REDUCE_OR = 5,
  CHIME_REDUCE_XOR = 6,
  CHIME_REDUCE_MAXLOC = 7
};
// What the elements of a reduction are.
enum {
  CHIME_ELEMENT_INT = 0,
  CHIME_ELEMENT_UINT = 1,
  CHIME_ELEMENT_FLOAT = 2,     // of 2, 4 or 8 bytes
  CHIME_ELEMENT_BFLOAT16 = 3,  // of 2 bytes
  CHIME_ELEMENT_DOUBLE2 = 4,   // for MAXLOC
  CHIME_ELEMENT_COMPLEX = 5,   // two floats or doubles: 8 or 16 bytes; for SUM and PROD
  CHIME_ELEMENT_LONG_DOUBLE = 6
};

// A collective of a team, by the calling thread.
typedef struct chime_collective_request {
  int kind;           // CHIME_COLLECTIVE_*
  chime_team_t team;  // with its lane
  void* dst;          // symmetric
  const void* src;
  size_t n;     // elements, of alltoall(s), fcollect and reducescatter those of one member
  int bytes;    // of an element
  int root;     // of a broadcast
  int op;       // of a reduction or scan: CHIME_REDUCE_*
  int element;  // of a reduction or scan: CHIME_ELEMENT_*
  // For alltoalls: how many elements apart.
  ptrdiff_t dst_stride, src_stride;
  // For alltoallv: arrays with a number of elements for each member.
  size_t* dst_counts;
  const size_t *dst_offsets, *src_counts, *src_offsets;
} chime_collective_request;

// Returns a chimex_status.
CHIME_EXPORT int chime_host_collective(const chime_collective_request* request);
// The same, bounded by `timeout_ns` (0: not at all): CHIMEX_ERR_TIMEOUT, which is no error of the
// thread's.
CHIME_EXPORT int chime_host_collective_timeout(const chime_collective_request* request,
                                               uint64_t timeout_ns);
// The same when the stream gets there; the status says whether it was accepted.
CHIME_EXPORT int chime_host_collective_on_stream(const chime_collective_request* request,
                                                 chimex_stream_t stream);

// ---- On a stream --------------------------------------------------------------------------------

// The same when the stream gets there. p reads `*value` during the call. g waits for the stream and
// has filled `*value` when it returns; on a stream that is being captured it is
// CHIMEX_ERR_UNSUPPORTED.

CHIME_EXPORT void chime_host_p_on_stream(void* dst, const void* value, size_t bytes, int pe,
                                         chimex_stream_t stream);
CHIME_EXPORT void chime_host_g_on_stream(void* value, const void* src, size_t bytes, int pe,
                                         chimex_stream_t stream);
CHIME_EXPORT void chime_host_iput_on_stream(void* dst, const void* src, ptrdiff_t dst_stride,
                                            ptrdiff_t src_stride, size_t count,
                                            size_t element_bytes, int pe, chimex_stream_t stream);
CHIME_EXPORT void chime_host_iget_on_stream(void* dst, const void* src, ptrdiff_t dst_stride,
                                            ptrdiff_t src_stride, size_t count,
                                            size_t element_bytes, int pe, chimex_stream_t stream);
// Modes ONE and ALL. `skip` and the values of a vector are read when the stream gets there, and
// must stay until then.
CHIME_EXPORT void chime_host_wait_on_stream(const chime_wait_request* request,
                                            chimex_stream_t stream);

// ---- Ordering and collectives ------------------------------------------------------------------

CHIME_EXPORT void chime_host_fence(void);
CHIME_EXPORT void chime_host_quiet(void);
CHIME_EXPORT void chime_host_barrier_all(void);
CHIME_EXPORT void chime_host_sync_all(void);
CHIME_EXPORT int chime_host_barrier(chime_team_t team);
CHIME_EXPORT int chime_host_team_sync(chime_team_t team);
CHIME_EXPORT int chime_host_team_my_pe(chime_team_t team);
CHIME_EXPORT int chime_host_team_n_pes(chime_team_t team);
CHIME_EXPORT int chime_host_team_translate_pe(chime_team_t team, int pe, chime_team_t other);
CHIME_EXPORT chime_team_t chime_host_team_lane(chime_team_t team, int lane);
CHIME_EXPORT void* chime_host_team_ptr(chime_team_t team, const void* dst, int pe);
CHIME_EXPORT void* chime_host_ptr(const void* dst, int pe);

// ---- Errors ------------------------------------------------------------------------------------

// For bindings that raise exceptions: whether calls of this thread that fail also print their
// message, as they do by default. chimex_last_error() has it either way.
CHIME_EXPORT void chime_host_print_errors(int is_on);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // CHIME_HOST_OPS_H_
