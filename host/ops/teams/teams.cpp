// What host code asks of teams, and their meetings. WORLD and NODE are known before there is a
// heap.
#include "host/ops/teams/teams.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

#define CHIME_HOST_ONLY
#include "chime/chime.h"
#include "chime/host_ops.h"
#include "host/errors/error.hpp"
#include "host/errors/step.hpp"
#include "host/ops/gpu/kernel_call.hpp"
#include "host/ops/meet.cuh"
#include "host/ops/run.hpp"
#include "host/report/guard.hpp"
#include "host/report/team_words.hpp"
#include "host/settings/deadline.hpp"
#include "host/teams/places.hpp"

namespace chime::host {
namespace {

[[noreturn]] void refuse(Operation operation, chime_team_t team) {
  const int status = chime::detail::team_refusal(operation, team).status;
  throw Error("", static_cast<chimex_status>(status), team_sentence(team));
}

// Empty where the members are known only once there is a heap.
std::optional<Members> members_without_heap(const Runtime& runtime, chime_team_t team) {
  if (team == CHIME_TEAM_WORLD) return Members(Triplet{0, 1, runtime.n_pes()});
  if (team != CHIMEX_TEAM_NODE) return std::nullopt;
  return step("finding the node's PEs", [&] { return Members(runtime.bootstrap->node().pes); });
}

Members members(Operation operation, chime_team_t team) {
  if (auto known = members_without_heap(current_runtime(), team)) return *std::move(known);
  return known_team(ready_runtime(), operation, team).members;
}

// What `ask` finds, and -1 after an error, which has been reported.
template <class Ask>
int answer(Operation operation, Ask ask) {
  int found = -1;
  guarded(operation, [&] { found = ask(); });
  return found;
}

}  // namespace

KnownTeam known_team(Runtime& runtime, Operation operation, chime_team_t team) {
  TeamTable& table = *runtime.device->teams;
  if (auto known = table.find(team)) return *std::move(known);
  if (team >= 0 && abi::team_without_lane(team) == CHIMEX_TEAM_SAME_MYPE_NODE) {
    table.add_predefined(CHIMEX_TEAM_SAME_MYPE_NODE, step("finding the nodes' PEs", [&] {
                           return pes_of_same_place(*runtime.bootstrap,
                                                    init_deadline(runtime.settings));
                         }));
    if (auto known = table.find(team)) return *std::move(known);
  }
  refuse(operation, team);
}

void meet_in_team(Operation operation, chime_team_t team) {
  known_team(ready_runtime(), operation, team);
  const SyncCall call = {operation, team};
  run(
      operation, Checks::kAsTheJobSays, [&](const Context& ctx) { meet(ctx, call); },
      [&](Runtime& runtime) { KernelCall(runtime).run(LibraryKernel::kSync, call); });
}

void meet_alone(const SyncCall& call) {
  PeSlot& slot = ready_slot();
  CallingThread& thread = CallingThread::of(slot);
  const Context& ctx = thread.context(false);
  if (throws_first(slot, ctx)) throw_async_error(*slot.runtime);
  if (!slot.runtime->device->gpu->is_cpu())
    return KernelCall(*slot.runtime).run(LibraryKernel::kSync, call);
  meet(ctx, call);
  if (thread.has_failed()) throw_own_error(*slot.runtime, thread.failure(), call.operation);
}

}  // namespace chime::host

using namespace chime::host;  // NOLINT: the functions below only forward into it
using chime::Operation;

extern "C" {

int chime_host_team_my_pe(chime_team_t team) {
  return answer(Operation::kTeamMyPe, [=] {
    if (team == CHIME_TEAM_INVALID) return -1;
    return members(Operation::kTeamMyPe, team).rank(current_pe_or_none());
  });
}

int chime_host_team_n_pes(chime_team_t team) {
  return answer(Operation::kTeamNPes, [=] {
    return team == CHIME_TEAM_INVALID ? -1 : members(Operation::kTeamNPes, team).size();
  });
}

int chime_host_team_translate_pe(chime_team_t team, int pe, chime_team_t other) {
  if (team == CHIME_TEAM_INVALID || other == CHIME_TEAM_INVALID) return -1;
  return answer(Operation::kTeamTranslatePe, [=] {
    const Members from = members(Operation::kTeamTranslatePe, team);
    const Members to = members(Operation::kTeamTranslatePe, other);
    return pe < 0 || pe >= from.size() ? -1 : to.rank(from.pe(pe));
  });
}

chime_team_t chime_host_team_lane(chime_team_t team, int lane) {
  return guarded("chimex_team_lane", [=]() -> chime_team_t {
    Runtime& runtime = ready_runtime();
    if (team == CHIME_TEAM_INVALID) return CHIME_TEAM_INVALID;
    known_team(runtime, Operation::kTeamMyPe, team);
    return chime::team_lane(ready_slot().host_context, team, lane);
  });
}

void* chime_host_team_ptr(chime_team_t team, const void* dst, int pe) {
  return guarded(Operation::kTeamPtr, [=]() -> void* {
    if (team == CHIME_TEAM_INVALID) return nullptr;
    const Members pes = members(Operation::kTeamPtr, team);
    return pe < 0 || pe >= pes.size() ? nullptr : chime_host_ptr(dst, pes.pe(pe));
  });
}

}  // extern "C"
