// The API that kernels call, by chapter of OpenSHMEM 1.5: the contract of every family, for kernels
// and for the host. chime.h has the functions that only host code calls.
//
// Names
//
//   TYPE, T    a NAME of a table of types.h, and its C type
//   SIZE       the bits of an element: 8, 16, 32, 64 or 128
//   no suffix  any thread of a kernel may call it, and host code
//   _warp      chimex_..._warp: all lanes of a warp call it together
//   _block     chimex_..._block: all threads of a block call it together
//
// Groups. The forms with _warp and _block exist only in kernels. No member of the group may have
// ended. All members call with the same arguments, and together do the operation once. These forms,
// the nbi ones among them, synchronise the group at entry and at exit, as NVSHMEM's do:
//
// - What a member wrote before the call is in the source for all members.
// - What a member does after the call comes after the whole call.
// - A quiet by any member completes the call.
//
// Templates. C++ code may call the templates behind the names: chime::put(ctx, group, ...) takes an
// explicit Context (chime::context() on the host, passed to the kernel) and a group by value,
// Thread{}, Warp{} or Block{}. Templates do not synchronise at entry, and at exit only if they
// block: they are for callers whose members have just met.
//
// Terms
//
//   dst, src       put: a symmetric address, which names the target at PE `pe`, and a local one;
//                  get: a local address and a symmetric one
//   local address  any memory that the caller can load and store
//   n              number of elements, in 64 bits. With 0 the pointers may be anything, and the
//                  call does nothing, but put_signal updates its signal
//   complete at the target  the data is in the memory of `pe`, and visible to a reader that learns
//                           of it by a signal, by a flag after a fence, or by a barrier
//   complete locally        put: the source may be written again; get: the destination holds the
//                           data
//
// dst and src must not overlap in one PE's memory. Typed addresses are aligned to their type; the
// ...mem forms take any alignment.
//
// If `pe` is the calling PE, the address at `pe` (of data, of a signal, of an atomic's word) may
// also be memory outside the heap that the caller can load and store; null is an error. One
// operation refuses such an address: put_signal with CHIME_SIGNAL_ADD, if the signal lies in the
// heap and the data do not, in a job where the NIC or the proxy of the word's PE makes atomics
// (CHIME_AMO).
//
// Errors in a kernel. The first error is recorded; the PE's next host call or chime_finalize
// reports it.
//
//   CHIMEX_ERR_INVALID      a PE that does not exist; an address outside the heap, except as above;
//                           a comparison or signal operation that does not exist
//   CHIMEX_ERR_UNREACHABLE  no path leads to the PE
//
// Waits fail in the same way when the job is aborted or a PE dies, with the status of that. Then
// the calling thread does what CHIME_ON_ERROR says:
//
//   exit    (default) the thread ends, so that it computes nothing from data that never came
//   return  the call returns without effect, with result zero
//   trap    the kernel ends; on the CPU device the process does, and first reports the cause
//
// After `exit` the kernel's other threads end, too: on the CPU device where they next pause, poll
// or meet others; on a GPU only in exec::sync_grid, when a block waits there for one that may never
// come. Until then they run on, also with data that never came. With `exit` and `return` the kernel
// completes, but its results mean nothing: ask chimex_get_async_error after synchronising with it.
//
// Checks. CHIME_CHECK=1 also checks the far end of every transfer, sizes that size_t does not hold,
// the PE of empty transfers, the alignment of words, and that waits, tests and signal_fetch look
// into this PE's heap.
#ifndef CHIME_CHIME_DEVICE_CUH_
#define CHIME_CHIME_DEVICE_CUH_

#include "chime/chime.h"

// ---- Query (9.1, 9.3) ---------------------------------------------------------------------------
//
// int   chime_my_pe()         this PE's number, 0..n_pes-1; -1 before init (host only)
// int   chime_n_pes()         how many PEs the job has; -1 before init (host only)
// int   chimex_node_my_pe()   this PE's number among those of its node, from 0, in the order of
//                             their numbers in the job; -1 before init. Equal to
//                             nvshmem_team_my_pe(NVSHMEMX_TEAM_NODE)
// int   chimex_node_n_pes()   how many PEs run on this node; nodes may differ; -1 before init
//   A node is a machine: PEs with one kernel and one process-id space, or, under a PMIx launcher,
//   those that it started under one host name. Not implied: that they have mapped each other's
//   heaps (chime_ptr).
//
// void* chime_ptr(const void* dst, int pe)
//   dst  a symmetric address
//   Returns the address at which this PE can load and store `pe`'s copy of it; null if it cannot.
//
// int   chime_team_my_pe(chime_team_t team)    this PE's number in the team, from 0
// int   chime_team_n_pes(chime_team_t team)    how many members the team has
// int   chime_team_translate_pe(chime_team_t team, int pe, chime_team_t other)
//   pe     a member's number in `team`
//   other  the team in which to number it
//   Returns the member's number in `other`. types.h has the predefined teams; chime.h has the calls
//   that make others. All three return -1 if that PE is no member, if there is no such member, or
//   if a team is CHIME_TEAM_INVALID. A team that is a list of PEs is looked through. Errors, with
//   -1:
//
//     CHIMEX_ERR_INVALID      this PE is in no such team: it was destroyed, or never was
//     CHIMEX_ERR_UNSUPPORTED  in a kernel, SAME_MYPE_NODE if the job has several nodes and the host
//                             has not named the team in a call before
//
// chime_team_t chimex_team_lane(chime_team_t team, int lane)
//   Returns the handle of a lane of the team, from 0; it looks up nothing. CHIME_TEAM_INVALID if
//   there is no such lane (CHIME_TEAM_LANES), or no team.
// void* chime_team_ptr(chime_team_t team, const void* dst, int pe)
//   chime_ptr of member `pe` of the team; null also if there is no such member.
//
// int   chimex_pe_status(int pe)
//   Returns what this PE knows of `pe`:
//
//     CHIMEX_OK                   no failure
//     CHIMEX_ERR_PEER_DEAD        it is gone; this answer stays
//     CHIMEX_ERR_NETWORK          the path to it from here has failed, for kernels or the host; it
//                                 may live
//     CHIMEX_ERR_UNREACHABLE      there never was a path to it
//     CHIMEX_ERR_INVALID          there is no such PE
//     CHIMEX_ERR_NOT_INITIALIZED  before init
//
//   Sends nothing, waits for no PE, records nothing and ends no thread. Not known is a failure that
//   no operation has found yet; a path that the first touch would open counts as CHIMEX_OK. In a
//   kernel each call loads words from the host's memory: call it now and then, not in a loop that
//   has work to do. How a job goes on without a dead PE: chime.h, "Peers that are lost".
//
// Source: device/rma.cuh, device/coll/team.cuh, device/peer_status.cuh.

// ---- Remote memory access (9.5) -----------------------------------------------------------------
//
// For RMA types (Table 3 as NVSHMEM has it: 25 types, half and bfloat16 among them), for elements
// of 8, 16, 32, 64 or 128 bits, and for bytes (mem):
//
// void chime_TYPE_put(T* dst, const T* src, size_t n, int pe)        put, put_nbi, get, get_nbi
// void chime_putSIZE(void* dst, const void* src, size_t n, int pe)   n elements of SIZE bits
// void chime_putmem(void* dst, const void* src, size_t bytes, int pe)
// void chimex_TYPE_put_warp(...), chimex_putSIZE_block(...), ...     all of the above
//
//   put       returns when it is complete locally; for a group, when every member's part is. Not
//             guaranteed: completion at the target before chime_quiet or a barrier; any order
//             towards other puts before chime_fence.
//   put_nbi   as put, but complete locally only after chime_quiet. (On a mapped peer it is complete
//             locally when it returns; do not rely on it.)
//   get       returns when the data is here, for every member of a group.
//   get_nbi   the data is here after chime_quiet.
//
//   A reader never sees an aligned element of up to 8 bytes half written, if source and destination
//   are both aligned to it.
//
// void chime_TYPE_iput(T* dst, const T* src, ptrdiff_t dst_stride, ptrdiff_t src_stride, size_t n,
//                      int pe)                                       iput, iget; TYPE or SIZE
//   dst_stride, src_stride  in elements, at least 1
//   Moves element i from src[i * src_stride] to dst[i * dst_stride]. Complete locally on return.
//   There is no nbi form.
//
// void chime_TYPE_p(T* dst, T value, int pe)     one element; as put
// T    chime_TYPE_g(const T* src, int pe)        one element; as get
//
// On a stream, by the host:
// chimex_TYPE_{put,put_nbi,get,get_nbi,put_signal,put_signal_nbi}_on_stream(..., chimex_stream_t)
// and chimex_{put,get}SIZE..., as the ...mem forms in chime.h;
// chimex_{TYPE_iput,TYPE_iget,iputSIZE,igetSIZE,TYPE_p,TYPE_g}_on_stream. p reads its value during
// the call. g waits for the stream's earlier work, and returns the value. Kernels must reach all
// memory of these calls; otherwise the call waits for the stream, too (chime.h).
//
// Source: device/rma.cuh.

// ---- Signals (9.8) ------------------------------------------------------------------------------
//
// A signal is a symmetric uint64_t.
//
//   op  CHIME_SIGNAL_SET stores `value`; CHIME_SIGNAL_ADD adds it, atomically with other signal
//       operations. Do not mix either with plain stores
//
// void chime_TYPE_put_signal(T* dst, const T* src, size_t n, uint64_t* sig, uint64_t value, int op,
//                            int pe)                  put_signal, put_signal_nbi; TYPE, SIZE, mem
//   A put, then one update of the signal at `pe`. Only dst and sig must be symmetric. A reader that
//   sees the update (by the waits and signal_fetch below) sees this call's data. Not guaranteed:
//   that it also sees earlier puts; put chime_fence between them.
// void     chimex_signal_op(uint64_t* sig, uint64_t value, int op, int pe)
//   The update alone. It has no order: to announce a put call put, chime_fence, chimex_signal_op.
// uint64_t chime_signal_fetch(const uint64_t* sig)
//   Returns this PE's signal, read once; what it announces is visible after the call.
// uint64_t chime_signal_wait_until(uint64_t* sig, int cmp, uint64_t value)
//          and chimex_signal_wait_until_warp, chimex_signal_wait_until_block
//   cmp  CHIME_CMP_*; the comparison is unsigned
//   Waits until this PE's signal compares true, and returns it. What it announces is visible after
//   the call, to every member. Unbounded: it ends otherwise by abort, or CHIME_TIMEOUT after a
//   loss. A group meets once, where the wait has ended. The leader gets the value that was seen,
//   the others a value that is read later.
// int      chimex_signal_wait_until_timeout(uint64_t* sig, int cmp, uint64_t value,
//                                           uint64_t timeout_ns, uint64_t* seen)
//   timeout_ns  the bound in nanoseconds; 0: none
//   seen        receives the last value
//   The same with a bound. Returns 0, CHIMEX_ERR_TIMEOUT, or the reason of an abort. Never ends the
//   thread, and records nothing.
//
// Source: device/signal.cuh; the waits: device/sync.cuh.

// ---- Atomics (9.7) ------------------------------------------------------------------------------
//
// On one aligned symmetric word of 4 or 8 bytes at `pe`. Atomic with each other, whether the host
// or a kernel of any PE calls them. Not guaranteed: atomicity with plain stores; any order before
// chime_fence or chime_quiet. Integers wrap around.
//
// T    chime_TYPE_atomic_fetch(const T* src, int pe)                         Table 6 (extended)
// void chime_TYPE_atomic_set(T* dst, T value, int pe)                        Table 6
// T    chime_TYPE_atomic_swap(T* dst, T value, int pe)                       Table 6
// void chime_TYPE_atomic_inc(T* dst, int pe)                                 Table 5 (standard)
// void chime_TYPE_atomic_add(T* dst, T value, int pe)                        Table 5
// T    chime_TYPE_atomic_fetch_inc(T* dst, int pe)                           Table 5
// T    chime_TYPE_atomic_fetch_add(T* dst, T value, int pe)                  Table 5
// T    chime_TYPE_atomic_compare_swap(T* dst, T cond, T value, int pe)       Table 5
// void chime_TYPE_atomic_{and,or,xor}(T* dst, T value, int pe)               Table 7 (bitwise)
// T    chime_TYPE_atomic_fetch_{and,or,xor}(T* dst, T value, int pe)         Table 7
//   Those with a result return the word's value before, and are complete on return.
// void chimex_{half,float,double}_atomic_add(T* dst, T value, int pe)
// T    chimex_{half,float,double}_atomic_fetch_add(T* dst, T value, int pe)
// T    chime_half_atomic_fetch(const T* src, int pe), void chime_half_atomic_set(T* dst, T value,
//      int pe), T chime_half_atomic_swap(T* dst, T value, int pe)
//   Sums are rounded to nearest. A GPU that adds float to mapped memory treats subnormal numbers as
//   zero. Where the NIC or the proxy makes atomics, an addition is a loop of compare-and-swap: the
//   caller waits for it, and it tries again after an update from elsewhere. Operations on half are
//   such a loop on every path, on the aligned 4 bytes that hold the element. Atomics on the other
//   half of these bytes may run at the same time. Plain stores to it may do so where PEs are
//   mapped; puts to it may not where a NIC makes atomics.
//
// Source: device/amo.cuh.

// ---- Waits and tests (9.10) ---------------------------------------------------------------------
//
// On this PE's own symmetric words, of the types of Table 8 (14), which puts, atomics or signals of
// other PEs change. After a wait or test that succeeds, everything is visible that the writer made
// visible before the value.
//
//   ivar, ivars  the word, or `n` words
//   cmp          CHIME_CMP_*: the word, the operator, the value
//   status       null, or `n` numbers: element i is left out if status[i] != 0
//   values       in the _vector forms: `n` values; element i is compared with values[i]
//   indices      room for `n` numbers of elements
//
// void   chime_TYPE_wait_until(T* ivar, int cmp, T value)
// int    chimex_TYPE_wait_until_timeout(T* ivar, int cmp, T value, uint64_t timeout_ns)
//          Returns 0, CHIMEX_ERR_TIMEOUT or the reason of an abort, as signal_wait_until_timeout.
// void   chime_TYPE_wait_until_all(T* ivars, size_t n, const int* status, int cmp, T value)
// size_t chime_TYPE_wait_until_any(T* ivars, size_t n, const int* status, int cmp, T value)
//          Returns the index of an element that holds; SIZE_MAX at once if all are left out.
// size_t chime_TYPE_wait_until_some(T* ivars, size_t n, size_t* indices, const int* status,
//                                   int cmp, T value)
//          Returns how many hold, at least one, and lists them; 0 at once if all are left out.
// ...    chime_TYPE_wait_until_{all,any,some}_vector(..., T* values)
// void   chimex_TYPE_wait_until{,_all,_all_vector}_on_stream(..., chimex_stream_t)
//          By the host: the stream goes on when it holds. status and values are read then, and must
//          stay unchanged until then.
// int    chime_TYPE_test(T* ivar, int cmp, T value)   1 if it holds now, else 0
// int    chime_TYPE_test_all(...)                     1 if all hold now, or all are left out
// size_t chime_TYPE_test_any(...)                     as the wait; SIZE_MAX if none holds
// size_t chime_TYPE_test_some(...)                    as the wait; 0 if none holds
// ...    chime_TYPE_test_{all,any,some}_vector(..., T* values)
//          A test does not see an abort of the job: a loop over it needs another end.
//
// Source: device/sync.cuh.

// ---- Ordering (9.9) -----------------------------------------------------------------------------
//
// void chime_fence()   at each PE, earlier puts, signals and atomics take effect before later ones
// void chime_quiet()   all earlier operations are complete, locally and at their targets
//
//   Both apply to what happens before them: operations of the calling thread, and of threads that
//   it has met since at a barrier of the warp, block or grid. Not guaranteed: fence does not order
//   gets.
//
// Source: device/sync.cuh.

// ---- Barriers (9.11) ----------------------------------------------------------------------------
//
// void chime_barrier_all()   and chimex_barrier_all_warp(), chimex_barrier_all_block()
//   Returns when all PEs have called it, and all operations that were issued before it are
//   complete: by the members of the group, and those that happen before. One caller for each PE at
//   a time: one thread, one group or the host. It is chime_barrier of CHIME_TEAM_WORLD.
//   CHIME_TIMEOUT bounds it: a PE that does not come is an error that names it. All PEs' kernels
//   must be able to run at once; start them with chimex_collective_launch.
// void chime_sync_all()      and chimex_sync_all_warp(), chimex_sync_all_block()
//   The same without completing remote operations: after it, each PE's stores to its own memory are
//   visible to the others, and nothing more is guaranteed.
//
// int chime_barrier(chime_team_t team)     and chimex_barrier_warp(), chimex_barrier_block()
// int chime_team_sync(chime_team_t team)   and chimex_team_sync_warp(), chimex_team_sync_block()
//   The same among the members of a team, in the lane that the handle names. One caller for each PE
//   and lane at a time; calls in different lanes, or of different teams, run at once. A barrier
//   completes operations to all PEs, not to members alone. A member that is dead fails the call at
//   once; after a call that failed, all later calls of the team fail. Returns 0 or a chimex_status,
//   which is also reported:
//
//     CHIMEX_ERR_UNSUPPORTED  in a kernel, SAME_MYPE_NODE, as above
//     CHIMEX_ERR_INVALID      this PE is in no such team
//     CHIMEX_ERR_ABORTED      in a kernel: the meeting failed, whatever the cause; the host returns
//                             the status of the cause
//
// Source: device/coll/.

// ---- Collectives (9.12) -------------------------------------------------------------------------
//
// For RMA types and for bytes (mem); reductions for 24 types, bitwise ones for 14 of integers
// (types.h). All of a thread, of the host, chimex_..._warp, chimex_..._block in kernels, and
// chimex_..._on_stream. The host and streams, but no kernels, also have long double (longdouble),
// and with chime/complex.h complex numbers (complexf, complexd). Complex reductions are sums and
// products:
//
// int chime_TYPE_broadcast(chime_team_t team, T* dst, const T* src, size_t n, int root)
//   Copies `n` elements of `src` of member `root` to `dst` of all members, the root too.
// int chime_TYPE_fcollect(chime_team_t team, T* dst, const T* src, size_t n)
//   dst[r * n + i] = src[i] of member r. `dst` has n elements for each member.
// int chime_TYPE_alltoall(chime_team_t team, T* dst, const T* src, size_t n)
//   dst[r * n + i] = src[me * n + i] of member r, where the caller is member `me`. Both arrays have
//   n elements for each member, and do not overlap.
// int chime_broadcastmem(chime_team_t team, void* dst, const void* src, size_t bytes, int root)
//   and chime_fcollectmem, chime_alltoallmem: likewise.
// int chime_TYPE_OP_reduce(chime_team_t team, T* dst, const T* src, size_t n)
//   dst[i] = src[i] of all members combined by OP: sum, prod, min, max, and, or, xor. `dst` may be
//   `src`.
// int chime_TYPE_OP_reducescatter(chime_team_t team, T* dst, const T* src, size_t n)
//   dst[i] = src[me * n + i] of all members combined. `src` has n elements for each member.
// int chime_TYPE_sum_inscan(chime_team_t team, T* dst, const T* src, size_t n)
//   dst[i] = the sum of src[i] of members 0 to me. `dst` may be `src`.
// int chime_TYPE_sum_exscan(chime_team_t team, T* dst, const T* src, size_t n)
//   The same of members 0 to me - 1; 0 on member 0.
// int chimex_double2_maxloc_reduce(chime_team_t team, chimex_double2_t* dst,
//                                  const chimex_double2_t* src, size_t n)
//   dst[i] = that src[i] whose x is the largest, of the member of the least rank if several are. A
//   NaN is larger than all numbers.
// int chime_TYPE_collect(chime_team_t team, T* dst, const T* src, size_t n)
//   The n elements of each member one behind another, in the order of ranks; n may differ. `dst`
//   has as many as all bring, on every member.
// int chime_TYPE_alltoalls(chime_team_t team, T* dst, const T* src, ptrdiff_t dst_stride,
//                          ptrdiff_t src_stride, size_t n)
//   dst[(r * n + i) * dst_stride] = src[(me * n + i) * src_stride] of member r. Strides are at
//   least 1, and may differ between members.
// int chimex_TYPE_alltoallv(chime_team_t team, T* dst, size_t* dst_counts,
//                           const size_t* dst_offsets, const T* src, const size_t* src_counts,
//                           const size_t* src_offsets)
//   src_counts[r] elements from src + src_offsets[r] on go to member r, which puts them at its
//   dst + dst_offsets[me]. dst_counts[r]: the most that may come from member r; after the call, how
//   many came. Arrays have a number for each member, and lie where kernels reach them. If more
//   would come than may, or an array does not hold its part, nothing moves, and all members fail:
//   that one for its reason, the others because it refuses. (A call of the host whose arrays a
//   kernel does not reach fails alone.)
// int chime_collectmem(...), chime_alltoallsmem(...), chimex_alltoallvmem(...): of bytes.
//
// int chimex_{broadcast,fcollect,alltoall,collect,alltoalls,alltoallv}mem_timeout(...,
//                                                                        uint64_t timeout_ns)
// int chimex_{barrier,team_sync}_timeout(chime_team_t team, uint64_t timeout_ns)
//   The same with a bound of the call's own in place of CHIME_TIMEOUT. Not on streams.
//   timeout_ns  in nanoseconds, for the waits for other members; 0: none, and on GPUs other calls
//               of the host that take a kernel wait behind it
//   returns     CHIMEX_ERR_TIMEOUT if a member had not come by then. That is reported nowhere, and
//               a kernel goes on, whatever CHIME_ON_ERROR says. All later calls of the team fail,
//               and name the member. Others may still read this PE's `src` and write its `dst`.
//   Members may have different bounds, or call the plain form; but on GPUs, a barrier or sync of
//   CHIME_TEAM_WORLD by the host meets calls of the same form alone. In kernels, chime::within(ctx,
//   group, team, timeout_ns, call) bounds any collective that `call()` makes.
//
//   All members call, with the same n, root, type and operation, each by one caller at a time in a
//   lane. `dst` is symmetric; before the first member calls, it is ready on all of them. When a
//   call returns, this PE's `dst` is complete and its `src` may be written again; other members may
//   still be in the call. A member that is done may begin the next call, and write to a `dst` that
//   another one still reads. So calls in a loop take two `dst` in turns, or a barrier or sync
//   stands between reading one and the next call; always the latter if a call does not tell its
//   caller that all have called: broadcasts, scans, n = 0 (but collect and alltoallv tell always).
//   Integers wrap. Sums and products of half and bfloat16 are made in float and rounded once. min
//   and max of a NaN are NaN. Complex products are those of C, infinite where a factor is infinite
//   and the other one neither 0 nor a NaN. Results do not depend on the path, to the bit:
//   neighbours by rank are combined in pairs, then pairs of pairs. Returns as chime_barrier does,
//   but a dead member need not fail a call that does not tell its caller that all have called: the
//   root of a broadcast may wait for nobody. CHIMEX_ERR_INVALID also where there is no such root,
//   or no memory of so many bytes; CHIMEX_ERR_UNSUPPORTED for reductions of long double on GPUs of
//   hosts that are not x86. A call that fails may have written a part of `dst`; if it has waited in
//   vain, others may still read `src` and write `dst`, so a program that writes `src` then may
//   change their results.
//
// Source: device/coll/.

// The upward includes: everything above is contract, everything below is code.
#include "chime/device/api.cuh"
#ifndef __CUDACC_RTC__
#include "chime/device/coll/collective_launch.cuh"
#endif

#endif  // CHIME_CHIME_DEVICE_CUH_
