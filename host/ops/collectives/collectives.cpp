// Collectives of the host that have data, or a bound of their own, in the calling thread
// (chime/host_ops.h). Those on streams: stream.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#define CHIME_HOST_ONLY
#include "chime/abi/launch_status.h"
#include "chime/chime.h"
#include "chime/host_ops.h"
#include "host/errors/error.hpp"
#include "host/ops/collectives/collect.cuh"
#include "host/ops/collectives/collectives.hpp"
#include "host/ops/gpu/by_kernel.hpp"
#include "host/ops/gpu/kernel_call.hpp"
#include "host/ops/run.hpp"
#include "host/ops/teams/teams.hpp"

namespace chime::host {

namespace {

// On a GPU a kernel does the work.
void check_is_reached(const Runtime& runtime, const char* what, const void* memory,
                      std::size_t bytes) {
  if (bytes != 0 && !by_kernel::kernels_take(runtime, memory, bytes))
    throw Error("", CHIMEX_ERR_INVALID,
                fmt::format("kernels do not reach the {}, {}; take symmetric memory, or other "
                            "memory of the device",
                            what, fmt::ptr(memory)));
}

// A GPU's kernels have x86's long double alone (extended.cuh).
void check_long_double(const chime_collective_request& request) {
  constexpr bool kIsExtended = std::numeric_limits<long double>::digits == 64;
  if (is_reduction(request) && request.element == CHIME_ELEMENT_LONG_DOUBLE && !kIsExtended)
    throw Error("", CHIMEX_ERR_UNSUPPORTED,
                "kernels of GPUs cannot compute with this processor's long double; take double");
}

int collect_by_kernel(Runtime& runtime, CollectCall call) {
  KernelCall kernel(runtime);
  call.status = kernel.result();
  kernel.run(LibraryKernel::kCollect, call);
  return static_cast<int>(*kernel.result());
}

// That of the call is the status, too, where nothing is recorded: its own bound is over.
int collect_now(const CollectCall& call) {
  chime::exec::detail::tell_unseen_launch_errors();
  const Operation operation = kCollectives[kind_of(call.request)];
  int status = CHIMEX_OK;
  const int failure = status_of(operation, [&] {
    check_collective(ready_runtime(), call.request);
    status = run(
        operation, Checks::kAsTheJobSays,
        [&](const Context& ctx) { return collect(ctx, Thread{}, call); },
        [&](Runtime& runtime) { return collect_by_kernel(runtime, call); });
  });
  return failure == CHIMEX_OK ? status : failure;
}

}  // namespace

void check_collective(Runtime& runtime, const chime_collective_request& request) {
  if (!collective_exists(request))
    throw Error("", CHIMEX_ERR_INVALID, "there is no such collective, operation or element");
  const KnownTeam team = known_team(runtime, kCollectives[kind_of(request)], request.team);
  if (!runtime.device->gpu->is_cpu()) {
    check_long_double(request);
    const std::size_t numbers = static_cast<std::size_t>(team.members.size()) * sizeof(std::size_t);
    if (request.kind == CHIME_COLLECTIVE_ALLTOALLV) {
      check_is_reached(runtime, "counts of the destination", request.dst_counts, numbers);
      check_is_reached(runtime, "offsets of the destination", request.dst_offsets, numbers);
      check_is_reached(runtime, "counts of the source", request.src_counts, numbers);
      check_is_reached(runtime, "offsets of the source", request.src_offsets, numbers);
    }
    // Others may bring more than this PE's own number says.
    const bool is_uneven =
        request.kind == CHIME_COLLECTIVE_ALLTOALLV || request.kind == CHIME_COLLECTIVE_COLLECT;
    const std::size_t share = CHIME_BYTES(request.n, static_cast<std::size_t>(request.bytes));
    const bool is_read = request.kind != CHIME_COLLECTIVE_BROADCAST || request.root == team.my_rank;
    const std::size_t least = is_uneven && request.dst != nullptr ? 1 : 0;
    check_is_reached(runtime, "destination", request.dst, std::max(share, least));
    if (is_read) check_is_reached(runtime, "source", request.src, share);
  }
}

}  // namespace chime::host

using namespace chime::host;  // NOLINT: this file only forwards into it

extern "C" int chime_host_collective(const chime_collective_request* request) {
  return collect_now({*request});
}

extern "C" int chime_host_collective_timeout(const chime_collective_request* request,
                                             std::uint64_t timeout_ns) {
  return collect_now({*request, true, timeout_ns});
}
