// The spec-named host functions for queries and memory: each is one guarded call. The functions of
// set-up and exit are in host/setup/api.cpp.
#include <cstring>

#define CHIME_HOST_ONLY
#include "chime/chime.h"
#include "host/errors/error.hpp"
#include "host/errors/step.hpp"
#include "host/ops/memory/memory.hpp"
#include "host/ops/memory/register_symmetric.hpp"
#include "host/pe/pe.hpp"
#include "host/report/error_words.hpp"
#include "host/report/guard.hpp"

namespace bootstrap = chime::bootstrap;
using namespace chime::host;  // NOLINT: this file only forwards into it

namespace {

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

chimex_status status_of_peer(const Runtime& runtime, int pe) {
  if (pe < 0 || pe >= runtime.n_pes()) throw Error("", CHIMEX_ERR_INVALID, no_such_pe(runtime, pe));
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

// ---- Query
// -----------------------------------------------------------------------------------------------------

int chimex_host_pe_status(int pe) {
  chimex_status known = CHIMEX_OK;
  const int status =
      status_of("chimex_pe_status", [&] { known = status_of_peer(ready_runtime(), pe); });
  return status != CHIMEX_OK ? status : known;
}

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
