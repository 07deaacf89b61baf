// Chime's API by chapter of OpenSHMEM 1.5. Each contract is written here and nowhere else.
//
// A C file, and a C++ file that defines CHIME_HOST_ONLY, sees the host functions. Any other C++ or
// CUDA file also gets the device side: its last lines include chime_device.cuh, which defines the
// families that both host and kernels may call as header-only functions.
//
// Words used below. PE: a process (or a thread bound with chimex_pe_bind) of the job, numbered
// 0..n-1. Symmetric address: an address inside this PE's symmetric heap; it names the same offset
// on every PE. Collective: every PE must call it, in the same order, with the same arguments unless
// it says otherwise.
//
// Errors: functions that return int return a chimex_status. Functions that the specification
// declares void or as giving a value report a failure on stderr and through chimex_last_status()
// and chimex_last_error(), then do what CHIME_ON_ERROR says: exit (default; the job ends with a
// non-zero status), return (with null or no effect) or trap. An error inside a kernel does the same
// within two seconds, also while no host thread is in a call of Chime. With return other threads'
// waits continue, and it is reported on stderr and by the next host call.
//
// Threads: any number may call at the same time (CHIME_THREAD_MULTIPLE). What a call fails by is
// told to its own thread. What no call is to blame for - a kernel's failure, or a request of an nbi
// call or a kernel that a wait of some thread finds lost - is told once, by the next host call that
// ends, of whichever thread, or by chime_finalize. A queue pair that is lost fails every call that
// needs it from then on, quiet of every thread among them, so that who sent by it hears of it.
#ifndef CHIME_CHIME_H_
#define CHIME_CHIME_H_

#ifdef __CUDACC_RTC__
#include "chime/cxx20.h"  // says where NVRTC finds the standard headers
#endif
#include <stddef.h>
#include <stdint.h>

#include "chime/cxx20.h"
#include "chime/error.h"
#include "chime/families.h"
#include "chime/types.h"

#define CHIME_VERSION_MAJOR 0
#define CHIME_VERSION_MINOR 1
#define CHIME_VERSION_PATCH 0

// The level of OpenSHMEM whose names and semantics Chime follows.
#define CHIME_SPEC_MAJOR 1
#define CHIME_SPEC_MINOR 5
#define CHIME_MAX_NAME_LEN 64

#ifdef __cplusplus
extern "C" {
#endif

// ---- Constants shared by host and device -------------------------------------------------------

enum {
  CHIME_CMP_EQ = 0,
  CHIME_CMP_NE = 1,
  CHIME_CMP_GT = 2,
  CHIME_CMP_LE = 3,
  CHIME_CMP_LT = 4,
  CHIME_CMP_GE = 5
};
enum { CHIME_SIGNAL_SET = 0, CHIME_SIGNAL_ADD = 1 };
// CHIME_TEAM_WORLD and its neighbours: types.h.
enum {
  CHIME_THREAD_SINGLE = 0,
  CHIME_THREAD_FUNNELED = 1,
  CHIME_THREAD_SERIALIZED = 2,
  CHIME_THREAD_MULTIPLE = 3
};

// ---- Library setup, exit and query (OpenSHMEM 1.5, 9.1) ----------------------------------------

// Joins the job: finds the launcher (PMIx, chime-run, else a job of one PE), reserves and maps the
// symmetric heap, connects to the PEs. Collective. A second call without finalize in between does
// nothing. Where a GPU is to be used and the calling thread has none yet, only the first half is
// done: see chimex_init_device. Where it fails on one PE it fails, with the words and the status of
// that one, within seconds on those that wait for it: all may try again. PEs that connect on demand
// and map nobody wait for none but PE 0, and come up.
//
// From here to chime_finalize SIGUSR1 to the process makes its PEs say on stderr what they are
// doing, if the program leaves that signal to the system, which would end the process: its own
// handlers stay. A sleep(), poll() and their kind that it finds return early, as by any signal.
CHIME_EXPORT void chime_init(void);

// chime_init with a level of thread support. `requested`: CHIME_THREAD_*; `*provided` is set to
// CHIME_THREAD_MULTIPLE. Returns 0, or a chimex_status.
CHIME_EXPORT int chime_init_thread(int requested, int* provided);
CHIME_EXPORT void chime_query_thread(int* provided);

// Leaves the job: waits for this PE's kernels and for all PEs (implies quiet and a barrier), frees
// the heap, reports a pending asynchronous error. The GPU's CUDA context stays until the process
// ends, with what the program has made in it. A kernel that runs on after CHIME_TIMEOUT is an
// error that ends the job; so is one that has failed, which no call may have told before.
// Collective. After it only chime_init and the info functions may be called. All other threads have
// returned from their calls on this PE: if one has not, finalize is an error that names its call
// and leaves everything as it is, and a call that begins beside finalize is an error that says so.
CHIME_EXPORT void chime_finalize(void);

// Ends the whole job with `status` from any PE at any time. Does not return. Processes end with its
// low eight bits, or with 1 where these are 0 and `status` is not.
CHIME_EXPORT void chime_global_exit(int status);

// chime_my_pe, chime_n_pes: host and device, see chime_device.cuh. -1 before init.
CHIME_EXPORT int chimex_host_my_pe(void);
CHIME_EXPORT int chimex_host_n_pes(void);

// chimex_node_my_pe, chimex_node_n_pes: host and device, see chime_device.cuh. On the host they
// know the answer from the first stage of init on (chimex_init_device), so that a program may
// choose its GPU by it; the first call may wait until all PEs have joined, at most
// CHIME_INIT_TIMEOUT. -1 before init, and after an error that the job survives.
CHIME_EXPORT int chimex_host_node_my_pe(void);
CHIME_EXPORT int chimex_host_node_n_pes(void);

// 1 or 0: whether puts, gets and atomics reach `pe` from here; whether addr is an address that they
// reach at `pe`: in the symmetric heap. 0 for a PE that does not exist.
CHIME_EXPORT int chime_pe_accessible(int pe);
CHIME_EXPORT int chime_addr_accessible(const void* addr, int pe);

CHIME_EXPORT void chime_info_get_version(int* major, int* minor);  // CHIME_SPEC_*
CHIME_EXPORT void chime_info_get_name(char* name);                 // CHIME_MAX_NAME_LEN bytes
CHIME_EXPORT void chimex_vendor_get_version_info(int* major, int* minor, int* patch);

// ---- Extended setup ----------------------------------------------------------------------------

// Names a job to PEs that no launcher introduces: address, port and token of a rendezvous in the
// process that made it, which must stay alive until all PEs have initialised. Plain bytes: send it
// by any means.
typedef struct chimex_uniqueid {
  int version;
  char internal[124];
} chimex_uniqueid_t;

typedef struct chimex_init_attr {
  int version;
  int my_pe;
  int n_pes;
  chimex_uniqueid_t uniqueid;
} chimex_init_attr_t;

// What either is before it is filled: `chimex_init_attr_t attr = CHIMEX_INIT_ATTR_INITIALIZER;`, in
// C and C++. Of this header's version, no id, no PE: chimex_get_uniqueid and
// chimex_set_attr_uniqueid_args fill all of it, initialised or not.
#define CHIMEX_UNIQUEID_INITIALIZER \
  {                                 \
    1, { 0 }                        \
  }
#define CHIMEX_INIT_ATTR_INITIALIZER \
  { 1, -1, 0, CHIMEX_UNIQUEID_INITIALIZER }

enum {
  CHIMEX_INIT_WITH_LAUNCHER = 0,
  CHIMEX_INIT_WITH_UNIQUEID = 8,
  CHIMEX_INIT_DEFER_DEVICE = 16  // with either: stage 1 alone, see chimex_init_device
};

CHIME_EXPORT int chimex_get_uniqueid(chimex_uniqueid_t* uid);
CHIME_EXPORT int chimex_set_attr_uniqueid_args(int my_pe, int n_pes, const chimex_uniqueid_t* uid,
                                               chimex_init_attr_t* attr);

// Collective over the communicator `*mpi_comm`, a variable of type MPI_Comm: fills all of `attr`
// for chimex_init_attr with CHIMEX_INIT_WITH_UNIQUEID, so that ranks become PEs of the same
// numbers. It may be any of the program's intracommunicators. libchime.so links no MPI: a plug-in
// that is built for the program's does this (CHIME_MPI_PLUGIN), and MPI must be initialised. Waits
// for the other ranks at most CHIME_INIT_TIMEOUT. Returns a chimex_status; CHIMEX_ERR_UNSUPPORTED:
// there is no plug-in, or it is another MPI's.
CHIME_EXPORT int chimex_set_attr_mpi_comm_args(const void* mpi_comm, chimex_init_attr_t* attr);

// chime_init with explicit means. With CHIMEX_INIT_WITH_UNIQUEID several threads of one process may
// each become a PE; each is then bound to its own PE. Give them a GPU each: kernels of PEs that
// share one may use the calls that take a Context (chime::context()) alone, and trap in the others.
// Collective over the PEs of the job.
CHIME_EXPORT int chimex_init_attr(unsigned flags, const chimex_init_attr_t* attr);

// A setting that the program makes itself: the name and value of a variable of the environment, as
// chime-info --variables lists them ({"CHIME_SYMMETRIC_SIZE", "4G"}).
typedef struct chimex_setting {
  const char* name;
  const char* value;
} chimex_setting_t;

// `count` settings. Begin with CHIMEX_CONFIG_INITIALIZER, which has none.
typedef struct chimex_config {
  int version;
  size_t count;
  const chimex_setting_t* settings;
} chimex_config_t;
#define CHIMEX_CONFIG_INITIALIZER \
  { 1, 0, 0 }

// chimex_init_attr with settings of the program's own: what `config` says counts before the
// environment, and that before the default. `config` may be null, as `attr` may with
// CHIMEX_INIT_WITH_LAUNCHER; both are read during the call alone. A PE that is there already checks
// config and keeps its settings. Those that must be alike in a job must be so here, too. All
// variables but chime-run's own and CHIME_SIMT_*, which belong to the process; what
// chimex_get_uniqueid reads it has read before. Returns a chimex_status; CHIMEX_ERR_INVALID: a name
// that is none of them (the message has the nearest), a value that it does not take, a null, a name
// twice.
CHIME_EXPORT int chimex_init_config(unsigned flags, const chimex_init_attr_t* attr,
                                    const chimex_config_t* config);

// Init has two stages. After the first the PE knows its number and nothing else is there
// (CHIME_STATUS_IS_BOOTSTRAPPED), so a program may choose its GPU by that number (cudaSetDevice).
// The second opens the thread's device, or without a choice the GPU whose turn it is among the
// node's PEs, and makes the heap. It is built by chime_init if nothing is left to choose, else by
// this call, and by the first that needs it: memory, data movement, barriers, chime::context(),
// exec::launch. Collective. A kernel that is launched by other means needs it before, and traps
// without; so does one of a library that is opened later, where clang has compiled it, until one of
// these calls.
CHIME_EXPORT int chimex_init_device(void);

// NVSHMEM's states and their order, so that `chimex_init_status() >= CHIME_STATUS_IS_INITIALIZED`
// asks whether everything is there.
enum {
  CHIMEX_STATUS_FINALIZED = -1,
  CHIME_STATUS_NOT_INITIALIZED = 0,
  CHIME_STATUS_IS_BOOTSTRAPPED = 1,  // the first stage
  CHIME_STATUS_IS_INITIALIZED = 2,   // both
  CHIME_STATUS_LIMITED_MPG = 3,      // never returned, nor the next: PEs that share a GPU are
  CHIME_STATUS_FULL_MPG = 4          // IS_INITIALIZED, too
};
// Of the calling thread's PE: FINALIZED once it has left; NOT_INITIALIZED in a thread that has none
// while others of the process are there (chimex_pe_bind).
CHIME_EXPORT int chimex_init_status(void);

// ---- Kernels that the program loads by itself ---------------------------------------------------

// CUDA's CUmodule and CUlibrary, by cuda.h's own tags.
typedef struct CUmod_st* chimex_cumodule_t;
typedef struct CUlib_st* chimex_culibrary_t;

// Makes kernels of a module that the program has loaded (cuModuleLoadData, cuLibraryLoadData) those
// of the calling thread's PE: before their first launch, after chime_init. The program's own
// kernels need none of it. A module of the primary context of the PE's GPU, which the CUDA runtime
// uses; of a library the part for that context. It holds the variable chime_kernel_state, which it
// has where it was compiled with Chime's headers: by clang with --cuda-device-only, by chime-cc
// --ptx, by NVRTC with -rdc=true (README.md, "Kernels that a program loads"), by nvcc with
// -rdc=true -DCHIME_MODULE. Where none of the program's files has kernels, set
// CHIME_DEVICE=cuda. Calls the driver and waits for no kernel. A second call does the same again.
// Local to the PE, but the first to need the device is collective (chimex_init_device).
//
// finalize: a kernel of it that is launched from here on traps. Before the module is unloaded, and
// before chime_finalize, which does it for those that are left and still loaded.
//
// Return CHIMEX_OK; CHIMEX_ERR_INVALID: null, a module of another context, one without the
// variable, or one that was not initialised; CHIMEX_ERR_MISMATCH: compiled with headers of another
// Chime; CHIMEX_ERR_UNSUPPORTED: the PE runs on the CPU device; CHIMEX_ERR_SYSTEM: the driver's
// words; CHIMEX_ERR_NOT_INITIALIZED.
CHIME_EXPORT int chimex_cumodule_init(chimex_cumodule_t module);
CHIME_EXPORT int chimex_cumodule_finalize(chimex_cumodule_t module);
CHIME_EXPORT int chimex_culibrary_init(chimex_culibrary_t library);
CHIME_EXPORT int chimex_culibrary_finalize(chimex_culibrary_t library);

// ---- Threads and PEs ----------------------------------------------------------------------------

// Host calls act on the calling thread's PE. A process with one PE needs no binding; with several,
// a thread that did not initialise one must say which it means. `pe` must live in this process.
CHIME_EXPORT int chimex_pe_bind(int pe);

// ---- Memory management (9.3) -------------------------------------------------------------------

// Collective, same size on every PE (checked: a mismatch names both sizes). Returns a symmetric
// address, null for size 0, aligned to 512 bytes; by chime_align to `alignment`, a power of two up
// to 2 MiB, and at least to 16. Implies a barrier. Memory is not cleared except by chime_calloc.
// CHIME_SYMMETRIC_SIZE sets the heap's size. With CHIME_CHECK=2 operations of kernels and the host
// are refused that leave the bytes that were asked for. A call that one PE gives up, because others
// have not come within CHIME_TIMEOUT, fails on all PEs, those that come later included; after it no
// call of these succeeds, and each names it.
CHIME_EXPORT void* chime_malloc(size_t size);
CHIME_EXPORT void* chime_calloc(size_t count, size_t size);
CHIME_EXPORT void* chime_align(size_t alignment, size_t size);

// Collective. Implies a barrier before the memory is reused. A null pointer is allowed; a pointer
// that is not an allocation, or is freed twice, is an error that names it.
CHIME_EXPORT void chime_free(void* ptr);

// chime_ptr: host and device, see chime_device.cuh.

// ---- Local buffers (NVSHMEM 3.x: nvshmemx_buffer_register) -------------------------------------
// Sources of puts and destinations of gets may lie anywhere. Where the NIC carries an operation, it
// uses the symmetric heap and registered buffers in place; other memory is copied through memory of
// Chime's own, and then nbi operations complete before they return. Registering makes no other
// difference, and none at all where peers are mapped.

// Registers `length` bytes from `addr` on with the NIC of the calling thread's PE: memory of the
// host or the device, not of the symmetric heap, any alignment, all of it there and writable until
// it is unregistered. What lies within one registered buffer is used in place; what crosses from
// one into its neighbour is not. Local to the PE, from any host thread, at any time between init
// and finalize. Operations that are called after it returns use the buffer, and kernels that run
// meanwhile find it soon; looked for while others are registered it may be copied once more. On a
// GPU register before kernels start that wait for this PE: its driver may wait for them.
// Returns CHIMEX_OK; CHIMEX_ERR_INVALID: null, 0 bytes, or it overlaps the heap or a registered
// buffer; CHIMEX_ERR_OUT_OF_MEMORY: 1024 are registered, or the system's limit of locked memory
// (ulimit -l) is reached; CHIMEX_ERR_SYSTEM: the NIC refuses, with the system's words;
// CHIMEX_ERR_NOT_INITIALIZED. Without a NIC it checks its arguments and succeeds.
CHIME_EXPORT int chimex_buffer_register(void* addr, size_t length);

// Gives back the registered buffer that begins at `addr`; all of this PE's. The program has
// completed what uses them (quiet, on the host and in the kernels that posted it): an operation
// that does not find its memory any more fails. Finalize unregisters what is left. Returns
// CHIMEX_OK, CHIMEX_ERR_INVALID if none begins there, or CHIMEX_ERR_NOT_INITIALIZED.
CHIME_EXPORT int chimex_buffer_unregister(void* addr);
CHIME_EXPORT int chimex_buffer_unregister_all(void);

// ---- Symmetric buffers (NVSHMEM 3.x: nvshmemx_buffer_register_symmetric) -----------------------

// On the CPU device memory of the program's own can become a part of the symmetric heap: both
// addresses are the same memory, the returned one for operations, the program's own for its code.
// (In a kernel in weak-memory mode a thread sees its own store by the other address late.)
//
// Collective, the same `size` and `flags` on every PE (checked). `buffer`: whole pages of this PE's
// private memory (of aligned_alloc, or of mmap without a file; of no stack), `size` bytes, a
// multiple of the page's size, of which nothing is registered (chimex_buffer_register). `flags`: 0.
// What is in the buffer stays; nobody uses it during the call. Takes `size` bytes of the heap
// (CHIME_SYMMETRIC_SIZE). The pages become shared memory, all of it resident: forked children share
// it, and mlock, madvise and huge pages of before are lost. Until it is unregistered the buffer is
// not freed, and chime_free of the returned address is an error. Implies a barrier.
// Returns the symmetric address. Null if a PE fails, on every PE, with the reason:
// CHIMEX_ERR_INVALID, CHIMEX_ERR_OUT_OF_MEMORY, CHIMEX_ERR_SYSTEM, CHIMEX_ERR_MISMATCH, and as of
// chime_malloc; on a GPU CHIMEX_ERR_UNSUPPORTED (no part of its heap can be mapped a second time:
// allocate by chime_malloc).
CHIME_EXPORT void* chimex_buffer_register_symmetric(void* buffer, size_t size, int flags);

// Collective. `address`: what it returned here; `size`: as there. Complete first what uses the
// buffer (quiet), here and on other PEs; then it is private memory again, with what was last in it.
// Implies a barrier before that. Finalize does it for buffers that are left. Returns CHIMEX_OK;
// CHIMEX_ERR_INVALID: no such buffer, or it is unmapped, or a part of it is registered
// (chimex_buffer_register); CHIMEX_ERR_SYSTEM, CHIMEX_ERR_MISMATCH, and as of chime_free.
CHIME_EXPORT int chimex_buffer_unregister_symmetric(void* address, size_t size);

// ---- Peers that are lost ------------------------------------------------------------------------

// With CHIME_ON_PEER_FAILURE=report a job goes on when a PE dies:
//
// - an operation on it fails with CHIMEX_ERR_PEER_DEAD, on the host and in kernels (there as
//   CHIME_ON_ERROR says; of kernels on a GPU that run at that time, or begin just then, stores to
//   memory of it that is mapped may go unseen);
// - what needs all PEs (barriers, collective allocation) fails with that status and names it, from
//   then on for ever; a wait for a word fails when it has lasted CHIME_TIMEOUT since;
// - quiet completes what goes to others, and fails where something went to it by a NIC or a fabric;
//   that this has failed may also be told by a call that has itself succeeded, once;
// - a call of the host that fails so sets chimex_last_status and returns, also with
//   CHIME_ON_ERROR=exit; chime_finalize succeeds, and meets nobody: survivors that may still use
//   each other's memory see to it themselves.
//
// The launcher must let the others live (chime-run --keep-going, mpirun --enable-recovery). With
// abort, which is the default, the job ends, and every call fails.
//
// chimex_pe_status, which says what has become of a PE: host and device, see chime_device.cuh. From
// any host thread; costs a lock. It prints what is wrong with the call itself, not what it returns
// of the PE.
CHIME_EXPORT int chimex_host_pe_status(int pe);

// ---- Asynchronous errors -----------------------------------------------------------------------

// What was first told for the whole PE and not yet by a call (a kernel's failure, a lost peer),
// else the reason of an abort, else what was told last.
typedef struct chimex_async_error {
  int status;  // chimex_status; CHIMEX_OK if there is none
  int pe;      // PE concerned, -1 if unknown
  char message[256];
} chimex_async_error_t;
CHIME_EXPORT int chimex_get_async_error(chimex_async_error_t* error);

// ---- On-stream operations (x = on_stream) ------------------------------------------------------
// Ordered like any work of `stream`. put: complete locally when the stream passes it; remotely
// complete and visible at the target after chimex_quiet_on_stream. put_signal: the signal is
// updated after the data is visible. get, get_nbi: complete when the stream passes them. Forms by
// type and by size: chime_device.cuh.
//
// Where the device is a GPU and no mapped memory leads to `pe`, memory of this PE that kernels do
// not reach (pageable memory) is moved before the call returns: it waits for what the stream was
// given before. So a stream that is captured into a graph takes none (CHIMEX_ERR_UNSUPPORTED).

CHIME_EXPORT void chimex_putmem_on_stream(void* dst, const void* src, size_t bytes, int pe,
                                          chimex_stream_t stream);
CHIME_EXPORT void chimex_putmem_nbi_on_stream(void* dst, const void* src, size_t bytes, int pe,
                                              chimex_stream_t stream);
CHIME_EXPORT void chimex_getmem_on_stream(void* dst, const void* src, size_t bytes, int pe,
                                          chimex_stream_t stream);
CHIME_EXPORT void chimex_getmem_nbi_on_stream(void* dst, const void* src, size_t bytes, int pe,
                                              chimex_stream_t stream);
CHIME_EXPORT void chimex_putmem_signal_on_stream(void* dst, const void* src, size_t bytes,
                                                 uint64_t* sig, uint64_t value, int op, int pe,
                                                 chimex_stream_t stream);
CHIME_EXPORT void chimex_putmem_signal_nbi_on_stream(void* dst, const void* src, size_t bytes,
                                                     uint64_t* sig, uint64_t value, int op, int pe,
                                                     chimex_stream_t stream);
CHIME_EXPORT void chimex_signal_op_on_stream(uint64_t* sig, uint64_t value, int op, int pe,
                                             chimex_stream_t stream);
CHIME_EXPORT void chimex_signal_wait_until_on_stream(uint64_t* sig, int cmp, uint64_t value,
                                                     chimex_stream_t stream);
CHIME_EXPORT void chimex_quiet_on_stream(chimex_stream_t stream);
CHIME_EXPORT void chimex_barrier_all_on_stream(chimex_stream_t stream);
CHIME_EXPORT void chimex_sync_all_on_stream(chimex_stream_t stream);
// chime_barrier and chime_team_sync of a team; return a chimex_status.
CHIME_EXPORT int chimex_barrier_on_stream(chime_team_t team, chimex_stream_t stream);
CHIME_EXPORT int chimex_team_sync_on_stream(chime_team_t team, chimex_stream_t stream);

// A kernel in which PEs wait for each other: launched cooperatively, so that all its blocks run at
// once. Collective. Returns a chimex_status. `kernel` is a kernel's address (CPU: registered with
// CHIME_REGISTER_KERNEL). Declared for C++ in chime_device.cuh (it takes dim3).

// ---- The families ------------------------------------------------------------------------------
// See chime_device.cuh. Here as symbols of libchime.so; C++ with the device side has them inline.

#if !defined(__cplusplus) || defined(CHIME_HOST_ONLY)
#define CHIME_DECLARATION(RESULT, PREFIX, STEM, PARAMETERS, TEMPLATE, ARGUMENTS, CALL) \
  CHIME_EXPORT RESULT PREFIX##STEM PARAMETERS;
CHIME_FOR_THREAD_OPERATIONS(CHIME_DECLARATION)
CHIME_FOR_GROUP_OPERATIONS(CHIME_DECLARATION)
CHIME_FOR_STREAM_OPERATIONS(CHIME_DECLARATION)
#undef CHIME_DECLARATION
#endif

#ifdef __cplusplus
}  // extern "C"

namespace chime {
struct Context;
// The calling thread's PE as device code sees it: pass it to kernels that use the C++ templates.
// Valid until finalize. Throws nothing; a Context with abi_version 0 if the PE is not initialised.
CHIME_EXPORT const Context& context();

// The same of its host operations, which go by channels of their own and complete what kernels have
// sent, too. Host code that calls the C++ templates, on the CPU device, passes this one.
CHIME_EXPORT const Context& host_context();
}  // namespace chime

#endif  // __cplusplus

#if defined(__cplusplus) && !defined(CHIME_HOST_ONLY)
#include "chime/chime_device.cuh"
#endif

#endif  // CHIME_CHIME_H_
