// The spec-named host functions for set-up, exit, query and memory: each is one guarded call.
#include <cstring>
#include <mutex>

#define CHIME_HOST_ONLY
#include "bootstrap/tcp.hpp"
#include "chime/chime.h"
#include "host/errors/async_error.hpp"
#include "host/errors/error.hpp"
#include "host/errors/guard.hpp"
#include "host/errors/step.hpp"
#include "host/memory/memory.hpp"
#include "host/pe/config.hpp"
#include "host/pe/init.hpp"
#include "host/pe/leave.hpp"

namespace bootstrap = chime::bootstrap;
using namespace chime::host;  // NOLINT: this file only forwards into it

namespace {

constexpr int kInitAttrVersion = chimex_init_attr_t CHIMEX_INIT_ATTR_INITIALIZER.version;

bootstrap::Settings bootstrap_settings(const Settings& settings) {
  return {settings.bootstrap_kind, settings.bootstrap_interface,
          std::chrono::milliseconds(settings.init_timeout_ns / 1'000'000)};
}

void check_unique_id_arguments(int my_pe, int n_pes) {
  if (n_pes < 1 || my_pe < 0 || my_pe >= n_pes)
    throw Error("setup", CHIMEX_ERR_INVALID,
                fmt::format("there is no PE {} among {} PEs; chimex_set_attr_uniqueid_args takes "
                            "this PE's number, from 0, and how many there are",
                            my_pe, n_pes));
}

template <class T>
T& not_null(T* pointer, const char* name) {
  if (pointer) return *pointer;
  throw Error("setup", CHIMEX_ERR_INVALID, fmt::format("the argument {} is null", name));
}

void warn_of_unknown_variables() {
  static std::once_flag once;
  std::call_once(once, [] {
    for (const std::string& warning : unknown_variable_warnings(process_environment_names()))
      log(LogLevel::kWarn, -1, "{}", warning);
  });
}

// By one PE for all: they mostly have the same environment.
void hint_at_counterparts(const bootstrap::Bootstrap& job) {
  static std::once_flag once;
  if (job.rank() != 0) return;
  std::call_once(once, [] {
    for (const std::string& hint : counterpart_hints(process_environment_names()))
      log(LogLevel::kWarn, 0, "{}", hint);
  });
}

// By one PE for all: they have the same, or are told so.
void tell_of_raised_size(const Settings& settings, const bootstrap::Bootstrap& job) {
  if (settings.symmetric_is_raised && job.rank() == 0)
    log(LogLevel::kWarn, 0, "CHIME_SYMMETRIC_SIZE is below the least size; each heap has {} bytes",
        settings.symmetric_bytes);
}

void join(const Settings& settings, std::unique_ptr<bootstrap::Bootstrap> job,
          DeviceStageTime when) {
  hint_at_counterparts(*job);
  tell_of_raised_size(settings, *job);
  join_job(settings, std::move(job), when);
}

// For a PE that is about to join.
Settings settings_of_new_pe(const Lookup& lookup) {
  Settings settings = read_settings(lookup);
  set_log_level(settings.log_level);
  warn_of_unknown_variables();
  forget_failed_join();
  return settings;
}

// A failure is what later calls are told.
template <class Join>
void attempt(Join join) {
  throw_if_child_of_pes();
  try {
    join();
    forget_failed_init();
  } catch (const std::exception& error) {
    keep_failed_init(error.what());
    throw;
  }
}

// How a PE is to come up.
struct Start {
  Lookup lookup = process_environment;  // of its settings
  DeviceStageTime when = DeviceStageTime::kWhenChosen;
};

void join_with_launcher(const Start& start) {
  Settings settings = settings_of_new_pe(start.lookup);
  join(settings, bootstrap::make_bootstrap(bootstrap_settings(settings)), start.when);
}

void init_with_launcher(const Start& start) {
  if (!current_slot()) attempt([&] { join_with_launcher(start); });
}

// A thread may become a PE beside others of its process.
void join_with_unique_id(const chimex_init_attr_t& attr, const Start& start) {
  if (attr.version != kInitAttrVersion)
    throw Error("setup", CHIMEX_ERR_INVALID,
                fmt::format("attr has version {}, this library knows {}; fill attr with "
                            "chimex_set_attr_uniqueid_args",
                            attr.version, kInitAttrVersion));
  check_unique_id_arguments(attr.my_pe, attr.n_pes);
  Settings settings = settings_of_new_pe(start.lookup);
  join(settings,
       bootstrap::join_unique_id(attr.uniqueid, attr.my_pe, attr.n_pes,
                                 bootstrap_settings(settings)),
       start.when);
}

void init_with_unique_id(const chimex_init_attr_t& attr, const Start& start) {
  if (!bound_slot_of_thread()) attempt([&] { join_with_unique_id(attr, start); });
}

void init_as(unsigned flags, const chimex_init_attr_t* attr, const chimex_config_t* config) {
  const bool is_put_off = flags & CHIMEX_INIT_DEFER_DEVICE;
  const Start start = {lookup_of(config),
                       is_put_off ? DeviceStageTime::kFirstUse : DeviceStageTime::kWhenChosen};
  switch (flags & ~static_cast<unsigned>(CHIMEX_INIT_DEFER_DEVICE)) {
    case CHIMEX_INIT_WITH_LAUNCHER:
      return init_with_launcher(start);
    case CHIMEX_INIT_WITH_UNIQUEID:
      return init_with_unique_id(not_null(attr, "attr"), start);
  }
  throw Error("setup", CHIMEX_ERR_INVALID,
              fmt::format("there are no flags {}; use CHIMEX_INIT_WITH_LAUNCHER or "
                          "CHIMEX_INIT_WITH_UNIQUEID, and CHIMEX_INIT_DEFER_DEVICE with either",
                          flags));
}

// -1 where there is no PE, and after an error.
int node_number(const char* function, int bootstrap::NodeInfo::*number) {
  int found = -1;
  if (!current_slot()) return found;
  guarded(function, [&] {
    found =
        step("finding the node's PEs", [&] { return current_runtime().bootstrap->node().*number; });
  });
  return found;
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
  guarded("chime_init", [] { init_with_launcher({}); });
}

int chime_init_thread(int, int* provided) {
  if (provided) *provided = CHIME_THREAD_MULTIPLE;
  return status_of("chime_init_thread", [] { init_with_launcher({}); });
}

int chimex_get_uniqueid(chimex_uniqueid_t* uid) {
  return status_of("chimex_get_uniqueid", [&] {
    throw_if_child_of_pes();
    not_null(uid, "uid") = bootstrap::create_unique_id(read_settings().bootstrap_interface);
  });
}

int chimex_set_attr_uniqueid_args(int my_pe, int n_pes, const chimex_uniqueid_t* uid,
                                  chimex_init_attr_t* attr) {
  return status_of("chimex_set_attr_uniqueid_args", [&] {
    check_unique_id_arguments(my_pe, n_pes);
    not_null(attr, "attr") = {kInitAttrVersion, my_pe, n_pes, not_null(uid, "uid")};
  });
}

int chimex_init_attr(unsigned flags, const chimex_init_attr_t* attr) {
  return status_of("chimex_init_attr", [&] { init_as(flags, attr, nullptr); });
}

int chimex_init_config(unsigned flags, const chimex_init_attr_t* attr,
                       const chimex_config_t* config) {
  return status_of("chimex_init_config", [&] { init_as(flags, attr, config); });
}

int chimex_init_device(void) {
  return status_of("chimex_init_device", [] { ready_runtime(); });
}

void chime_query_thread(int* provided) {
  guarded("chime_query_thread", [&] { not_null(provided, "provided") = CHIME_THREAD_MULTIPLE; });
}

void chime_finalize(void) { guarded("chime_finalize", finalize_current); }

void chime_global_exit(int status) {
  guarded("chime_global_exit", [&] {
    if (!current_slot()) current_runtime();  // throws: there is no PE to end
    end_job(status, fmt::format("it called chime_global_exit({})", status));
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

int chimex_buffer_unregister_all(void) {
  return status_of("chimex_buffer_unregister_all",
                   [] { ready_runtime().device->registered_buffers.remove_all(); });
}

}  // extern "C"
