// Ordering, meetings, and what is reached, of the host.
#define CHIME_HOST_ONLY
#include "chime/device/sync.cuh"

#include "chime/abi/launch_status.h"
#include "chime/chime.h"
#include "chime/device/coll/barrier.cuh"
#include "chime/device/rma.cuh"
#include "chime/host_ops.h"
#include "host/ops/gpu/gpu_ops.hpp"
#include "host/ops/in_barrier.hpp"
#include "host/ops/run.hpp"
#include "host/ops/teams/teams.hpp"

namespace chime::host {
namespace {

void complete_all() {
  run(
      Operation::kQuiet, Checks::kAsTheJobSays, [](const Context& ctx) { quiet(ctx); },
      gpu_ops::quiet);
}

// A barrier (kBarrierAll) or sync (kSyncAll) of all PEs.
void meet_all(Operation which) {
  run(
      which, Checks::kAsTheJobSays,
      [which](const Context& ctx) {
        const InBarrier here(ready_slot(), which);
        if (which == Operation::kBarrierAll)
          barrier_all(ctx, Thread{});
        else
          sync_all(ctx, Thread{});
      },
      gpu_ops::barrier);
}

}  // namespace
}  // namespace chime::host

using namespace chime;        // NOLINT: this file only forwards into it
using namespace chime::host;  // NOLINT

extern "C" {

void chime_host_fence(void) {
  operation(
      Operation::kFence, [](const Context& ctx) { fence(ctx); }, [](Runtime&) {});
}

void chime_host_quiet(void) { guarded(Operation::kQuiet, complete_all); }

void chime_host_barrier_all(void) {
  exec::detail::tell_unseen_launch_errors();
  guarded(Operation::kBarrierAll, [] { meet_all(Operation::kBarrierAll); });
}

void chime_host_sync_all(void) {
  exec::detail::tell_unseen_launch_errors();
  guarded(Operation::kSyncAll, [] { meet_all(Operation::kSyncAll); });
}

int chime_host_barrier(chime_team_t team) {
  exec::detail::tell_unseen_launch_errors();
  return status_of(Operation::kBarrier, [=] {
    if (is_meeting_of_all(team)) return meet_all(Operation::kBarrierAll);
    meet_in_team(Operation::kBarrier, team);
  });
}

int chime_host_team_sync(chime_team_t team) {
  exec::detail::tell_unseen_launch_errors();
  return status_of(Operation::kTeamSync, [=] {
    if (is_meeting_of_all(team)) return meet_all(Operation::kSyncAll);
    meet_in_team(Operation::kTeamSync, team);
  });
}

// Addresses and paths alone: the same on both.
int chime_pe_accessible(int pe) {
  return guarded("chime_pe_accessible", [=] {
    return static_cast<int>(route_to(ready_slot().context, Traffic::kData, pe).path != Path::kNone);
  });
}

int chime_addr_accessible(const void* addr, int pe) {
  return guarded("chime_addr_accessible", [=] {
    const Context& ctx = ready_slot().context;
    const bool is_symmetric = is_in_heap(ctx, addr, 1);
    return static_cast<int>(is_symmetric && route_to(ctx, Traffic::kData, pe).path != Path::kNone);
  });
}

void* chime_host_ptr(const void* dst, int pe) {
  return guarded("chime_ptr", [=]() -> void* {
    return ptr(ready_slot().context, static_cast<std::byte*>(const_cast<void*>(dst)), pe);
  });
}

}  // extern "C"
