// A SyncCall as device code carries it out: in a kernel of the library, or by the host on the CPU
// device.
#pragma once

#include "chime/device/coll/agree.cuh"
#include "chime/device/coll/barrier.cuh"
#include "chime/device/coll/team.cuh"
#include "chime/device/sync.cuh"
#include "host/gpu/library_kernel.hpp"

namespace chime::host {

CHIME_DEVICE void meet(const Context& ctx, const SyncCall& call) {
  switch (call.operation) {
    case Operation::kBarrierAll:
      return barrier_all(ctx, Thread{});
    case Operation::kSyncAll:
      return sync_all(ctx, Thread{});
    case Operation::kBarrier:
      team_barrier(ctx, Thread{}, call.team);
      return;
    case Operation::kTeamSync:
      team_sync(ctx, Thread{}, call.team);
      return;
    case Operation::kTeamSplit:
      // The host has found the team before it called.
      if (call.agreed_words == 0) {
        chime::detail::confirm(ctx, chime::detail::team_of(ctx, call.team));
      } else {
        chime::detail::agree(ctx, chime::detail::team_of(ctx, call.team), call.agreed_words);
      }
      return;
    default:
      quiet(ctx);
      if (chime::detail::has_channels(ctx)) channel::settle(ctx);  // at finalize none may follow
  }
}

}  // namespace chime::host
