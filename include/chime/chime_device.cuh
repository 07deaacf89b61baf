// The API that kernels call, by chapter of OpenSHMEM 1.5: the contract of every family. chime.h has
// what only host code calls.
//
// How to read. TYPE stands for a NAME of a table of types.h, T for its C type. A name without a
// suffix may be called by any thread of a kernel, and by host code. The forms
//     chimex_..._warp(...)    called by all lanes of a warp, none of which has ended,
//     chimex_..._block(...)   called by all threads of a block, none of which has ended
// exist in kernels alone; all members call with the same arguments, and together do the operation
// once. As NVSHMEM's, they synchronise the group at entry and at exit, also the nbi forms: what a
// member wrote before the call is in the source for all of them, and what a member does after it
// comes after all of the call (a quiet by any of them completes it). C++ code may call the
// templates behind the names instead: chime::put(ctx, group, ...), with an explicit Context
// (chime::context() on the host, passed to the kernel) and a group by value, Thread{}, Warp{} or
// Block{}. They do not synchronise at entry, and at exit only where they block: for callers whose
// members have just met. They are in device/{rma,amo,signal,sync}.cuh and device/coll/.
//
// Words. dst and src of a put: symmetric address that names the target at PE `pe`; local address.
// Of a get: the other way round. A local address may be any memory that the caller can load and
// store. n counts elements, of any number: sizes are 64-bit. n == 0 is allowed with any pointers
// and does nothing (put_signal still signals). dst and src must not overlap in one PE's memory.
// Typed addresses are aligned to their type; only the ...mem forms take any alignment.
//
// Where `pe` is the calling PE, the address at `pe` (of data, of a signal, of an atomic's word) may
// also be any memory outside the heap that the caller can load and store; null is an error. One
// operation refuses it: put_signal with CHIME_SIGNAL_ADD, if the signal lies in the heap and the
// data do not, in a job whose atomics are made by the NIC or the proxy of the PE that owns the word
// (CHIME_AMO).
//
// Complete, at the target: the data is in the memory of `pe` and visible to who learns of it (by a
// signal, a flag after a fence, a barrier). Complete, locally: the source may be written again
// (put), the destination holds the data (get).
//
// Errors, in a kernel: a PE that does not exist, an address outside the heap (at the calling PE: as
// said above) and a PE that no path leads to are recorded (the first one is kept) and reported by
// the PE's next host call and by chime_finalize. CHIME_ON_ERROR says what the calling thread does
// then: exit (default) ends the thread, so that nothing is computed from data that never came;
// return goes on, the operation having had no effect and results being zero; trap ends the kernel,
// and on the CPU device the process, which first tells the cause. After exit the kernel's other
// threads end too: on the CPU where they next pause, poll or meet others; on a GPU only in
// exec::sync_grid, when a block waits there for one that may never come. Until then they run on,
// also over data that never came. Either way the kernel completes, and its results mean nothing:
// ask chimex_get_async_error when you have synchronised with it. A comparison that does not exist
// is an error of every wait. CHIME_CHECK=1 also checks the far end of every transfer (and sizes
// that size_t does not hold), the PE of empty ones, the alignment of words, signal operations, and
// that waits, tests and signal_fetch look into this PE's heap. Waits end in the same way when the
// job is aborted or a PE dies.
#ifndef CHIME_CHIME_DEVICE_CUH_
#define CHIME_CHIME_DEVICE_CUH_

#include "chime/chime.h"

// ---- Query (9.1, 9.3) ---------------------------------------------------------------------------
//
// int   chime_my_pe()      this PE; -1 before init (host only)
// int   chime_n_pes()
// int   chimex_node_my_pe()   this PE among those of its node, in the order of their numbers: what
//                             nvshmem_team_my_pe(NVSHMEMX_TEAM_NODE) gives. From 0; -1 before init
// int   chimex_node_n_pes()   how many PEs run on this node; nodes may differ in it
//   A node is a machine: PEs with one kernel and one process-id space, or, under a PMIx launcher,
//   those that it started under one host name. It says nothing about who is mapped (chime_ptr).
// void* chime_ptr(const void* dst, int pe)
//   Where `pe`'s copy of symmetric address dst can be loaded and stored from here; null if it
//   cannot.
// int   chime_team_my_pe(chime_team_t team)    this PE's number in the team, from 0
// int   chime_team_n_pes(chime_team_t team)    how many members it has
// int   chime_team_translate_pe(chime_team_t team, int pe, chime_team_t other)
//   The number in `other` of member `pe` of `team`. The teams are in types.h (CHIME_TEAM_WORLD and
//   its neighbours). -1: this PE or that one is no member, there is no such member, or a team is
//   CHIME_TEAM_INVALID. An error, and -1: a number that is no team (CHIMEX_ERR_INVALID), and what
//   is not known (CHIMEX_ERR_UNSUPPORTED): SAME_MYPE_NODE where the job has several nodes, and in a
//   kernel there also which PEs the other members of NODE are; the host knows them. In a kernel
//   questions about SHARED look at every PE: ask once, not in a loop.
// int   chimex_pe_status(int pe)
//   What this PE knows of `pe`: CHIMEX_OK; CHIMEX_ERR_PEER_DEAD: it is gone; CHIMEX_ERR_NETWORK:
//   the way to it from here has failed, for kernels or the host, and it may live;
//   CHIMEX_ERR_UNREACHABLE: there never was one. CHIMEX_ERR_INVALID: there is no such PE;
//   CHIMEX_ERR_NOT_INITIALIZED. Records nothing and ends no thread. Sends nothing and waits for
//   nobody: what nobody has noticed yet it does not know, and a way that would be opened at the
//   first touch is well. What it has once said of a dead PE stays. In a kernel each call loads
//   words from the host's memory: a look now and then, not in a loop that has work to do. When a
//   job goes on without a dead PE: chime.h, "Peers that are lost".

// ---- Remote memory access (9.5) -----------------------------------------------------------------
//
// RMA types (Table 3 as NVSHMEM has it: 25 types, half and bfloat16 among them), sizes 8 16 32 64
// 128 bits, and bytes (mem):
//
// void chime_TYPE_put(T* dst, const T* src, size_t n, int pe)        put, put_nbi, get, get_nbi
// void chime_putSIZE(void* dst, const void* src, size_t n, int pe)   n elements of SIZE bits
// void chime_putmem(void* dst, const void* src, size_t bytes, int pe)
// void chimex_TYPE_put_warp(...), chimex_putSIZE_block(...), ...     all of the above
//
//   put       returns when it is locally complete; for a group, when every member's part is.
//             Not guaranteed: completion at the target before chime_quiet or a barrier; any order
//             towards other puts before chime_fence.
//   put_nbi   as put, locally complete only after chime_quiet. (On a peer that is mapped it is
//             locally complete when it returns; do not rely on it.)
//   get       returns when the data is here, for every member of a group.
//   get_nbi   the data is here after chime_quiet.
//
//   An aligned element of up to 8 bytes is never seen half written, if source and destination are
//   both aligned to it.
//
// void chime_TYPE_iput(T* dst, const T* src, ptrdiff_t dst_stride, ptrdiff_t src_stride, size_t n,
//                      int pe)                                       iput, iget; TYPE or SIZE
//   Element i goes from src[i * src_stride] to dst[i * dst_stride]; strides are at least 1, in
//   elements. Complete locally on return. There is no nbi form.
//
// void chime_TYPE_p(T* dst, T value, int pe)     one element; as put
// T    chime_TYPE_g(const T* src, int pe)        one element; as get
//
// On a stream, by the host:
// chimex_TYPE_{put,put_nbi,get,get_nbi,put_signal,put_signal_nbi}_on_stream(..., chimex_stream_t)
// and chimex_{put,get}SIZE..., as the ...mem forms in chime.h;
// chimex_{TYPE_iput,TYPE_iget,iputSIZE,igetSIZE,TYPE_p,TYPE_g}_on_stream. The value of p is read by
// the call. g waits for what the stream was given before, and returns the value. All memory here is
// what kernels reach, or the call waits for the stream, too (chime.h).

// ---- Signals (9.8) ------------------------------------------------------------------------------
//
// A signal is a symmetric uint64_t. CHIME_SIGNAL_SET stores `value`, CHIME_SIGNAL_ADD adds it
// atomically with other signal operations; do not mix either with plain stores.
//
// void chime_TYPE_put_signal(T* dst, const T* src, size_t n, uint64_t* sig, uint64_t value, int op,
//                            int pe)                  put_signal, put_signal_nbi; TYPE, SIZE, mem
//   A put after which the signal at `pe` is updated, once: who sees the update (by the waits and
//   signal_fetch below) sees this call's data. Not guaranteed: that it also sees earlier puts; put
//   chime_fence between them. `dst` and `sig` may be the only arguments that are symmetric.
// void     chimex_signal_op(uint64_t* sig, uint64_t value, int op, int pe)
//   The update alone, with no order: put, chime_fence, chimex_signal_op announces the put.
// uint64_t chime_signal_fetch(const uint64_t* sig)
//   This PE's signal, once; what it announces is visible after.
// uint64_t chime_signal_wait_until(uint64_t* sig, int cmp, uint64_t value)
//          and chimex_signal_wait_until_warp, chimex_signal_wait_until_block
//   Waits until this PE's signal compares true (CHIME_CMP_*, unsigned) and returns it; what it
//   announces is visible after, to every member. Waits for ever, unless the job is aborted. A group
//   meets once, where the wait has ended. The leader's result is the value that was seen; the
//   others' is read later.
// int      chimex_signal_wait_until_timeout(uint64_t* sig, int cmp, uint64_t value,
//                                           uint64_t timeout_ns, uint64_t* seen)
//   The same with a bound (0: none). Returns 0, CHIMEX_ERR_TIMEOUT or the reason of an abort; never
//   ends the thread and records nothing. `*seen`: the last value.

// ---- Atomics (9.7) ------------------------------------------------------------------------------
//
// On one symmetric word of 4 or 8 bytes at `pe`, aligned; atomic with each other whoever calls
// them, host or kernel, near or far; not with plain stores. No order: chime_fence and chime_quiet
// give it. Integers wrap around.
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
//   Sums are rounded to the nearest; a GPU that adds float to mapped memory takes subnormal numbers
//   for zero. Where the NIC or the proxy makes atomics, addition is a loop of compare-and-swap: the
//   caller waits for it, and tries again when another update came between. So is all on half, on
//   every way, on the aligned 4 bytes that hold it. Atomics of the other half of these may run at
//   the same time, and plain stores to it where PEs are mapped; where a NIC makes atomics, puts to
//   it may not.

// ---- Waits and tests (9.10) ---------------------------------------------------------------------
//
// On this PE's own symmetric words, of the types of Table 8 (14), changed by others' puts, atomics
// or signals. A wait or test that succeeds sees all that its writer made visible before the value.
// `status[i] != 0` leaves element i out; status may be null. The _vector forms compare element i
// with values[i].
//
// void   chime_TYPE_wait_until(T* ivar, int cmp, T value)
// int    chimex_TYPE_wait_until_timeout(T* ivar, int cmp, T value, uint64_t timeout_ns)
//          Returns 0, CHIMEX_ERR_TIMEOUT or the reason of an abort, as signal_wait_until_timeout.
// void   chime_TYPE_wait_until_all(T* ivars, size_t n, const int* status, int cmp, T value)
// size_t chime_TYPE_wait_until_any(T* ivars, size_t n, const int* status, int cmp, T value)
//          Returns the index of an element that holds; SIZE_MAX at once if none is waited for.
// size_t chime_TYPE_wait_until_some(T* ivars, size_t n, size_t* indices, const int* status,
//                                   int cmp, T value)
//          Returns how many hold, at least one, and lists them; 0 at once if none is waited for.
// ...    chime_TYPE_wait_until_{all,any,some}_vector(..., T* values)
// void   chimex_TYPE_wait_until{,_all,_all_vector}_on_stream(..., chimex_stream_t)
//   By the host: the stream goes on when it holds. status and values are read then: until then they
//   stay as they are.
// int    chime_TYPE_test(T* ivar, int cmp, T value)   1 if it holds now, else 0
// int    chime_TYPE_test_all(...)                     1 if all hold now, or none is asked for
// size_t chime_TYPE_test_any(...)                     as the wait; SIZE_MAX if none holds
// size_t chime_TYPE_test_some(...)                    as the wait; 0 if none holds
// ...    chime_TYPE_test_{all,any,some}_vector(..., T* values)
//   A loop over a test must be able to end by itself: a test does not see the abort of the job.

// ---- Ordering (9.9) -----------------------------------------------------------------------------
//
// void chime_fence()   at each PE, earlier puts, signals and atomics take effect before later ones
// void chime_quiet()   all earlier ones are complete, locally and at their targets
//
//   They order what happens before them: the calling thread's operations, and those of threads that
//   it met at a barrier of the warp, block or grid since. Gets are not ordered by fence.

// ---- Barriers (9.11) ----------------------------------------------------------------------------
//
// void chime_barrier_all()   and chimex_barrier_all_warp(), chimex_barrier_all_block()
//   Returns when all PEs have called it and all operations issued before it (by the members of the
//   group, and what happens before) are complete. One caller per PE at a time: one thread, one
//   group or the host. Bounded by CHIME_TIMEOUT: a PE that does not come is an error that names it.
//   All PEs' kernels must be able to run at once, which chimex_collective_launch sees to.
// void chime_sync_all()      and chimex_sync_all_warp(), chimex_sync_all_block()
//   The same without completing remote operations: only each PE's stores to its own memory are
//   visible to the others after it.
//
// int chime_barrier(chime_team_t team)     and chimex_barrier_warp(), chimex_barrier_block()
// int chime_team_sync(chime_team_t team)   and chimex_team_sync_warp(), chimex_team_sync_block()
//   The same among the members of a team. Only a team of all PEs, or of one, can meet today: WORLD
//   always; NODE where all PEs run on one node, or this one has a node for itself; SAME_MYPE_NODE
//   where all run on one node; SHARED where all or no peers are mapped. Return 0, or a
//   chimex_status: CHIMEX_ERR_UNSUPPORTED for another predefined team, CHIMEX_ERR_INVALID for a
//   number that is no team, another one where the meeting failed (in a kernel CHIMEX_ERR_ABORTED,
//   whatever the cause). Each is also reported. All members must get the same answer, so use WORLD
//   where some PEs have mapped all peers and others have not.

// The upward includes: everything above is contract, everything below is code.
#include "chime/device/api.cuh"
#ifndef __CUDACC_RTC__
#include "chime/device/coll/collective_launch.cuh"
#endif

#endif  // CHIME_CHIME_DEVICE_CUH_
