#include "host/settings/spelling.hpp"

#include <algorithm>
#include <atomic>

#include "chime/families.h"

namespace chime::host {
namespace {

enum class Names { kUnknown, kChimes, kNvshmems };
std::atomic<Names> names{Names::kUnknown};

// Behind chime_ or chimex_: what is Chime's own. Operations of any type go by these names; the last
// are the host's alone.
#define CHIME_OWN_STEM(RESULT, PREFIX, STEM, ...) #STEM,
constexpr std::string_view kOwn[] = {CHIME_OWN_ROWS(CHIME_OWN_STEM) "wait_until_timeout",
                                     "collect",
                                     "alltoalls",
                                     "alltoallv",
                                     "inscan",
                                     "exscan",
                                     "init_config",
                                     "init_device",
                                     "get_async_error",
                                     "pe_bind"};
#undef CHIME_OWN_STEM

constexpr std::string_view kPrefix = "chime_", kExtended = "chimex_";

bool are_nvshmems() { return names.load(std::memory_order_relaxed) == Names::kNvshmems; }

}  // namespace

void speak_nvshmem(bool is_nvshmems) {
  names.store(is_nvshmems ? Names::kNvshmems : Names::kChimes, std::memory_order_relaxed);
}

// Looks before it writes: calls of the data path come here, too.
void expect_nvshmem() {
  Names unknown = names.load(std::memory_order_relaxed);
  if (unknown == Names::kUnknown)
    names.compare_exchange_strong(unknown, Names::kNvshmems, std::memory_order_relaxed);
}

std::string spoken_init() {
  const bool is_unknown = names.load(std::memory_order_relaxed) == Names::kUnknown;
  return is_unknown ? "chime_init or nvshmem_init" : spoken("chime_init");
}

std::string spoken(std::string_view function) {
  const std::string unchanged(function);
  if (!are_nvshmems()) return unchanged;
  const bool is_extended = function.starts_with(kExtended);
  if (!is_extended && !function.starts_with(kPrefix)) return unchanged;
  const std::string_view stem = function.substr((is_extended ? kExtended : kPrefix).size());
  if (std::find(std::begin(kOwn), std::end(kOwn), stem) != std::end(kOwn)) return unchanged;
  return std::string(is_extended ? "nvshmemx_" : "nvshmem_").append(stem);
}

std::string spoken_constant(std::string_view name) {
  return std::string(are_nvshmems() ? "NVSHMEM_" : "CHIME_").append(name);
}

std::string spoken_extended_constant(std::string_view name) {
  return std::string(are_nvshmems() ? "NVSHMEMX_" : "CHIMEX_").append(name);
}

}  // namespace chime::host
