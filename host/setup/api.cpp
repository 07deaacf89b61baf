// The spec-named host functions for set-up and exit: each is one guarded call. The functions for
// queries and memory are in host/ops/api.cpp.
#include <fmt/format.h>

#define CHIME_HOST_ONLY
#include "chime/chime.h"
#include "host/errors/error.hpp"
#include "host/pe/device_state_registry.hpp"
#include "host/pe/end.hpp"
#include "host/pe/pe.hpp"
#include "host/report/async_error.hpp"
#include "host/report/guard.hpp"
#include "host/settings/spelling.hpp"
#include "host/setup/leave.hpp"
#include "host/setup/setup.hpp"

using namespace chime::host;  // NOLINT: this file only forwards into it

namespace {

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

}  // namespace

extern "C" {

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
  return tell_module("chimex_cumodule_init", device_state_registry::init_module,
                     ModuleKind::kModule, module);
}

int chimex_cumodule_finalize(chimex_cumodule_t module) {
  return tell_module("chimex_cumodule_finalize", device_state_registry::finalize_module,
                     ModuleKind::kModule, module);
}

int chimex_culibrary_init(chimex_culibrary_t library) {
  return tell_module("chimex_culibrary_init", device_state_registry::init_module,
                     ModuleKind::kLibrary, library);
}

int chimex_culibrary_finalize(chimex_culibrary_t library) {
  return tell_module("chimex_culibrary_finalize", device_state_registry::finalize_module,
                     ModuleKind::kLibrary, library);
}

void chime_query_thread(int* provided) {
  guarded("chime_query_thread", [&] { not_null(provided, "provided") = CHIME_THREAD_MULTIPLE; });
}

// An error may come back when the PE has left, and its settings with it: they are asked before.
void chime_finalize(void) {
  const chime::OnError on_error = behaviour();
  const chime::simt::HostCall call("chime_finalize", current_slot());
  try {
    finalize_current();
  } catch (...) {
    handle_current_exception("chime_finalize", on_error);
  }
}

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

int chimex_pe_bind(int pe) {
  return status_of("chimex_pe_bind", [&] { bind_thread(pe); });
}

}  // extern "C"
