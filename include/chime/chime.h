// Chime's host API, by chapter of OpenSHMEM 1.5. Each contract is written in a header and nowhere
// else: here for functions that only the host calls, in chime_device.cuh for the families, which
// both host and kernels call.
//
// What a file sees. A C file, or a C++ file that defines CHIME_HOST_ONLY: the host functions and
// the families as symbols of libchime.so. Any other C++ or CUDA file: the device side, too.
//
// Terms
//
//   PE          a process of the job, or a thread bound with chimex_pe_bind; numbered 0..n-1
//   symmetric   an address in this PE's symmetric heap; it names the same offset on every PE
//   local       the call concerns the calling thread's PE alone and waits for no other PE
//   collective  every PE must call it, in the same order, with the same arguments unless the
//               contract says otherwise; it waits for the other PEs
//
// Sizes are in bytes unless a name says elements (n). Functions that need the heap or a path to a
// peer also build the device stage if it is missing; the first such call is then collective
// (chimex_init_device).
//
// Errors. A function that returns int returns a chimex_status unless its contract says otherwise. A
// function that the specification declares void or as giving a value prints its failure on stderr
// and sets chimex_last_status() and chimex_last_error(). Then it does what CHIME_ON_ERROR says:
//
//   exit    (default) the job ends with a non-zero status
//   return  the call returns, with null, 0 or no effect
//   trap    the process gets SIGTRAP
//
// An error inside a kernel has the same effect within two seconds, also while no host thread is in
// a call of Chime. With `return` other threads' waits continue, and the next host call reports the
// error.
//
// Any call may fail with one of these; a contract lists only the others:
//
//   CHIMEX_ERR_NOT_INITIALIZED  this thread has no PE, or the process is a forked child
//   CHIMEX_ERR_ABORTED          the job is ending
//   CHIMEX_ERR_PEER_DEAD        a PE that the call needs has died
//
// Threads. Any number of threads may call at the same time (CHIME_THREAD_MULTIPLE). A thread
// receives the errors of its own calls. Other errors have no call of their own: a kernel's failure,
// or a lost request of a kernel or of an nbi call. Such an error is reported once, by the next host
// call to end, on any thread, or by chime_finalize. A lost queue pair fails every later call that
// needs it, quiet of every thread among them.
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

// Comparisons of waits and tests: the word, then the operator, then the value.
enum {
  CHIME_CMP_EQ = 0,
  CHIME_CMP_NE = 1,
  CHIME_CMP_GT = 2,
  CHIME_CMP_LE = 3,
  CHIME_CMP_LT = 4,
  CHIME_CMP_GE = 5
};
// Updates of a signal: store the value, or add it.
enum { CHIME_SIGNAL_SET = 0, CHIME_SIGNAL_ADD = 1 };
// CHIME_TEAM_WORLD and the other teams: types.h.

// Levels of thread support. Chime always provides MULTIPLE.
enum {
  CHIME_THREAD_SINGLE = 0,
  CHIME_THREAD_FUNNELED = 1,
  CHIME_THREAD_SERIALIZED = 2,
  CHIME_THREAD_MULTIPLE = 3
};

// ---- Library setup, exit and query (OpenSHMEM 1.5, 9.1) ----------------------------------------

// Joins the job: finds the launcher (PMIx, chime-run, else a job of one PE), maps the symmetric
// heap and connects to the PEs. Collective. A call while the PE is initialised does nothing. Where
// a GPU is to be used and the calling thread has chosen none, it does only the first stage
// (chimex_init_device).
//
// A failure on one PE fails, within seconds, the PEs that wait for it, with the same message and
// status. All may then try again. Where peers connect on demand and none is mapped, PEs wait only
// for PE 0: others may start.
//
// From here to chime_finalize, SIGUSR1 to the process makes its PEs print on stderr what they are
// doing. Chime leaves the signal alone if the program handles or ignores it. Calls that the signal
// interrupts behave as with any signal: sleep(), poll() and similar ones return early.
//
// Errors, beside those above:
//
//   CHIMEX_ERR_INVALID      a variable of the environment has a value that it does not take
//   CHIMEX_ERR_TIMEOUT      a PE did not come within CHIME_INIT_TIMEOUT
//   CHIMEX_ERR_MISMATCH     PEs differ in their version of Chime, or in a setting of the job
//   CHIMEX_ERR_UNSUPPORTED  the device or driver lacks what Chime needs
//   CHIMEX_ERR_SYSTEM       the system or a driver refused; the message has its words
CHIME_EXPORT void chime_init(void);

// chime_init with a level of thread support.
//
//   requested  CHIME_THREAD_*; ignored
//   provided   receives CHIME_THREAD_MULTIPLE, also after a failure; may be null
//
// Returns CHIMEX_OK or an error of chime_init.
CHIME_EXPORT int chime_init_thread(int requested, int* provided);
// Sets *provided to CHIME_THREAD_MULTIPLE. Null is CHIMEX_ERR_INVALID. At any time.
CHIME_EXPORT void chime_query_thread(int* provided);

// Leaves the job. Collective. Waits for this PE's kernels and for all PEs (it implies quiet and a
// barrier), frees the heap and reports a pending asynchronous error. After it only the init
// functions, those of error.h and those marked "at any time" may be called. The GPU's CUDA context
// stays until the process ends, with what the program has made in it.
//
// All other threads must have returned from their calls on this PE. If one has not, finalize fails
// with CHIMEX_ERR_INVALID, names the call, and changes nothing. A call that begins while another
// thread is in finalize fails with CHIMEX_ERR_NOT_INITIALIZED.
//
// Errors: CHIMEX_ERR_TIMEOUT, which ends the job, if a kernel runs longer than CHIME_TIMEOUT; the
// error of a kernel that failed and that no call has reported; a meeting that failed. With
// CHIME_ON_ERROR=return the PE has left the job after these, too.
CHIME_EXPORT void chime_finalize(void);

// Ends the whole job, from any PE at any time. Does not return. Processes end with the low eight
// bits of `status`, or with 1 if these are 0 and `status` is not.
CHIME_EXPORT void chime_global_exit(int status);

// The host's part of chime_my_pe and chime_n_pes (chime_device.cuh): this PE's number, and how many
// PEs the job has. Local. -1 before init. No errors.
CHIME_EXPORT int chimex_host_my_pe(void);
CHIME_EXPORT int chimex_host_n_pes(void);

// The host's part of chimex_node_my_pe and chimex_node_n_pes (chime_device.cuh). They answer from
// the first stage of init on (chimex_init_device), so that a program can choose its GPU by them.
// The first call may wait until all PEs have joined, at most CHIME_INIT_TIMEOUT. -1 before init,
// and after an error that the job survives.
CHIME_EXPORT int chimex_host_node_my_pe(void);
CHIME_EXPORT int chimex_host_node_n_pes(void);

// Whether puts, gets and atomics reach `pe` from this PE, and whether they reach `addr` at `pe`: 1
// or 0. An address outside this PE's symmetric heap, and a PE that does not exist, give 0. A path
// that exists may fail later.
CHIME_EXPORT int chime_pe_accessible(int pe);
CHIME_EXPORT int chime_addr_accessible(const void* addr, int pe);

// Versions and name. Local, at any time. The arguments receive the answer; null is
// CHIMEX_ERR_INVALID.
//
//   chime_info_get_version          CHIME_SPEC_MAJOR and CHIME_SPEC_MINOR
//   chime_info_get_name             "Chime <version>", ended by a zero; `name` has room for
//                                   CHIME_MAX_NAME_LEN bytes, all of which are written
//   chimex_vendor_get_version_info  CHIME_VERSION_MAJOR, _MINOR and _PATCH of libchime.so
CHIME_EXPORT void chime_info_get_version(int* major, int* minor);
CHIME_EXPORT void chime_info_get_name(char* name);
CHIME_EXPORT void chimex_vendor_get_version_info(int* major, int* minor, int* patch);

// ---- Extended setup ----------------------------------------------------------------------------

// Names a job to PEs that no launcher introduces: address, port and token of a rendezvous in the
// process that made the id. That process must stay alive until all PEs have initialised. Plain
// bytes: send them by any means, but keep them secret, because the id admits to the job.
typedef struct chimex_uniqueid {
  int version;
  char internal[124];
} chimex_uniqueid_t;

typedef struct chimex_init_attr {
  int version;
  int my_pe;                   // of this PE, 0..n_pes-1
  int n_pes;                   // of the job, at least 1
  chimex_uniqueid_t uniqueid;  // the same on all PEs
} chimex_init_attr_t;

// Initialisers for both, in C and C++: `chimex_init_attr_t attr = CHIMEX_INIT_ATTR_INITIALIZER;`.
// They hold this header's version, no id and no PE. chimex_get_uniqueid and
// chimex_set_attr_uniqueid_args fill every field, initialised or not.
#define CHIMEX_UNIQUEID_INITIALIZER \
  {                                 \
    1, { 0 }                        \
  }
#define CHIMEX_INIT_ATTR_INITIALIZER \
  { 1, -1, 0, CHIMEX_UNIQUEID_INITIALIZER }

// Flags of chimex_init_attr: one of the first two, and DEFER_DEVICE with either.
enum {
  CHIMEX_INIT_WITH_LAUNCHER = 0,
  CHIMEX_INIT_WITH_UNIQUEID = 8,
  CHIMEX_INIT_DEFER_DEVICE = 16  // the first stage alone: chimex_init_device
};

// Makes an id in `*uid` and starts its rendezvous, a thread of this process. Local, at any time.
// CHIME_BOOTSTRAP_IF names the network interface on which it listens.
//
// Returns CHIMEX_OK; CHIMEX_ERR_INVALID: null, or a variable's value; CHIMEX_ERR_SYSTEM: no such
// interface, or the system refuses to listen.
CHIME_EXPORT int chimex_get_uniqueid(chimex_uniqueid_t* uid);

// Fills `*attr` for chimex_init_attr with CHIMEX_INIT_WITH_UNIQUEID. Local, at any time.
//
//   my_pe  this PE's number, 0..n_pes-1
//   n_pes  how many PEs the job has, the same on all
//   uid    from chimex_get_uniqueid, the same on all
//
// Returns CHIMEX_OK; CHIMEX_ERR_INVALID: null, or no such PE among n_pes.
CHIME_EXPORT int chimex_set_attr_uniqueid_args(int my_pe, int n_pes, const chimex_uniqueid_t* uid,
                                               chimex_init_attr_t* attr);

// Fills `*attr` so that the ranks of an MPI communicator become PEs of the same numbers. Collective
// over the communicator.
//
//   mpi_comm  the address of a variable of type MPI_Comm: any intracommunicator of the program
//   attr      for chimex_init_attr with CHIMEX_INIT_WITH_UNIQUEID
//
// MPI must be initialised. libchime.so links no MPI: a plug-in that is built for the program's MPI
// makes the calls (CHIME_MPI_PLUGIN).
//
// Returns CHIMEX_OK; CHIMEX_ERR_INVALID: null, MPI is not initialised, or it refuses the
// communicator; CHIMEX_ERR_TIMEOUT: a rank did not come within CHIME_INIT_TIMEOUT;
// CHIMEX_ERR_UNSUPPORTED: there is no plug-in, or it is another MPI's.
CHIME_EXPORT int chimex_set_attr_mpi_comm_args(const void* mpi_comm, chimex_init_attr_t* attr);

// chime_init by explicit means. Collective over the PEs of the job.
//
//   flags  CHIMEX_INIT_*
//   attr   needed with CHIMEX_INIT_WITH_UNIQUEID; else ignored, and may be null
//
// With CHIMEX_INIT_WITH_UNIQUEID several threads of one process may each become a PE; each is then
// bound to its own. Give each a GPU of its own. Kernels of PEs that share a GPU may use only the
// calls that take a Context (chime::context()), and trap in the others.
//
// Returns CHIMEX_OK, also if this PE is initialised already; CHIMEX_ERR_INVALID: unknown flags,
// null, `attr` of another version or without a PE or id; CHIMEX_ERR_MISMATCH: the rendezvous
// refuses this PE; else an error of chime_init.
CHIME_EXPORT int chimex_init_attr(unsigned flags, const chimex_init_attr_t* attr);

// A setting: the name and value of a variable, as chime-info --variables lists them, such as
// {"CHIME_SYMMETRIC_SIZE", "4G"}.
typedef struct chimex_setting {
  const char* name;
  const char* value;
} chimex_setting_t;

// An array of `count` settings. CHIMEX_CONFIG_INITIALIZER has none.
typedef struct chimex_config {
  int version;
  size_t count;
  const chimex_setting_t* settings;
} chimex_config_t;
#define CHIMEX_CONFIG_INITIALIZER \
  { 1, 0, 0 }

// chimex_init_attr with settings of the program's own. Collective. A setting of `config` goes
// before the environment, and that before the default.
//
//   flags, attr  as chimex_init_attr's
//   config       may be null; read, like attr, only during the call
//
// Settings that must be equal on all PEs must be so here, too. A PE that is initialised already
// checks `config` and keeps its settings. Not settable here: variables of chime-run and
// CHIME_SIMT_*, which belong to the process. chimex_get_uniqueid reads the environment alone.
//
// Returns CHIMEX_OK; CHIMEX_ERR_INVALID: an unknown name (the message has the nearest), a value
// that the variable does not take, a null, a name twice, or `config` of another version; else an
// error of chimex_init_attr.
CHIME_EXPORT int chimex_init_config(unsigned flags, const chimex_init_attr_t* attr,
                                    const chimex_config_t* config);

// Builds the second stage of init. Collective; does nothing if it is there.
//
// Init has two stages. After the first the PE knows its number and nothing else is there
// (CHIME_STATUS_IS_BOOTSTRAPPED), so a program can choose its GPU by that number (cudaSetDevice).
// The second opens the thread's device, or without a choice one that is near (CHIME_DEVICE), and
// makes the heap. chime_init does both if nothing is left to choose. Otherwise this call
// does the second, or the first call that needs it: memory, data movement, barriers,
// chime::context(), exec::launch.
//
// A kernel launched by <<<>>> traps before the second stage. So does a clang-compiled kernel of a
// library opened after it, until the next call above.
//
// Returns CHIMEX_OK or an error of chime_init. A failure stays: later calls that need the stage
// fail in the same way.
CHIME_EXPORT int chimex_init_device(void);

// NVSHMEM's states in NVSHMEM's order. `chimex_init_status() >= CHIME_STATUS_IS_INITIALIZED` asks
// whether everything is there.
enum {
  CHIMEX_STATUS_FINALIZED = -1,
  CHIME_STATUS_NOT_INITIALIZED = 0,
  CHIME_STATUS_IS_BOOTSTRAPPED = 1,  // the first stage
  CHIME_STATUS_IS_INITIALIZED = 2,   // both, also where PEs share a GPU
  CHIME_STATUS_LIMITED_MPG = 3,      // never returned
  CHIME_STATUS_FULL_MPG = 4          // never returned
};
// The state of the calling thread's PE. Local, at any time, no errors. FINALIZED: it has left.
// NOT_INITIALIZED: there is none, or its init has failed, or the thread is bound to none of the
// process's PEs (chimex_pe_bind).
CHIME_EXPORT int chimex_init_status(void);

// ---- Kernels that the program loads by itself ---------------------------------------------------

// CUDA's CUmodule and CUlibrary, by the tags of cuda.h.
typedef struct CUmod_st* chimex_cumodule_t;
typedef struct CUlib_st* chimex_culibrary_t;

// init: gives the kernels of a module that the program has loaded (cuModuleLoadData,
// cuLibraryLoadData) to the calling thread's PE. Call it after chime_init and before their first
// launch. The program's own kernels do not need it. Local, but the first call to need the device is
// collective (chimex_init_device). Calls the driver and waits for no kernel. A second call does the
// same again.
//
// finalize: takes them away. A kernel of the module that is launched afterwards traps. Call it
// before the module is unloaded. chime_finalize does it for modules that are still loaded.
//
//   module   of the primary context of the PE's GPU, which the CUDA runtime uses
//   library  its part for that context counts
//
// The module must hold the variable chime_kernel_state, which Chime's headers define when one of
// these compiles it: clang with --cuda-device-only, chime-cc --ptx, NVRTC with -rdc=true, nvcc with
// -rdc=true -DCHIME_MODULE (include/chime/README.md, "Kernels that a program loads"). Set
// CHIME_DEVICE=cuda if none of the program's files has kernels.
//
// Return CHIMEX_OK, or
//
//   CHIMEX_ERR_INVALID      null; a module of another context, or without the variable;
//                           finalize: a module that was not initialised
//   CHIMEX_ERR_MISMATCH     compiled with headers of another Chime
//   CHIMEX_ERR_UNSUPPORTED  the PE runs on the CPU device
//   CHIMEX_ERR_SYSTEM       the driver refused; the message has its words
CHIME_EXPORT int chimex_cumodule_init(chimex_cumodule_t module);
CHIME_EXPORT int chimex_cumodule_finalize(chimex_cumodule_t module);
CHIME_EXPORT int chimex_culibrary_init(chimex_culibrary_t library);
CHIME_EXPORT int chimex_culibrary_finalize(chimex_culibrary_t library);

// ---- Threads and PEs ----------------------------------------------------------------------------

// Binds the calling thread to `pe`, a PE of this process: its host calls act on that PE from here
// on. Local. A process with one PE needs no binding. In a process with several, a thread that
// initialised none of them must call it before other functions.
//
// Returns CHIMEX_OK; CHIMEX_ERR_INVALID: `pe` does not live in this process.
CHIME_EXPORT int chimex_pe_bind(int pe);

// ---- Memory management (9.3) -------------------------------------------------------------------

// Allocate from the symmetric heap. Collective, with the same arguments on every PE, which is
// checked. They imply a barrier.
//
//   size       bytes; 0 gives null
//   count      elements of `size` bytes (chime_calloc)
//   alignment  of the address in bytes (chime_align): a power of two up to 2 MiB; below 16 it
//              counts as 16. The other two align to 512 bytes
//
// Return a symmetric address, or null after an error, on every PE. chime_calloc clears the memory
// before any PE can write to it; the others do not clear it. CHIME_SYMMETRIC_SIZE sets the heap's
// size. With CHIME_CHECK=2 operations of kernels and of the host fail if they leave the allocated
// bytes.
//
// Errors, on every PE:
//
//   CHIMEX_ERR_INVALID        alignment; count times size does not fit size_t; another PE failed
//   CHIMEX_ERR_OUT_OF_MEMORY  the heap of some PE has no room; with CHIME_CHECK=2 also for more
//                             allocations than can be checked
//   CHIMEX_ERR_MISMATCH       PEs made different calls; the message names both
//   CHIMEX_ERR_TIMEOUT        a PE did not come within CHIME_TIMEOUT. PEs that come later fail,
//                             too, and no later collective call succeeds; each names this one
CHIME_EXPORT void* chime_malloc(size_t size);
CHIME_EXPORT void* chime_calloc(size_t count, size_t size);
CHIME_EXPORT void* chime_align(size_t alignment, size_t size);

// Frees what these returned. Collective; implies a barrier before the memory is reused. Null does
// nothing and waits for nobody, so it must be null on every PE.
//
// Errors: CHIMEX_ERR_INVALID for an address that is no allocation, or is freed already; the message
// names it. Else those of chime_malloc.
CHIME_EXPORT void chime_free(void* ptr);

// chime_ptr: host and device, see chime_device.cuh.

// ---- Local buffers (NVSHMEM 3.x: nvshmemx_buffer_register) -------------------------------------
// Sources of puts and destinations of gets may lie anywhere. A NIC uses the symmetric heap and
// registered buffers in place. It reaches other memory by a copy through memory of Chime's own, and
// nbi operations then complete before they return. Registering makes no other difference, and none
// where peers are mapped.

// Registers memory with the NIC of the calling thread's PE. Local, from any host thread, at any
// time between init and finalize.
//
//   addr    memory of the host or the device, outside the symmetric heap, at any alignment; all of
//           it stays allocated and writable until it is unregistered
//   length  bytes
//
// Operations that are called after it returns use the buffer. Kernels that run meanwhile find it
// soon. A transfer that crosses from one registered buffer into the next is copied. One that begins
// while another buffer is being registered may be copied, too. On a GPU, register before kernels
// start that wait for this PE: the driver may wait for them.
//
// Returns CHIMEX_OK, also without a NIC, or
//
//   CHIMEX_ERR_INVALID        null, 0 bytes, or an overlap with the heap or a registered buffer;
//                             on a GPU with a NIC and CHIME_CHECK also while a kernel runs
//   CHIMEX_ERR_OUT_OF_MEMORY  1024 are registered, or the limit of locked memory (ulimit -l) is
//                             reached
//   CHIMEX_ERR_SYSTEM         the NIC refuses, with the system's words
CHIME_EXPORT int chimex_buffer_register(void* addr, size_t length);

// Unregister the buffer that begins at `addr`, or all of this PE's. Local. Complete first what uses
// the buffer: quiet, on the host and in the kernels that posted it. An operation that no longer
// finds its memory fails. chime_finalize unregisters what is left.
//
// Return CHIMEX_OK; CHIMEX_ERR_INVALID: no registered buffer begins at `addr`.
CHIME_EXPORT int chimex_buffer_unregister(void* addr);
CHIME_EXPORT int chimex_buffer_unregister_all(void);

// ---- Symmetric buffers (NVSHMEM 3.x: nvshmemx_buffer_register_symmetric) -----------------------

// Makes memory of the program a part of the symmetric heap. The CPU device alone. The same memory
// then has two addresses: the returned one for operations, the program's own for its code. (In a
// kernel in weak-memory mode a thread sees its own store by the other address late.) Collective,
// with the same `size` and `flags` on every PE, which is checked. Implies a barrier.
//
//   buffer  whole pages of this PE's private memory, from aligned_alloc or mmap without a file; no
//           stack; no part of it is registered (chimex_buffer_register)
//   size    bytes, a multiple of the page size; as much of the heap is used up
//           (CHIME_SYMMETRIC_SIZE)
//   flags   0
//
// The contents stay; no thread may use the buffer during the call. The pages become resident shared
// memory: forked children share them, and earlier mlock, madvise and huge pages are lost. Do not
// free the buffer, nor pass the returned address to chime_free, before it is unregistered.
//
// Returns the symmetric address. If one PE fails, every PE gets null, with the reason:
//
//   CHIMEX_ERR_INVALID        the arguments, or another PE failed
//   CHIMEX_ERR_OUT_OF_MEMORY  no room in the heap or the address space
//   CHIMEX_ERR_SYSTEM         the system refused
//   CHIMEX_ERR_UNSUPPORTED    on a GPU: use chime_malloc
//   CHIMEX_ERR_MISMATCH, CHIMEX_ERR_TIMEOUT  as chime_malloc
CHIME_EXPORT void* chimex_buffer_register_symmetric(void* buffer, size_t size, int flags);

// Makes it private memory again, with its last contents. Collective. Implies a barrier before that.
//
//   address  the value that the call above returned on this PE
//   size     as there
//
// Complete first, on all PEs, what uses the buffer (quiet). chime_finalize does it for buffers that
// are left.
//
// Returns CHIMEX_OK; CHIMEX_ERR_INVALID: no such buffer, another size, it is unmapped, or a part of
// it is registered (chimex_buffer_register); CHIMEX_ERR_SYSTEM; else an error of chime_free.
CHIME_EXPORT int chimex_buffer_unregister_symmetric(void* address, size_t size);

// ---- Teams (OpenSHMEM 1.5, 9.4) ----------------------------------------------------------------
//
// A team is some of the job's PEs, in an order of their own. Its members meet among themselves
// (chime_barrier, chime_team_sync: chime_device.cuh), in kernels, on streams and on the host, and
// wait for no PE that is no member. A dead member ends its teams' meetings; barriers of other teams
// fail only by their quiet. A failed meeting is this PE's last in the team.
//
// A handle is a number that is a constant in kernels, too, and the same on all members. A destroyed
// team's handle may name another team after about 2000 more were made.
//
// Each team has CHIME_TEAM_LANES lanes. chimex_team_lane(team, i) is the handle of lane i, and the
// handle that a call here returns is that of lane 0. All calls take both. Calls of one lane come in
// order, one at a time for each PE; those of different lanes run at once.

// Makes a team of members of `parent`. Collective over `parent`, with the same arguments on all of
// its members. A PE makes one team at a time: its threads do so in the same order on all members.
//
//   parent       any team that this PE is in
//   start        rank in `parent` of the new team's member 0. Members of different groups may each
//                pass their own group's: then each group becomes a team. What comes of
//                groups that contradict each other is undefined
//   stride       between the ranks of its members; may be negative; not 0 if size > 1
//   size         how many members it has, at least 1
//   config       what the team is asked for, or null
//   config_mask  the members of *config that count; 0: none
//   new_team     receives the team; CHIME_TEAM_INVALID on a PE that is no member, and after an
//                error. May not be null
//
// Returns CHIMEX_OK on all members of `parent`, or on all of them the same error, which changes
// nothing:
//
//   CHIMEX_ERR_INVALID   start + i * stride is no rank of `parent` for an i from 0 to size - 1; or
//                        no entry is free on all members (CHIME_MAX_TEAMS)
//   CHIMEX_ERR_MISMATCH  the members' arguments differ
//   CHIMEX_ERR_TIMEOUT, CHIMEX_ERR_PEER_DEAD
//                        a member did not come, or is dead. `parent` makes no more teams then, but
//                        goes on to meet
//
// CHIMEX_ERR_INVALID also on a PE on which new_team, or config with a mask, is null, or
// num_contexts is negative: the other members get CHIMEX_ERR_MISMATCH. A PE that is in no team
// `parent` gets it at once and meets nobody.
CHIME_EXPORT int chime_team_split_strided(chime_team_t parent, int start, int stride, int size,
                                          const chime_team_config_t* config, long config_mask,
                                          chime_team_t* new_team);

// Lays the ranks of `parent` out in rows of `xrange` (of all its members, if that is less), and
// makes two teams for each member: its row and its column. The last row may be shorter. Arguments
// and errors as above; each PE is in both teams.
CHIME_EXPORT int chime_team_split_2d(chime_team_t parent, int xrange,
                                     const chime_team_config_t* xaxis_config, long xaxis_mask,
                                     chime_team_t* xaxis_team,
                                     const chime_team_config_t* yaxis_config, long yaxis_mask,
                                     chime_team_t* yaxis_team);

// Makes a team of the `size` members of `parent` that have the ranks in `ranks`, in this order, no
// rank twice. Else as chime_team_split_strided.
CHIME_EXPORT int chimex_team_split_list(chime_team_t parent, const int* ranks, int size,
                                        const chime_team_config_t* config, long config_mask,
                                        chime_team_t* new_team);

// Makes a team of those members of `team` that live, in the order of their ranks. Collective over
// them. They find each other by the launcher, so `team` need not meet any more, and what the new
// team does waits for none of the dead. For jobs with CHIME_ON_PEER_FAILURE=report.
//
//   team         may be predefined, in any lane; stays as it is. Destroy it when it is of no use
//   config, config_mask, new_team
//                as above
//
// A member that another one knew to be dead when it called is not in the new team. One that dies
// later may be; then shrink the new team. All members that return have the same team, or the same
// error:
//
//   CHIMEX_ERR_INVALID   no entry is free on all of them; or arguments are wrong on a PE, which
//                        says why
//   CHIMEX_ERR_TIMEOUT   a member that lives did not come within CHIME_TIMEOUT. This PE may make no
//                        more teams. The others may have made a team with it only if a PE of them
//                        was stopped for longer than that, or members have died meanwhile
//
// A call waits that long for a member; for the one that decides, when all have come, twice that and
// 4 s. Each member that dies meanwhile may add as much.
//
// CHIMEX_ERR_PEER_DEAD on a PE that the others take for dead. A PE that is in no team `team` gets
// CHIMEX_ERR_INVALID at once. Jobs started by a unique id, and jobs that joined the launcher again
// after chime_finalize, find each other by a PE; if it is dead, the call fails with
// CHIMEX_ERR_SYSTEM or CHIMEX_ERR_PEER_DEAD. As below, a later call may still report, once, an
// operation on a dead PE that began before.
CHIME_EXPORT int chimex_team_shrink(chime_team_t team, const chime_team_config_t* config,
                                    long config_mask, chime_team_t* new_team);

// Fills the members of *config that `config_mask` names with the team's own values; a predefined
// team has no contexts. Returns CHIMEX_OK, or CHIMEX_ERR_INVALID: no such team, or a null config
// with a mask; CHIME_TEAM_INVALID changes nothing.
CHIME_EXPORT int chime_team_get_config(chime_team_t team, long config_mask,
                                       chime_team_config_t* config);

// Ends a team that the program has made. Collective over its members, and a chime_team_sync of
// them. No call may use any lane of it, also none that waits on a stream. CHIME_TEAM_INVALID does
// nothing; a predefined team is CHIMEX_ERR_INVALID. Where the sync fails, the team ends on this PE
// all the same, and its entry of CHIME_MAX_TEAMS is not used again.
CHIME_EXPORT void chime_team_destroy(chime_team_t team);

// ---- Peers that are lost ------------------------------------------------------------------------

// With CHIME_ON_PEER_FAILURE=report a job goes on when a PE dies:
//
// - An operation on the dead PE fails with CHIMEX_ERR_PEER_DEAD, on the host and in kernels (there
//   as CHIME_ON_ERROR says). Kernels on a GPU that run at that time, or begin just then, may store
//   to its mapped memory without an error.
// - A call that needs all PEs (barriers, collective allocation) fails with that status and names
//   the PE, from then on for ever. A wait for a word fails once it has lasted CHIME_TIMEOUT after
//   the death.
// - quiet completes what goes to other PEs. It fails if something went to the dead PE by a NIC or a
//   fabric; another call that succeeded may report it instead, once.
// - A host call that fails so sets chimex_last_status and returns, also with CHIME_ON_ERROR=exit.
// - chime_finalize succeeds and does not wait for other PEs. Survivors that may still use each
//   other's memory must synchronise themselves before.
//
// The launcher must let the others live (chime-run --keep-going, mpirun --enable-recovery). With
// CHIME_ON_PEER_FAILURE=abort, the default, the job ends and every call fails.

// The host's part of chimex_pe_status (chime_device.cuh), which says whether `pe` is alive and
// reachable. From any host thread; costs a lock. It prints what is wrong with the call itself, not
// the status of the PE that it returns.
CHIME_EXPORT int chimex_host_pe_status(int pe);

// ---- Asynchronous errors -----------------------------------------------------------------------

// `message` is ended by a zero; a longer one is cut.
typedef struct chimex_async_error {
  int status;  // chimex_status; CHIMEX_OK if there is none
  int pe;      // PE concerned, -1 if unknown
  char message[256];
} chimex_async_error_t;

// Looks at an error of the whole PE without marking it as reported. Local, from any thread. Fills
// `*error` with the first of these: an error that no call has reported yet (a kernel's failure, a
// lost peer), the reason of an abort, the last one reported.
//
// Returns CHIMEX_OK, also if there is none; CHIMEX_ERR_INVALID: null.
CHIME_EXPORT int chimex_get_async_error(chimex_async_error_t* error);

// ---- On-stream operations (x = on_stream) ------------------------------------------------------
// Ordered like any work of `stream` (types.h). dst, src, sig, value, op, pe as those of the call
// without _on_stream in chime_device.cuh; `bytes` is a size at any alignment. Forms by type and by
// size: chime_device.cuh.
//
//   put, put_nbi         complete locally when the stream passes it; complete at `pe` after
//                        chimex_quiet_on_stream
//   get, get_nbi         complete when the stream passes it
//   put_signal           updates the signal after this call's data is visible
//   signal_op            updates the signal after the stream's earlier puts to `pe`
//   signal_wait_until    the stream goes on when this PE's signal compares true
//   quiet                completes what the stream and the PE's kernels have sent before it
//   barrier_all          chime_barrier_all when the stream gets there; collective
//   sync_all             chime_sync_all, likewise
//
// Puts, gets and signal updates report a wrong argument at once. What fails when the stream gets
// there, a wait's wrong comparison included, is reported like a kernel's failure.
//
//   CHIMEX_ERR_INVALID      an argument; on a GPU also signals, elements, status or values that
//                           kernels do not reach (pageable memory)
//   CHIMEX_ERR_UNREACHABLE  no path leads to `pe`
//   CHIMEX_ERR_UNSUPPORTED  the stream is being captured into a graph, and the call must wait for
//                           it: g always, others as follows
//
// Where the device is a GPU and no mapped memory leads to `pe`, the call itself moves local memory
// that kernels do not reach. It waits until the stream has done its earlier work. Pin the memory,
// or use memory of the device.

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
// chime_barrier and chime_team_sync of a team, on a stream. Return CHIMEX_OK; CHIMEX_ERR_INVALID:
// this PE is in no such team. A meeting that fails later is reported like a kernel's failure.
CHIME_EXPORT int chimex_barrier_on_stream(chime_team_t team, chimex_stream_t stream);
CHIME_EXPORT int chimex_team_sync_on_stream(chime_team_t team, chimex_stream_t stream);

// chimex_collective_launch launches a kernel in which PEs wait for each other, cooperatively, so
// that all its blocks run at once. Declared for C++ in device/coll/collective_launch.cuh, because
// it takes dim3.

// ---- The families ------------------------------------------------------------------------------
// Contracts: chime_device.cuh. Here the families are symbols of libchime.so; C++ with the device
// side has them inline.

#if !defined(__cplusplus) || defined(CHIME_HOST_ONLY)
#define CHIME_DECLARATION(RESULT, PREFIX, STEM, PARAMETERS, TEMPLATE, ARGUMENTS, CALL) \
  CHIME_EXPORT RESULT PREFIX##STEM PARAMETERS;
CHIME_FOR_THREAD_OPERATIONS(CHIME_DECLARATION)
CHIME_FOR_GROUP_OPERATIONS(CHIME_DECLARATION)
CHIME_FOR_STREAM_OPERATIONS(CHIME_DECLARATION)
CHIME_FOR_LONG_DOUBLE_COLLECTIVES(CHIME_DECLARATION)
#undef CHIME_DECLARATION
#endif

#ifdef __cplusplus
}  // extern "C"

namespace chime {
struct Context;
// The calling thread's PE as device code sees it: the argument of kernels that use the C++
// templates. Builds the device stage if it is missing (chimex_init_device). Valid until finalize.
// Throws nothing. Without a PE it gives a Context with abi_version 0.
CHIME_EXPORT const Context& context();

// The PE as its host operations see it: with channels of its own, whose quiet also completes what
// kernels have sent. The argument of host code that calls the C++ templates on the CPU device.
CHIME_EXPORT const Context& host_context();
}  // namespace chime

#endif  // __cplusplus

#if defined(__cplusplus) && !defined(CHIME_HOST_ONLY)
#include "chime/chime_device.cuh"
#endif

#endif  // CHIME_CHIME_H_
