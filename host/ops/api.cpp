// The spec-named host functions for set-up, exit, query and memory: each is one guarded call.
#include <cstring>

#define CHIME_HOST_ONLY
#include "chime/chime.h"
#include "host/errors/error.hpp"
#include "host/errors/step.hpp"
#include "host/memory/memory.hpp"
#include "host/memory/symmetric/register_symmetric.hpp"
#include "host/ops/tu_registry.hpp"
#include "host/pe/init.hpp"
#include "host/pe/leave.hpp"
#include "host/report/async_error.hpp"
#include "host/report/guard.hpp"
#include "host/settings/spelling.hpp"
#include "host/setup/setup.hpp"

namespace bootstrap = chime::bootstrap;
using namespace chime::host;  // NOLINT: this file only forwards into it

namespace {

template <class T>
T& not_null(T* pointer, const char* name) {
  if (pointer) return *pointer;
  throw Error("setup", CHIMEX_ERR_INVALID, fmt::format("the argument {} is null", name));
}

// -1 where there is no PE, and after an error.
int node_number(const char* function, int bootstrap::NodeInfo::*number) {
  int found = -1;
  if (!current_slot()) return found;
  guarded(function, [&] {
    const Runtime& runtime = current_runtime();
    found = step("finding the node's PEs", [&] { return runtime.bootstrap->node().*number; });
  });
  return found;
}

Gpu& gpu_with_modules() {
  Gpu& gpu = *ready_runtime().device->gpu;
  if (!gpu.is_cpu()) return gpu;
  throw Error("CPU device", CHIMEX_ERR_UNSUPPORTED,
              "modules are loaded on GPUs, and this PE's kernels run on the CPU, where they are "
              "functions of the program; for a GPU set CHIME_DEVICE=cuda");
}

using ModuleKind = ProgramModule::Kind;

int tell_module(const char* function, void (*tell)(const ProgramModule&, Gpu&), ModuleKind kind,
                void* handle) {
  return status_of(function, [=] {
    if (!handle)
      throw Error("", CHIMEX_ERR_INVALID,
                  "the module is null; give what cuModuleLoadData or cuLibraryLoadData has loaded");
    tell({kind, handle}, gpu_with_modules());
  });
}

void finalize_current() {
  current_runtime();
  leave_job(*current_slot());
}

chimex_status status_of_peer(const Runtime& runtime, int pe) {
  if (pe < 0 || pe >= runtime.n_pes())
    throw Error(
        "", CHIMEX_ERR_INVALID,
        fmt::format("there is no PE {}; this job has PEs 0 to {}", pe, runtime.n_pes() - 1));
  const DeviceStage& device = *runtime.device;
  if (device.peers.is_dead(pe)) return CHIMEX_ERR_PEER_DEAD;
  const chime::Path path = device.peers.path(pe);
  if (path == chime::Path::kNone)  // of one that has died meanwhile, too
    return device.peers.is_dead(pe) ? CHIMEX_ERR_PEER_DEAD : CHIMEX_ERR_UNREACHABLE;
  for (const auto& transport : device.transports)
    if (transport->capabilities().path == path && transport->why_lost(pe))
      return CHIMEX_ERR_NETWORK;
  return CHIMEX_OK;
}

}  // namespace

extern "C" {

// ---- Setup and exit
// --------------------------------------------------------------------------------------------

void chime_init(void) {
  guarded("chime_init",
          [] { init_as(CHIMEX_INIT_WITH_LAUNCHER, nullptr, environment_of_chime()); });
}

int chime_init_thread(int, int* provided) {
  if (provided) *provided = CHIME_THREAD_MULTIPLE;
  return status_of("chime_init_thread",
                   [] { init_as(CHIMEX_INIT_WITH_LAUNCHER, nullptr, environment_of_chime()); });
}

int chimex_get_uniqueid(chimex_uniqueid_t* uid) {
  return status_of("chimex_get_uniqueid",
                   [&] { not_null(uid, "uid") = new_unique_id(environment_of_chime()); });
}

int chimex_set_attr_uniqueid_args(int my_pe, int n_pes, const chimex_uniqueid_t* uid,
                                  chimex_init_attr_t* attr) {
  return status_of("chimex_set_attr_uniqueid_args", [&] {
    not_null(attr, "attr") = attr_of_unique_id(my_pe, n_pes, not_null(uid, "uid"));
  });
}

int chimex_set_attr_mpi_comm_args(const void* mpi_comm, chimex_init_attr_t* attr) {
  return status_of("chimex_set_attr_mpi_comm_args", [&] {
    not_null(attr, "attr") = attr_of_mpi_comm(mpi_comm, environment_of_chime());
  });
}

int chimex_init_attr(unsigned flags, const chimex_init_attr_t* attr) {
  return status_of("chimex_init_attr", [&] { init_as(flags, attr, environment_of_chime()); });
}

int chimex_init_config(unsigned flags, const chimex_init_attr_t* attr,
                       const chimex_config_t* config) {
  return status_of("chimex_init_config",
                   [&] { init_as(flags, attr, environment_of_chime(config)); });
}

int chimex_init_device(void) {
  return status_of("chimex_init_device", [] { ready_runtime(); });
}

int chimex_cumodule_init(chimex_cumodule_t module) {
  return tell_module("chimex_cumodule_init", tu_registry::init_module, ModuleKind::kModule, module);
}

int chimex_cumodule_finalize(chimex_cumodule_t module) {
  return tell_module("chimex_cumodule_finalize", tu_registry::finalize_module, ModuleKind::kModule,
                     module);
}

int chimex_culibrary_init(chimex_culibrary_t library) {
  return tell_module("chimex_culibrary_init", tu_registry::init_module, ModuleKind::kLibrary,
                     library);
}

int chimex_culibrary_finalize(chimex_culibrary_t library) {
  return tell_module("chimex_culibrary_finalize", tu_registry::finalize_module,
                     ModuleKind::kLibrary, library);
}

void chime_query_thread(int* provided) {
  guarded("chime_query_thread", [&] { not_null(provided, "provided") = CHIME_THREAD_MULTIPLE; });
}

void chime_finalize(void) { guarded("chime_finalize", finalize_current); }

void chime_global_exit(int status) {
  guarded("chime_global_exit", [&] {
    if (!current_slot()) current_runtime();  // throws: there is no PE to end
    end_job(status, fmt::format("it called {}({})", spoken("chime_global_exit"), status));
  });
}

int chimex_init_status(void) {
  PeSlot* slot = current_slot();
  if (!slot) return pe_has_left() ? CHIMEX_STATUS_FINALIZED : CHIME_STATUS_NOT_INITIALIZED;
  return slot->is_ready.load(std::memory_order_acquire) ? CHIME_STATUS_IS_INITIALIZED
                                                        : CHIME_STATUS_IS_BOOTSTRAPPED;
}

int chimex_get_async_error(chimex_async_error_t* error) {
  return status_of("chimex_get_async_error", [&] {
    not_null(error, "error") = {CHIMEX_OK, -1, ""};
    current_runtime();
    auto found = find_async_error(*current_slot());
    if (!found) return;
    error->status = found->status;
    error->pe = found->pe;
    fmt::format_to_n(error->message, sizeof(error->message) - 1, "{}", found->message);
  });
}

int chimex_host_pe_status(int pe) {
  chimex_status known = CHIMEX_OK;
  const int status =
      status_of("chimex_pe_status", [&] { known = status_of_peer(ready_runtime(), pe); });
  return status != CHIMEX_OK ? status : known;
}

int chimex_pe_bind(int pe) {
  return status_of("chimex_pe_bind", [&] { bind_thread(pe); });
}

// ---- Query
// -----------------------------------------------------------------------------------------------------

int chimex_host_my_pe(void) { return current_pe_or_none(); }

int chimex_host_n_pes(void) {
  PeSlot* slot = current_slot();
  return slot ? slot->n_pes : -1;
}

int chimex_host_node_my_pe(void) {
  return node_number("chimex_node_my_pe", &bootstrap::NodeInfo::my_pe);
}

int chimex_host_node_n_pes(void) {
  return node_number("chimex_node_n_pes", &bootstrap::NodeInfo::n_pes);
}

void chime_info_get_version(int* major, int* minor) {
  guarded("chime_info_get_version", [&] {
    not_null(major, "major") = CHIME_SPEC_MAJOR;
    not_null(minor, "minor") = CHIME_SPEC_MINOR;
  });
}

void chime_info_get_name(char* name) {
  guarded("chime_info_get_name", [&] {
    std::memset(&not_null(name, "name"), 0, CHIME_MAX_NAME_LEN);
    fmt::format_to_n(name, CHIME_MAX_NAME_LEN - 1, "Chime {}.{}.{}", CHIME_VERSION_MAJOR,
                     CHIME_VERSION_MINOR, CHIME_VERSION_PATCH);
  });
}

void chimex_vendor_get_version_info(int* major, int* minor, int* patch) {
  guarded("chimex_vendor_get_version_info", [&] {
    not_null(major, "major") = CHIME_VERSION_MAJOR;
    not_null(minor, "minor") = CHIME_VERSION_MINOR;
    not_null(patch, "patch") = CHIME_VERSION_PATCH;
  });
}

// ---- Memory
// ----------------------------------------------------------------------------------------------------

void* chime_malloc(size_t size) {
  return guarded("chime_malloc", [&] { return collective_malloc(size); });
}

void* chime_calloc(size_t count, size_t size) {
  return guarded("chime_calloc", [&] { return collective_calloc(count, size); });
}

void* chime_align(size_t alignment, size_t size) {
  return guarded("chime_align", [&] { return collective_align(alignment, size); });
}

void chime_free(void* ptr) {
  guarded("chime_free", [&] { collective_free(ptr); });
}

int chimex_buffer_register(void* addr, size_t length) {
  return status_of("chimex_buffer_register", [&] {
    ready_runtime().device->registered_buffers.add(static_cast<std::byte*>(addr), length);
  });
}

int chimex_buffer_unregister(void* addr) {
  return status_of("chimex_buffer_unregister", [&] {
    ready_runtime().device->registered_buffers.remove(static_cast<const std::byte*>(addr));
  });
}

void* chimex_buffer_register_symmetric(void* buffer, size_t size, int flags) {
  return guarded("chimex_buffer_register_symmetric",
                 [&] { return collective_register(buffer, size, flags); });
}

int chimex_buffer_unregister_symmetric(void* address, size_t size) {
  return status_of("chimex_buffer_unregister_symmetric",
                   [&] { collective_unregister(address, size); });
}

int chimex_buffer_unregister_all(void) {
  return status_of("chimex_buffer_unregister_all",
                   [] { ready_runtime().device->registered_buffers.remove_all(); });
}

}  // extern "C"
