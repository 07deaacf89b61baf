#include "host/team/collective_call.hpp"

#include <fmt/format.h>

#include "host/errors/error.hpp"

namespace chime::host {

std::string describe(const CollectiveCall& call) {
  switch (call.kind) {
    case CollectiveCall::Kind::kMalloc:
      return fmt::format("chime_malloc({})", call.first);
    case CollectiveCall::Kind::kCalloc:
      return fmt::format("chime_calloc of {} bytes", call.first);
    case CollectiveCall::Kind::kAlign:
      return fmt::format("chime_align({}, {})", call.second, call.first);
    case CollectiveCall::Kind::kFree:
      return fmt::format("chime_free(heap + {})", call.first);
    case CollectiveCall::Kind::kBarrier:
      return "chime_barrier_all or chime_sync_all";
    case CollectiveCall::Kind::kFinalize:
      return "chime_finalize()";
  }
  return "another version's call";
}

void CollectiveCalls::add(const CollectiveCalls& more) {
  const bool differs_at_once = more.call != call;
  const int first_other = differs_at_once ? more.pe : more.other_pe;
  if (first_other < 0 || (other_pe >= 0 && other_pe < first_other)) return;
  other_pe = first_other;
  others_call = differs_at_once ? more.call : more.others_call;
}

void check_same(const CollectiveCalls& calls) {
  if (calls.other_pe < 0) return;
  throw Error(
      "collective call", CHIMEX_ERR_MISMATCH,
      fmt::format("PE {} called {} but PE {} called {}; all PEs must make the same calls "
                  "in the same order",
                  calls.pe, describe(calls.call), calls.other_pe, describe(calls.others_call)));
}

std::string why_none_succeeds(const std::string& first_failure) {
  return "no collective call succeeds any more, because one has failed: " + first_failure;
}

}  // namespace chime::host
