// NVSHMEM's host functions by its own names, which are no rows of families.h. Most are Chime's of
// the same name (include/compat/host_rows.h); functions that take NVSHMEM's structs are here. The
// functions of the rows are in host/ops/c_api.cpp.
#include <fmt/format.h>

#include <atomic>
#include <cstring>

#define CHIME_HOST_ONLY
#include "compat/host_rows.h"
#include "compat/nvshmem.h"
#include "host/errors/error.hpp"
#include "host/ops/memory/register_symmetric.hpp"
#include "host/ops/teams/teams.hpp"
#include "host/pe/pe.hpp"
#include "host/pe/runtime.hpp"
#include "host/report/guard.hpp"
#include "host/settings/spelling.hpp"
#include "host/setup/nvshmem_variables.hpp"
#include "host/setup/setup.hpp"

using namespace chime::host;  // NOLINT: this file only forwards into it

namespace {

// The attr whose arguments name a device; those before have no such member.
constexpr int kAttrVersion = nvshmemx_init_attr_t NVSHMEMX_INIT_ATTR_INITIALIZER.version;
constexpr int kArgsVersion = nvshmemx_init_args_t NVSHMEMX_INIT_ARGS_V2_INITIALIZER.version;

static_assert(sizeof(nvshmemx_uniqueid_t::internal) == sizeof(chimex_uniqueid_t::internal));

// The same bytes under the version of either.
chimex_uniqueid_t chimes(const nvshmemx_uniqueid_t& uid) {
  chimex_uniqueid_t id = CHIMEX_UNIQUEID_INITIALIZER;
  std::memcpy(id.internal, uid.internal, sizeof(id.internal));
  return id;
}
nvshmemx_uniqueid_t nvshmems(const chimex_uniqueid_t& id) {
  nvshmemx_uniqueid_t uid = NVSHMEMX_UNIQUEID_INITIALIZER;
  std::memcpy(uid.internal, id.internal, sizeof(uid.internal));
  return uid;
}

[[noreturn]] void refuse_flag(const char* flag, const char* instead) {
  throw Error("setup", CHIMEX_ERR_UNSUPPORTED, fmt::format("{}; {}", flag, instead));
}

void check_flags(unsigned int flags) {
  constexpr unsigned kMeans = NVSHMEMX_INIT_WITH_MPI_COMM | NVSHMEMX_INIT_WITH_UNIQUEID;
  if (flags & NVSHMEMX_INIT_WITH_SHMEM)
    refuse_flag(
        "NVSHMEMX_INIT_WITH_SHMEM: Chime takes its PEs from no OpenSHMEM",
        "call nvshmem_init under a launcher (chime-run, mpirun, srun --mpi=pmix), or make a "
        "unique id on one PE (nvshmemx_get_uniqueid), send it to the others by OpenSHMEM "
        "and use NVSHMEMX_INIT_WITH_UNIQUEID");
  if (flags & NVSHMEMX_INIT_THREAD_PES)
    refuse_flag("NVSHMEMX_INIT_THREAD_PES is not needed",
                "threads of one process that use NVSHMEMX_INIT_WITH_UNIQUEID become a PE each");
  if (flags & ~kMeans)
    throw Error("setup", CHIMEX_ERR_INVALID,
                fmt::format("there are no flags {:#x}", flags & ~kMeans));
  if (flags == kMeans)
    throw Error("setup", CHIMEX_ERR_INVALID,
                "a unique id and an MPI communicator are two jobs; use one of them");
}

// The device that attr names if it has the member: version 1 has none. Beside a communicator,
// programs leave the rest of attr as it was, uninitialised too: there both versions must be right.
int cuda_device_of(unsigned int flags, const nvshmemx_init_attr_t* attr) {
  if (!attr || attr->args.version != kArgsVersion) return kAnyCudaDevice;
  if (flags & NVSHMEMX_INIT_WITH_MPI_COMM && attr->version != kAttrVersion) return kAnyCudaDevice;
  return attr->args.cuda_device_id;
}
static_assert(nvshmemx_init_args_t NVSHMEMX_INIT_ARGS_V2_INITIALIZER.cuda_device_id ==
              kAnyCudaDevice);

const nvshmemx_uniqueid_args_t& arguments_of(const nvshmemx_init_attr_t* attr) {
  if (attr && attr->args.uid_args.id) return attr->args.uid_args;
  throw Error("setup", CHIMEX_ERR_INVALID,
              "NVSHMEMX_INIT_WITH_UNIQUEID needs an attr that names a unique id; fill it by "
              "nvshmemx_set_attr_uniqueid_args");
}

void init_with_mpi(const nvshmemx_init_attr_t* attr, const Source& source, int cuda_device) {
  if (!attr)
    throw Error("setup", CHIMEX_ERR_INVALID,
                "NVSHMEMX_INIT_WITH_MPI_COMM needs an attr that names a communicator: "
                "attr.mpi_comm = &comm, or nvshmemx_set_attr_mpi_comm_args(&comm, &attr)");
  init_with_mpi_comm(attr->mpi_comm, source, cuda_device);
}

// Versions 1 and 2 of attr have the unique id's arguments at the same place.
void init_by_nvshmems(unsigned int flags, const nvshmemx_init_attr_t* attr) {
  expect_nvshmem();
  check_flags(flags);
  const int cuda_device = cuda_device_of(flags, attr);
  const Source source = environment_of_nvshmem();
  if (flags & NVSHMEMX_INIT_WITH_MPI_COMM) return init_with_mpi(attr, source, cuda_device);
  if (!(flags & NVSHMEMX_INIT_WITH_UNIQUEID))
    return init_as(CHIMEX_INIT_WITH_LAUNCHER, nullptr, source, cuda_device);
  const nvshmemx_uniqueid_args_t& arguments = arguments_of(attr);
  const chimex_init_attr_t filled =
      attr_of_unique_id(arguments.myrank, arguments.nranks, chimes(*arguments.id));
  init_as(CHIMEX_INIT_WITH_UNIQUEID, &filled, source, cuda_device);
}

void check_hints(std::uint32_t hints) {
  if (const std::uint32_t unknown = hints & ~std::uint32_t{NVSHMEMX_REGION_HINT_BATCH_RMA})
    throw Error("", CHIMEX_ERR_INVALID,
                fmt::format("there is no hint {:#x}; NVSHMEMX_REGION_HINT_* are", unknown));
}

// Its number, never 0, above its hints.
constexpr int kHintBits = 8;
std::uint64_t handle_of_new_region(std::uint32_t hints) {
  static std::atomic<std::uint64_t> last{0};
  return (last.fetch_add(1) + 1) << kHintBits | hints;
}
std::uint32_t hints_of_region(std::uint64_t handle) {
  return static_cast<std::uint32_t>(handle & ((1u << kHintBits) - 1));
}

// As the mask says; NVSHMEM's config asks for -1 contexts where it asks for none.
TeamRequest request_of(const nvshmem_team_config_t* config, long mask, const char* missing_place) {
  if (missing_place != nullptr)
    return {.refusal = std::make_exception_ptr(Error(
                "", CHIMEX_ERR_INVALID, fmt::format("the argument {} is null", missing_place)))};
  const bool asks = config != nullptr && (mask & NVSHMEM_TEAM_CONFIG_MASK_NUM_CONTEXTS) != 0;
  return {.num_contexts = asks && config->num_contexts > 0 ? config->num_contexts : 0};
}

// The id of a team: of the config, as its mask says.
std::uint64_t id_in(const nvshmem_team_config_t* config, long mask) {
  const bool has_id = config != nullptr && (mask & NVSHMEM_TEAM_CONFIG_MASK_UNIQUEID) != 0 &&
                      config->uniqueid != NVSHMEM_TEAM_UNIQUID_INITIALIZER;
  if (!has_id)
    throw Error("", CHIMEX_ERR_INVALID,
                "the config has no unique id that the mask names; nvshmemx_team_get_uniqueid makes "
                "one");
  return config->uniqueid;
}

}  // namespace

extern "C" {

void nvshmem_init(void) {
  guarded("nvshmem_init", [] { init_by_nvshmems(0, nullptr); });
}

int nvshmem_init_thread(int, int* provided) {
  if (provided) *provided = NVSHMEM_THREAD_MULTIPLE;
  return status_of("nvshmem_init_thread", [] { init_by_nvshmems(0, nullptr); });
}

int nvshmemx_get_uniqueid(nvshmemx_uniqueid_t* uid) {
  return status_of("nvshmemx_get_uniqueid", [&] {
    if (!uid) throw Error("setup", CHIMEX_ERR_INVALID, "the argument uid is null");
    *uid = nvshmems(new_unique_id(environment_of_nvshmem()));
  });
}

int nvshmemx_set_attr_uniqueid_args(int my_pe, int n_pes, const nvshmemx_uniqueid_t* uid,
                                    nvshmemx_init_attr_t* attr) {
  expect_nvshmem();
  chimex_uniqueid_t id = uid ? chimes(*uid) : chimex_uniqueid_t CHIMEX_UNIQUEID_INITIALIZER;
  chimex_init_attr_t checked = CHIMEX_INIT_ATTR_INITIALIZER;
  const int status =
      chimex_set_attr_uniqueid_args(my_pe, n_pes, uid ? &id : nullptr, attr ? &checked : nullptr);
  if (status != CHIMEX_OK) return status;
  attr->args.uid_args.id = const_cast<nvshmemx_uniqueid_t*>(uid);
  attr->args.uid_args.myrank = my_pe;
  attr->args.uid_args.nranks = n_pes;
  return CHIMEX_OK;
}

int nvshmemx_set_attr_mpi_comm_args(void* mpi_comm, nvshmemx_init_attr_t* attr) {
  return status_of("nvshmemx_set_attr_mpi_comm_args", [&] {
    if (!attr) throw Error("setup", CHIMEX_ERR_INVALID, "the argument attr is null");
    attr->mpi_comm = mpi_comm;
  });
}

int nvshmemx_init_attr(unsigned int flags, nvshmemx_init_attr_t* attr) {
  return status_of("nvshmemx_init_attr", [&] { init_by_nvshmems(flags, attr); });
}

int nvshmemx_hostlib_init_attr(unsigned int flags, nvshmemx_init_attr_t* attr) {
  return status_of("nvshmemx_hostlib_init_attr", [&] { init_by_nvshmems(flags, attr); });
}

void nvshmem_team_get_config(nvshmem_team_t team, nvshmem_team_config_t* config) {
  guarded("nvshmem_team_get_config", [=] {
    current_runtime();
    if (team == NVSHMEM_TEAM_INVALID) return;
    const int contexts = contexts_of(team);
    if (!config) throw Error("", CHIMEX_ERR_INVALID, "the argument config is null");
    *config = NVSHMEM_TEAM_CONFIG_INITIALIZER;
    config->num_contexts = contexts;
  });
}

int nvshmem_team_split_strided(nvshmem_team_t parent, int start, int stride, int size,
                               const nvshmem_team_config_t* config, long mask,
                               nvshmem_team_t* new_team) {
  if (new_team) *new_team = NVSHMEM_TEAM_INVALID;
  return status_of("nvshmem_team_split_strided", [=] {
    *new_team = split_strided(parent, {start, stride, size},
                              request_of(config, mask, new_team ? nullptr : "new_team"));
  });
}

int nvshmem_team_split_2d(nvshmem_team_t parent, int xrange,
                          const nvshmem_team_config_t* xaxis_config, long xaxis_mask,
                          nvshmem_team_t* xaxis_team, const nvshmem_team_config_t* yaxis_config,
                          long yaxis_mask, nvshmem_team_t* yaxis_team) {
  if (xaxis_team) *xaxis_team = NVSHMEM_TEAM_INVALID;
  if (yaxis_team) *yaxis_team = NVSHMEM_TEAM_INVALID;
  return status_of("nvshmem_team_split_2d", [=] {
    const RowAndColumn made = split_2d(
        parent, xrange, request_of(xaxis_config, xaxis_mask, xaxis_team ? nullptr : "xaxis_team"),
        request_of(yaxis_config, yaxis_mask, yaxis_team ? nullptr : "yaxis_team"));
    *xaxis_team = made.x;
    *yaxis_team = made.y;
  });
}

int nvshmemx_team_init(nvshmem_team_t* team, nvshmem_team_config_t* config, long mask, int n_pes,
                       int my_pe) {
  if (team) *team = NVSHMEM_TEAM_INVALID;
  return status_of("nvshmemx_team_init", [=] {
    if (!team) throw Error("", CHIMEX_ERR_INVALID, "the argument team is null");
    *team = team_by_id(id_in(config, mask), n_pes, my_pe,
                       request_of(config, mask, nullptr).num_contexts);
  });
}

int nvshmemx_team_get_uniqueid(nvshmemx_team_uniqueid_t* uid) {
  return status_of("nvshmemx_team_get_uniqueid", [=] {
    if (!uid) throw Error("", CHIMEX_ERR_INVALID, "the argument uid is null");
    *uid = make_team_id(current_runtime());
  });
}

void* nvshmemx_buffer_register_symmetric_at_preferred_address(void* buffer, size_t size, void*,
                                                              int flags) {
  return guarded("nvshmemx_buffer_register_symmetric_at_preferred_address",
                 [&] { return collective_register(buffer, size, flags); });
}

void nvshmem_team_destroy(nvshmem_team_t team) {
  guarded("nvshmem_team_destroy", [=] { destroy_team(team); });
}

int nvshmemx_region_start(nvshmemx_region_handle_t* handle, const nvshmemx_region_attrs_t* attrs) {
  return status_of("nvshmemx_region_start", [=] {
    Runtime& runtime = current_runtime();
    const std::uint32_t hints = attrs ? attrs->hints : 0;
    if (!handle) throw Error("", CHIMEX_ERR_INVALID, "the argument handle is null");
    check_hints(hints);
    const std::uint64_t name = handle_of_new_region(hints);
    std::uint64_t open = 0;
    if (!runtime.nvshmem_region.compare_exchange_strong(open, name))
      throw Error("", CHIMEX_ERR_INVALID,
                  fmt::format("the region {:#x} is open; end it by nvshmemx_region_stop", open));
    *handle = name;
  });
}

int nvshmemx_region_stop(nvshmemx_region_handle_t handle) {
  return status_of("nvshmemx_region_stop", [=] {
    std::uint64_t open = handle;
    if (handle == 0 || !current_runtime().nvshmem_region.compare_exchange_strong(open, 0))
      throw Error("", CHIMEX_ERR_INVALID,
                  fmt::format("{:#x} is no region that is open; end what nvshmemx_region_start "
                              "has named",
                              handle));
  });
}

int chime_host_region_is_active(std::uint32_t hints, int* active) {
  return status_of("nvshmemx_region_is_active", [=] {
    const std::uint64_t open = current_runtime().nvshmem_region.load();
    if (!active) throw Error("", CHIMEX_ERR_INVALID, "the argument active is null");
    check_hints(hints);
    *active = open != 0 && (hints_of_region(open) & hints) == hints;
  });
}

int nvshmemx_region_is_active(std::uint32_t hints, int* active) {
  return chime_host_region_is_active(hints, active);
}

int nvshmemx_ask_smem(nvshmemx_smem_amount_t) { return 0; }

void nvshmem_global_exit(int status) {
  expect_nvshmem();
  chime_global_exit(status);
}

void nvshmem_info_get_version(int* major, int* minor) {
  if (major) *major = NVSHMEM_MAJOR_VERSION;
  if (minor) *minor = NVSHMEM_MINOR_VERSION;
}

// Programs look for NVSHMEM's version in it. The same text as in kernels (compat/nvshmem.h).
void nvshmem_info_get_name(char* name) {
  chime_info_get_name(name);
  if (name == nullptr) return;
  const std::size_t length = std::strlen(name);
  fmt::format_to_n(name + length, CHIME_MAX_NAME_LEN - 1 - length, ", NVSHMEM v{}.{}.{}",
                   NVSHMEM_VENDOR_MAJOR_VERSION, NVSHMEM_VENDOR_MINOR_VERSION,
                   NVSHMEM_VENDOR_PATCH_VERSION);
}

void* nvshmemx_mc_ptr(nvshmem_team_t, const void*) { return nullptr; }

void nvshmemx_vendor_get_version_info(int* major, int* minor, int* patch) {
  if (major) *major = NVSHMEM_VENDOR_MAJOR_VERSION;
  if (minor) *minor = NVSHMEM_VENDOR_MINOR_VERSION;
  if (patch) *patch = NVSHMEM_VENDOR_PATCH_VERSION;
}

#define CHIME_NVSHMEM_DEFINITION(RESULT, NAME, PARAMETERS, ARGUMENTS, CALLED) \
  RESULT NAME PARAMETERS {                                                    \
    expect_nvshmem();                                                         \
    return static_cast<RESULT>(CALLED ARGUMENTS);                             \
  }
CHIME_NVSHMEM_HOST_ROWS(CHIME_NVSHMEM_DEFINITION)
#undef CHIME_NVSHMEM_DEFINITION

#define CHIME_NVSHMEM_ROW(RESULT, PREFIX, STEM, PARAMETERS, TEMPLATE, ARGUMENTS, CALL) \
  RESULT nvshmemx_##STEM PARAMETERS { return static_cast<RESULT>(CALL); }
CHIME_NVSHMEM_FLUSH_ROWS(CHIME_NVSHMEM_ROW)
CHIME_NVSHMEM_COUNTED_ROWS(CHIME_NVSHMEM_ROW)
#undef CHIME_NVSHMEM_ROW

}  // extern "C"
