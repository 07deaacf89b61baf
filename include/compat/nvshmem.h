// NVSHMEM's API under its own names, for programs that are written for it. Compile them with
// -I<prefix>/include -I<prefix>/include/compat, and link libchime.so. For C and C++; kernels have
// the requirements of chime/chime.h. The contracts are those of the Chime functions with chime_ for
// nvshmem_ and chimex_ for nvshmemx_ (chime/chime.h, chime/chime_device.cuh).
//
// Missing: collectives that move or reduce data, queue pairs, and the names in
// tests/compat/missing.names, which gives reasons.
//
// Names, numbers and the layout of structs are those of NVSHMEM 3.8's public headers
// (NVIDIA/nvshmem, src/include/c_api: nvshmem_api_constants.h, nvshmem_types.h,
// nvshmemx_uniqueid.h, nvshmemx_status.h); this file has no text of them. Only the numbers of
// status codes and signal operations are Chime's: use their names.
#ifndef CHIME_COMPAT_NVSHMEM_H_
#define CHIME_COMPAT_NVSHMEM_H_

#ifdef __CUDACC_RTC__
#include "chime/cxx20.h"  // says where NVRTC finds the standard headers
#endif
#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#include "chime/chime.h"
#include "compat/host_rows.h"
#include "compat/spelling.h"

// ---- Versions -----------------------------------------------------------------------------------

// The level of OpenSHMEM that NVSHMEM declares, and the release from which the names come.
#define NVSHMEM_MAJOR_VERSION 1
#define NVSHMEM_MINOR_VERSION 3
#define NVSHMEM_VENDOR_MAJOR_VERSION 3
#define NVSHMEM_VENDOR_MINOR_VERSION 8
#define NVSHMEM_VENDOR_PATCH_VERSION 0
#define NVSHMEM_VENDOR_VERSION                                                 \
  (NVSHMEM_VENDOR_MAJOR_VERSION * 10000 + NVSHMEM_VENDOR_MINOR_VERSION * 100 + \
   NVSHMEM_VENDOR_PATCH_VERSION)
#define NVSHMEM_MAX_NAME_LEN 256

// ---- Constants ----------------------------------------------------------------------------------

typedef enum nvshmemx_cmp_type {
  NVSHMEM_CMP_EQ = CHIME_CMP_EQ,
  NVSHMEM_CMP_NE = CHIME_CMP_NE,
  NVSHMEM_CMP_GT = CHIME_CMP_GT,
  NVSHMEM_CMP_LE = CHIME_CMP_LE,
  NVSHMEM_CMP_LT = CHIME_CMP_LT,
  NVSHMEM_CMP_GE = CHIME_CMP_GE,
  NVSHMEM_CMP_SENTINEL = INT_MAX
} nvshmemx_cmp_type_t;
typedef enum {
  NVSHMEM_SIGNAL_SET = CHIME_SIGNAL_SET,
  NVSHMEM_SIGNAL_ADD = CHIME_SIGNAL_ADD
} nvshmemx_signal_op_t;
typedef enum nvshmemx_thread_support {
  NVSHMEM_THREAD_SINGLE = CHIME_THREAD_SINGLE,
  NVSHMEM_THREAD_FUNNELED = CHIME_THREAD_FUNNELED,
  NVSHMEM_THREAD_SERIALIZED = CHIME_THREAD_SERIALIZED,
  NVSHMEM_THREAD_MULTIPLE = CHIME_THREAD_MULTIPLE,
  NVSHMEM_THREAD_TYPE_SENTINEL = INT_MAX
} nvshmemx_thread_support_t;
typedef enum {
  NVSHMEM_STATUS_NOT_INITIALIZED = CHIME_STATUS_NOT_INITIALIZED,
  NVSHMEM_STATUS_IS_BOOTSTRAPPED = CHIME_STATUS_IS_BOOTSTRAPPED,
  NVSHMEM_STATUS_IS_INITIALIZED = CHIME_STATUS_IS_INITIALIZED,
  NVSHMEM_STATUS_LIMITED_MPG = CHIME_STATUS_LIMITED_MPG,
  NVSHMEM_STATUS_FULL_MPG = CHIME_STATUS_FULL_MPG,
  NVSHMEM_STATUS_INVALID = INT_MAX
} nvshmemx_init_status_t;

// Numbers of no PE. team_translate_pe returns the first. The others are for queue pairs; to all
// existing calls they are a PE that does not exist.
typedef enum {
  NVSHMEM_PE_INVALID = -1,
  NVSHMEMX_PE_ANY = 1 << 15,
  NVSHMEMX_PE_ALL = 1 << 15
} nvshmem_pe_index_t;
enum nvshmemx_status {
  NVSHMEMX_SUCCESS = CHIMEX_SUCCESS,
  NVSHMEMX_ERROR_INVALID_VALUE = CHIMEX_ERROR_INVALID_VALUE,
  NVSHMEMX_ERROR_OUT_OF_MEMORY = CHIMEX_ERROR_OUT_OF_MEMORY,
  NVSHMEMX_ERROR_NOT_SUPPORTED = CHIMEX_ERROR_NOT_SUPPORTED,
  NVSHMEMX_ERROR_SYMMETRY = CHIMEX_ERROR_SYMMETRY,
  NVSHMEMX_ERROR_COLLECTIVE_LAUNCH_FAILED = CHIMEX_ERROR_COLLECTIVE_LAUNCH_FAILED,
  NVSHMEMX_ERROR_INTERNAL = CHIMEX_ERROR_INTERNAL,
  NVSHMEMX_ERROR_GPU_NOT_SELECTED = INT_MAX - 1,  // never returned: Chime chooses a GPU
  NVSHMEMX_ERROR_SENTINEL = INT_MAX
};

// Integers, in kernels and on the host. chime/types.h and chime/chime_device.cuh say what is known
// of each team, and where. The indices 4 to 6 are NVSHMEM's own teams: they are no teams here.
typedef chime_team_t nvshmem_team_t;
typedef nvshmem_team_t nvshmemx_team_t;
enum {
  NVSHMEM_TEAM_INVALID = CHIME_TEAM_INVALID,
  NVSHMEM_TEAM_WORLD = CHIME_TEAM_WORLD,
  NVSHMEM_TEAM_SHARED = CHIME_TEAM_SHARED,
  NVSHMEMX_TEAM_NODE = CHIMEX_TEAM_NODE,
  NVSHMEMX_TEAM_SAME_MYPE_NODE = CHIMEX_TEAM_SAME_MYPE_NODE
};
enum {
  NVSHMEM_TEAM_WORLD_INDEX = NVSHMEM_TEAM_WORLD,
  NVSHMEM_TEAM_SHARED_INDEX = NVSHMEM_TEAM_SHARED,
  NVSHMEM_TEAM_NODE_INDEX = NVSHMEMX_TEAM_NODE,
  NVSHMEM_TEAM_SAME_MYPE_NODE_INDEX = NVSHMEMX_TEAM_SAME_MYPE_NODE,
  NVSHMEM_TEAM_SAME_GPU_INDEX = 4,
  NVSHMEM_TEAM_GPU_LEADERS_INDEX = 5,
  NVSHMEM_TEAM_MC_SHARED_INDEX = 6,
  NVSHMEM_TEAMS_MIN = 7,
  NVSHMEM_TEAM_INDEX_MAX = INT_MAX
};

// ---- Extended setup -----------------------------------------------------------------------------

enum {
  NVSHMEMX_INIT_THREAD_PES = 1,
  NVSHMEMX_INIT_WITH_MPI_COMM = 2,
  NVSHMEMX_INIT_WITH_SHMEM = 4,  // refused: use a launcher, or a unique id
  NVSHMEMX_INIT_WITH_UNIQUEID = 8
};

// Each begins with a version word: its number in the upper half, the size of the struct in the
// lower.
#define NVSHMEMX_UNIQUEID_ARGS_INVALID (-1)

typedef struct {
  int version;
  char internal[124];
} nvshmemx_uniqueid_v1;
typedef nvshmemx_uniqueid_v1 nvshmemx_uniqueid_t;

typedef struct {
  int version;
  nvshmemx_uniqueid_v1* id;
  int myrank;
  int nranks;
} nvshmemx_uniqueid_args_v1;
typedef nvshmemx_uniqueid_args_v1 nvshmemx_uniqueid_args_t;

typedef struct {
  int version;
  nvshmemx_uniqueid_args_t uid_args;
  int cuda_device_id;
  char content[92];
} nvshmemx_init_args_v2;
typedef nvshmemx_init_args_v2 nvshmemx_init_args_t;

typedef struct {
  int version;
  void* mpi_comm;
  nvshmemx_init_args_t args;
} nvshmemx_init_attr_v2;
typedef nvshmemx_init_attr_v2 nvshmemx_init_attr_t;

typedef uint64_t nvshmemx_team_uniqueid_t;
typedef struct {
  int version;
  int num_contexts;
  nvshmemx_team_uniqueid_t uniqueid;
  char padding[48];
} nvshmem_team_config_v2;
typedef nvshmem_team_config_v2 nvshmem_team_config_t;

#ifdef __cplusplus
static_assert(sizeof(nvshmemx_uniqueid_t) == 128 && sizeof(nvshmemx_uniqueid_args_t) == 24 &&
                  sizeof(nvshmemx_init_args_t) == 128 && sizeof(nvshmemx_init_attr_t) == 144 &&
                  sizeof(nvshmem_team_config_t) == 64,
              "these sizes are in the versions");
#else
_Static_assert(sizeof(nvshmemx_uniqueid_t) == 128 && sizeof(nvshmemx_uniqueid_args_t) == 24 &&
                   sizeof(nvshmemx_init_args_t) == 128 && sizeof(nvshmemx_init_attr_t) == 144 &&
                   sizeof(nvshmem_team_config_t) == 64,
               "these sizes are in the versions");
#endif

#define NVSHMEMX_UNIQUEID_INITIALIZER \
  {                                   \
    (1 << 16) + 128, { 0 }            \
  }
#define NVSHMEMX_UNIQUEID_ARGS_INITIALIZER \
  { (1 << 16) + 24, NULL, NVSHMEMX_UNIQUEID_ARGS_INVALID, NVSHMEMX_UNIQUEID_ARGS_INVALID }
#define NVSHMEMX_INIT_ARGS_V2_INITIALIZER                          \
  {                                                                \
    (2 << 16) + 128, NVSHMEMX_UNIQUEID_ARGS_INITIALIZER, -1, { 0 } \
  }
#define NVSHMEMX_INIT_ATTR_INITIALIZER \
  { (2 << 16) + 144, NULL, NVSHMEMX_INIT_ARGS_V2_INITIALIZER }
#define NVSHMEM_TEAM_UNIQUID_INITIALIZER UINT64_MAX
#define NVSHMEM_TEAM_CONFIG_INITIALIZER                         \
  {                                                             \
    (2 << 16) + 64, -1, NVSHMEM_TEAM_UNIQUID_INITIALIZER, { 0 } \
  }
#define NVSHMEM_TEAM_CONFIG_MASK_NUM_CONTEXTS 1
#define NVSHMEM_TEAM_CONFIG_MASK_UNIQUEID 2

#ifdef __cplusplus
extern "C" {
#endif

// As chime_init and chime_init_thread. All functions below also read NVSHMEM's variables if Chime's
// own are not set (include/compat/README.md).
CHIME_EXPORT void nvshmem_init(void);
CHIME_EXPORT int nvshmem_init_thread(int requested, int* provided);

CHIME_EXPORT int nvshmemx_get_uniqueid(nvshmemx_uniqueid_t* uid);

// Makes `attr` name `*uid`, which must stay where it is until nvshmemx_init_attr returns. Does not
// change other members of `attr`.
CHIME_EXPORT int nvshmemx_set_attr_uniqueid_args(int my_pe, int n_pes,
                                                 const nvshmemx_uniqueid_t* uid,
                                                 nvshmemx_init_attr_t* attr);

// Sets attr->mpi_comm to mpi_comm: the address of a variable of type MPI_Comm, which must stay
// there until nvshmemx_init_attr returns.
CHIME_EXPORT int nvshmemx_set_attr_mpi_comm_args(void* mpi_comm, nvshmemx_init_attr_t* attr);

// Joins the job.
//
//   flags  0 (a launcher introduces the PEs, as for nvshmem_init), NVSHMEMX_INIT_WITH_UNIQUEID, or
//          NVSHMEMX_INIT_WITH_MPI_COMM, which reads only attr->mpi_comm and is as
//          chimex_set_attr_mpi_comm_args (chime/chime.h)
//   attr   may be null for flags 0. A cuda_device_id that is not -1 is as cudaSetDevice before, if
//          the PE uses a GPU
//
// Returns a nvshmemx_status, NVSHMEMX_ERROR_NOT_SUPPORTED for other flags, or another
// chimex_status.
CHIME_EXPORT int nvshmemx_init_attr(unsigned int flags, nvshmemx_init_attr_t* attr);

// The same. nvshmemx_hostlib_finalize is nvshmem_finalize: host code and kernels use one library.
CHIME_EXPORT int nvshmemx_hostlib_init_attr(unsigned int flags, nvshmemx_init_attr_t* attr);

// Sets `*config` to what the team was made with; a predefined team has no contexts. There is no
// unique id. NVSHMEM_TEAM_INVALID changes nothing. A number that is no team, and a null config, are
// errors.
CHIME_EXPORT void nvshmem_team_get_config(nvshmem_team_t team, nvshmem_team_config_t* config);

// As chime_team_split_strided and chime_team_split_2d. num_contexts of a config counts if the mask
// names it and it is above 0.
CHIME_EXPORT int nvshmem_team_split_strided(nvshmem_team_t parent, int start, int stride, int size,
                                            const nvshmem_team_config_t* config, long mask,
                                            nvshmem_team_t* new_team);
CHIME_EXPORT int nvshmem_team_split_2d(nvshmem_team_t parent, int xrange,
                                       const nvshmem_team_config_t* xaxis_config, long xaxis_mask,
                                       nvshmem_team_t* xaxis_team,
                                       const nvshmem_team_config_t* yaxis_config, long yaxis_mask,
                                       nvshmem_team_t* yaxis_team);

// Makes a team of the `n_pes` PEs that call it with the same unique id, each as member `my_pe`.
// Collective over these PEs alone; the one that has made the id must be among them. `*config` has
// the id, and `mask` names it. Returns 0; NVSHMEMX_ERROR_INVALID_VALUE: arguments that are wrong;
// CHIMEX_ERR_MISMATCH: two members of one number, or other sizes; CHIMEX_ERR_TIMEOUT: a member did
// not come within CHIME_TIMEOUT, and this PE makes no more teams. Else `*team` becomes
// NVSHMEM_TEAM_INVALID.
CHIME_EXPORT int nvshmemx_team_init(nvshmem_team_t* team, nvshmem_team_config_t* config, long mask,
                                    int n_pes, int my_pe);
// Sets `*uid` to an id for one team, of which this PE will be a member.
CHIME_EXPORT int nvshmemx_team_get_uniqueid(nvshmemx_team_uniqueid_t* uid);

// As nvshmemx_buffer_register_symmetric, at any free address: `preferred` is a hint.
CHIME_EXPORT void* nvshmemx_buffer_register_symmetric_at_preferred_address(void* buffer,
                                                                           size_t size,
                                                                           void* preferred,
                                                                           int flags);

// As chime_team_destroy: collective over the members. A predefined team is an error.
CHIME_EXPORT void nvshmem_team_destroy(nvshmem_team_t team);

#define CHIME_NVSHMEM_DECLARATION(RESULT, NAME, PARAMETERS, ARGUMENTS, CALLED) \
  CHIME_EXPORT RESULT NAME PARAMETERS;
CHIME_NVSHMEM_HOST_ROWS(CHIME_NVSHMEM_DECLARATION)
#undef CHIME_NVSHMEM_DECLARATION

#ifdef __cplusplus
}  // extern "C"
#endif

#include "compat/regions.h"

// ---- The families, by names without a type ------------------------------------------------------

#if !defined(__cplusplus) || defined(CHIME_HOST_ONLY)

#ifdef __cplusplus
extern "C" {
#endif
#define CHIME_NVSHMEM_PROTOTYPE(RESULT, PREFIX, STEM, PARAMETERS) \
  CHIME_EXPORT RESULT PREFIX##STEM PARAMETERS;
#define CHIME_NVSHMEM_ROW(RESULT, PREFIX, STEM, PARAMETERS, TEMPLATE, ARGUMENTS, CALL) \
  CHIME_STAMP(CHIME_NVSHMEM_PROTOTYPE, RESULT, CHIME_NVSHMEM_##PREFIX, STEM, PARAMETERS)
CHIME_FOR_UNTYPED_THREAD_OPERATIONS(CHIME_NVSHMEM_ROW)
CHIME_FOR_SIZED_TRANSFERS(CHIME_NVSHMEM_ROW)
CHIME_FOR_UNTYPED_GROUP_MEETINGS(CHIME_NVSHMEM_ROW)
CHIME_FOR_SIZED_STREAM_OPERATIONS(CHIME_NVSHMEM_ROW)
CHIME_NVSHMEM_FLUSH_ROWS(CHIME_NVSHMEM_ROW)
CHIME_NVSHMEM_COUNTED_ROWS(CHIME_NVSHMEM_ROW)
#undef CHIME_NVSHMEM_ROW
#undef CHIME_NVSHMEM_PROTOTYPE

// As chime_global_exit.
CHIME_EXPORT void nvshmem_global_exit(int status);

CHIME_EXPORT void nvshmem_info_get_version(int* major, int* minor);  // NVSHMEM_MAJOR_VERSION, ...
CHIME_EXPORT void nvshmem_info_get_name(char* name);                 // Chime's, with the versions
CHIME_EXPORT void nvshmemx_vendor_get_version_info(int* major, int* minor, int* patch);

// The address by which a store reaches `ptr` on all PEs of `team` at once: null, because Chime has
// no multicast memory.
CHIME_EXPORT void* nvshmemx_mc_ptr(nvshmem_team_t team, const void* ptr);
#ifdef __cplusplus
}  // extern "C"
#endif

#else  // kernels, too

#include "chime/device/forms.cuh"
#include "chime/device/global_exit.cuh"

namespace chime::nvshmem {
// Completes what any member has sent.
template <class Group>
CHIME_DEVICE void flush(const Context& ctx, Group g) {
  g.sync();
  detail::quiet_together(ctx, g);
  g.sync();
}

CHIME_DEVICE void signal_counted_reset(const Context& ctx, std::uint64_t* sig) {
  chime::signal_op(ctx, SignalUpdate{sig, 0}, ctx.pe.my_pe);
}

// Chime's version, and NVSHMEM's, for which programs look.
[[maybe_unused]] static CHIME_HOST_DEVICE void write_name(char* name) {
#define CHIME_NVSHMEM_TEXT(MAJOR, MINOR, PATCH) #MAJOR "." #MINOR "." #PATCH
  constexpr char kName[] =
      "Chime " CHIME_STAMP(CHIME_NVSHMEM_TEXT, CHIME_VERSION_MAJOR, CHIME_VERSION_MINOR,
                           CHIME_VERSION_PATCH)  //
      ", NVSHMEM v" CHIME_STAMP(CHIME_NVSHMEM_TEXT, NVSHMEM_VENDOR_MAJOR_VERSION,
                                NVSHMEM_VENDOR_MINOR_VERSION, NVSHMEM_VENDOR_PATCH_VERSION);
#undef CHIME_NVSHMEM_TEXT
  for (unsigned i = 0; i < CHIME_MAX_NAME_LEN; ++i) name[i] = i < sizeof(kName) ? kName[i] : '\0';
}
}  // namespace chime::nvshmem

#define CHIME_NVSHMEM_THREAD(RESULT, PREFIX, ...) \
  CHIME_STAMP(CHIME_THREAD_FORM, RESULT, CHIME_NVSHMEM_##PREFIX, __VA_ARGS__)
#define CHIME_NVSHMEM_SINGLE(RESULT, PREFIX, ...) \
  CHIME_STAMP(CHIME_SINGLE_FORM, RESULT, CHIME_NVSHMEM_##PREFIX, __VA_ARGS__)
#define CHIME_NVSHMEM_TRANSFER(RESULT, PREFIX, ...) \
  CHIME_TRANSFER_FORMS(RESULT, nvshmemx_, __VA_ARGS__)
#define CHIME_NVSHMEM_MEETING(RESULT, PREFIX, ...) \
  CHIME_MEETING_FORMS(RESULT, nvshmemx_, __VA_ARGS__)
#define CHIME_NVSHMEM_STREAM(RESULT, PREFIX, ...) \
  CHIME_STAMP(CHIME_HOST_FORM, RESULT, CHIME_NVSHMEM_##PREFIX, __VA_ARGS__)
CHIME_FOR_UNTYPED_THREAD_OPERATIONS(CHIME_NVSHMEM_THREAD)
CHIME_FOR_SIZED_TRANSFERS(CHIME_NVSHMEM_SINGLE)
CHIME_FOR_UNTYPED_GROUP_MEETINGS(CHIME_NVSHMEM_SINGLE)
CHIME_FOR_SIZED_TRANSFERS(CHIME_NVSHMEM_TRANSFER)
CHIME_COLLECTIVE_ROWS(CHIME_NVSHMEM_MEETING)
CHIME_COLLECTIVE_MEM_ROWS(CHIME_NVSHMEM_MEETING)
CHIME_FOR_SIZED_STREAM_OPERATIONS(CHIME_NVSHMEM_STREAM)
CHIME_NVSHMEM_COUNTED_ROWS(CHIME_NVSHMEM_THREAD)
CHIME_NVSHMEM_FLUSH_ROWS(CHIME_NVSHMEM_SINGLE)
CHIME_NVSHMEM_FLUSH_ROWS(CHIME_NVSHMEM_MEETING)

// nvshmem_barrier by four warps of a block (chime::Warpgroup in chime/device/group.cuh says which).
// As for other groups, one call at a time for each PE and team.
CHIME_MEETING_FORM(nvshmemx_, _warpgroup, Warpgroup, int, barrier, (nvshmem_team_t team),
                   team_barrier, (team))

// As chimex_double2_maxloc_reduce_block, of double2.
template <class Pair = chimex_double2_t>
CHIME_DEVICE int nvshmemx_double2_maxloc_reduce_block(nvshmem_team_t team, Pair* dst,
                                                      const Pair* src, size_t n) {
  static_assert(sizeof(Pair) == sizeof(chimex_double2_t));
  return chimex_double2_maxloc_reduce_block(team, reinterpret_cast<chimex_double2_t*>(dst),
                                            reinterpret_cast<const chimex_double2_t*>(src), n);
}
#undef CHIME_NVSHMEM_THREAD
#undef CHIME_NVSHMEM_SINGLE
#undef CHIME_NVSHMEM_TRANSFER
#undef CHIME_NVSHMEM_MEETING
#undef CHIME_NVSHMEM_STREAM

// As chime_global_exit. In a kernel it ends the calling thread at once, and the job when the PE's
// host looks, which it does soon (chime::global_exit).
[[maybe_unused]] static CHIME_HOST_DEVICE void nvshmem_global_exit(int status) {
  CHIME_IF_DEVICE(chime::global_exit(chime::self(), status), chime_global_exit(status));
}

// NVSHMEM_MAJOR_VERSION, ...
[[maybe_unused]] static CHIME_HOST_DEVICE void nvshmem_info_get_version(int* major, int* minor) {
  if (major != nullptr) *major = NVSHMEM_MAJOR_VERSION;
  if (minor != nullptr) *minor = NVSHMEM_MINOR_VERSION;
}
[[maybe_unused]] static CHIME_HOST_DEVICE void nvshmemx_vendor_get_version_info(int* major,
                                                                                int* minor,
                                                                                int* patch) {
  if (major != nullptr) *major = NVSHMEM_VENDOR_MAJOR_VERSION;
  if (minor != nullptr) *minor = NVSHMEM_VENDOR_MINOR_VERSION;
  if (patch != nullptr) *patch = NVSHMEM_VENDOR_PATCH_VERSION;
}

// Chime's name, its version and NVSHMEM's, in less than NVSHMEM_MAX_NAME_LEN bytes.
[[maybe_unused]] static CHIME_HOST_DEVICE void nvshmem_info_get_name(char* name) {
  chime::nvshmem::write_name(name);
}

// The address by which a store reaches `ptr` on all PEs of `team` at once: null, because Chime has
// no multicast memory.
[[maybe_unused]] static CHIME_HOST_DEVICE void* nvshmemx_mc_ptr(nvshmem_team_t, const void*) {
  return nullptr;
}

#ifndef __CUDACC_RTC__  // only the host launches kernels

// `*gridsize`: the most blocks of such a launch that can run at once; 0 if not one fits. Does not
// depend on `arguments`. Asks only this PE's device.
inline int nvshmemx_collective_launch_query_gridsize(const void* kernel, chime::exec::dim3 block,
                                                     void** /*arguments*/, size_t shared_bytes,
                                                     int* gridsize) {
  if (gridsize == nullptr) return NVSHMEMX_ERROR_INVALID_VALUE;
  // The query needs no parameters and does not call the kernel.
  const auto any = reinterpret_cast<void (*)()>(const_cast<void*>(kernel));
  const int threads = static_cast<int>(block.x * block.y * block.z);
  return chime::exec::max_cooperative_blocks(any, threads, shared_bytes, gridsize);
}

namespace chime::nvshmem {

// Replaces a grid of no blocks by the largest possible one.
inline exec::dim3 grid_or_largest(exec::dim3 grid, const void* kernel, exec::dim3 block,
                                  std::size_t shared_bytes) {
  if (grid.x != 0 || grid.y != 0 || grid.z != 0) return grid;
  int most = 0;
  nvshmemx_collective_launch_query_gridsize(kernel, block, nullptr, shared_bytes, &most);
  return exec::dim3(static_cast<unsigned>(most));
}

}  // namespace chime::nvshmem

// As chimex_collective_launch (chime/device/coll/collective_launch.cuh); a grid of 0, 0, 0 is the
// largest that this PE's device can run at once.
inline int nvshmemx_collective_launch(const void* kernel, chime::exec::dim3 grid,
                                      chime::exec::dim3 block, void** arguments,
                                      size_t shared_bytes, chimex_stream_t stream) {
  return chimex_collective_launch(
      kernel, chime::nvshmem::grid_or_largest(grid, kernel, block, shared_bytes), block, arguments,
      shared_bytes, stream);
}

// The attributes of a launch. On the CPU device cuda_config is a struct with the members of CUDA's,
// which takes no attributes; begin with {}.
typedef struct nvshmemx_collective_launch_attr {
  chime::exec::NativeLaunchConfig cuda_config;
} nvshmemx_collective_launch_attr_t;

// As nvshmemx_collective_launch. The program's own attribute "cooperative" counts.
inline int nvshmemx_collective_launch_attr(const nvshmemx_collective_launch_attr_t* attr,
                                           const void* kernel, void** arguments) {
  if (attr == nullptr) return NVSHMEMX_ERROR_INVALID_VALUE;
  chime::exec::NativeLaunchConfig config = attr->cuda_config;
  config.gridDim = chime::nvshmem::grid_or_largest(config.gridDim, kernel, config.blockDim,
                                                   config.dynamicSmemBytes);
  return chime::exec::launch_cooperative(config, kernel, arguments);
}

#endif

#endif

// ---- The families, by names with a type: each is a macro of one identifier ----------------------

#include "compat/nvshmem_names.h"
#endif  // CHIME_COMPAT_NVSHMEM_H_
