#include "host/setup/spelling.hpp"

#include <algorithm>
#include <atomic>

namespace chime::host {
namespace {

std::atomic<bool> speaks_nvshmem{false};

// Behind chimex_: what is Chime's own (CHIME_OWN_ROWS of chime/families.h, and calls of the host).
constexpr std::string_view kOwn[] = {"node_my_pe",
                                     "node_n_pes",
                                     "pe_status",
                                     "signal_wait_until_timeout",
                                     "wait_until_timeout",
                                     "init_config",
                                     "init_device",
                                     "get_async_error",
                                     "pe_bind"};

constexpr std::string_view kPrefix = "chime_", kExtended = "chimex_";

}  // namespace

void speak_nvshmem(bool is_nvshmems) { speaks_nvshmem = is_nvshmems; }

std::string spoken(std::string_view function) {
  const std::string unchanged(function);
  if (!speaks_nvshmem) return unchanged;
  if (function.starts_with(kPrefix)) return "nvshmem_" + unchanged.substr(kPrefix.size());
  if (!function.starts_with(kExtended)) return unchanged;
  const std::string_view stem = function.substr(kExtended.size());
  const bool is_own = std::find(std::begin(kOwn), std::end(kOwn), stem) != std::end(kOwn);
  return is_own ? unchanged : "nvshmemx_" + std::string(stem);
}

}  // namespace chime::host
