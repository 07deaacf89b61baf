// Collectives with a bound of their own, in place of CHIME_TIMEOUT for each wait. The leader leaves
// the time by which the call ends in the area of its lane, where the waits of the call look.
#ifndef CHIME_DEVICE_COLL_TIMED_CUH_
#define CHIME_DEVICE_COLL_TIMED_CUH_

#include <cstddef>
#include <cstdint>

#include "chime/abi/context.h"
#include "chime/device/coll/meeting.cuh"
#include "chime/device/coll/members.cuh"
#include "chime/device/coll/move.cuh"
#include "chime/device/coll/reduce.cuh"
#include "chime/device/coll/scan.cuh"
#include "chime/device/coll/strided.cuh"
#include "chime/device/coll/team.cuh"
#include "chime/device/coll/uneven.cuh"
#include "chime/device/exec/exec.cuh"
#include "chime/device/fail.cuh"

namespace chime {
namespace detail {

// Where there is no such team, the call is refused.
CHIME_DEVICE void set_deadline(const Context& ctx, chime_team_t team, std::uint64_t deadline_ns) {
  need_filled(ctx);
  const abi::Team* const found = find_team(ctx, team);
  if (found != nullptr) found->areas[abi::team_lane(team)].deadline_ns = deadline_ns;
}

// By the leader, before and after the call.
CHIME_DEVICE void begin_bound(const Context& ctx, chime_team_t team, std::uint64_t timeout_ns) {
  const std::uint64_t now = exec::clock_ns();
  const bool has_end = timeout_ns != 0 && timeout_ns < kNever - now;
  set_deadline(ctx, team, has_end ? now + timeout_ns : kNever);
}
CHIME_DEVICE void end_bound(const Context& ctx, chime_team_t team) { set_deadline(ctx, team, 0); }

}  // namespace detail

// `call()`: one collective of the team, in the lane that the handle names, by all members of the
// group. If its waits for other members are not over after `timeout_ns` (0: no bound), it returns
// CHIMEX_ERR_TIMEOUT and records no error. As after any call that failed, the team meets no more.
template <class Group, class Call>
CHIME_DEVICE int within(const Context& ctx, Group g, chime_team_t team, std::uint64_t timeout_ns,
                        Call call) {
  if (g.is_leader()) detail::begin_bound(ctx, team, timeout_ns);
  const int status = call();
  if (g.is_leader()) detail::end_bound(ctx, team);
  return status;
}

template <class Group>
CHIME_DEVICE int team_barrier_timeout(const Context& ctx, Group g, chime_team_t team,
                                      std::uint64_t timeout_ns) {
  return within(ctx, g, team, timeout_ns, [&] { return team_barrier(ctx, g, team); });
}
template <class Group>
CHIME_DEVICE int team_sync_timeout(const Context& ctx, Group g, chime_team_t team,
                                   std::uint64_t timeout_ns) {
  return within(ctx, g, team, timeout_ns, [&] { return team_sync(ctx, g, team); });
}

// ---- Of bytes -----------------------------------------------------------------------------------

template <class Group>
CHIME_DEVICE int broadcastmem_timeout(const Context& ctx, Group g, chime_team_t team, void* dst,
                                      const void* src, std::size_t bytes, int root,
                                      std::uint64_t timeout_ns) {
  return within(ctx, g, team, timeout_ns,
                [&] { return broadcastmem(ctx, g, team, dst, src, bytes, root); });
}
template <class Group>
CHIME_DEVICE int fcollectmem_timeout(const Context& ctx, Group g, chime_team_t team, void* dst,
                                     const void* src, std::size_t bytes, std::uint64_t timeout_ns) {
  return within(ctx, g, team, timeout_ns,
                [&] { return fcollectmem(ctx, g, team, dst, src, bytes); });
}
template <class Group>
CHIME_DEVICE int alltoallmem_timeout(const Context& ctx, Group g, chime_team_t team, void* dst,
                                     const void* src, std::size_t bytes, std::uint64_t timeout_ns) {
  return within(ctx, g, team, timeout_ns,
                [&] { return alltoallmem(ctx, g, team, dst, src, bytes); });
}
template <class Group>
CHIME_DEVICE int collectmem_timeout(const Context& ctx, Group g, chime_team_t team, void* dst,
                                    const void* src, std::size_t bytes, std::uint64_t timeout_ns) {
  return within(ctx, g, team, timeout_ns,
                [&] { return collectmem(ctx, g, team, dst, src, bytes); });
}
template <class Group>
CHIME_DEVICE int alltoallsmem_timeout(const Context& ctx, Group g, chime_team_t team, void* dst,
                                      const void* src, std::ptrdiff_t dst_stride,
                                      std::ptrdiff_t src_stride, std::size_t n,
                                      std::uint64_t timeout_ns) {
  return within(ctx, g, team, timeout_ns,
                [&] { return alltoallsmem(ctx, g, team, dst, src, dst_stride, src_stride, n); });
}
template <class Group>
CHIME_DEVICE int alltoallvmem_timeout(const Context& ctx, Group g, chime_team_t team, void* dst,
                                      std::size_t* dst_counts, const std::size_t* dst_offsets,
                                      const void* src, const std::size_t* src_counts,
                                      const std::size_t* src_offsets, std::uint64_t timeout_ns) {
  return within(ctx, g, team, timeout_ns, [&] {
    return alltoallvmem(ctx, g, team, dst, dst_counts, dst_offsets, src, src_counts, src_offsets);
  });
}

// ---- Of elements --------------------------------------------------------------------------------

template <class Op, class T, class Group>
CHIME_DEVICE int reduce_timeout(const Context& ctx, Group g, chime_team_t team, T* dst,
                                const T* src, std::size_t n, std::uint64_t timeout_ns) {
  return within(ctx, g, team, timeout_ns, [&] { return reduce<Op>(ctx, g, team, dst, src, n); });
}
template <class Op, class T, class Group>
CHIME_DEVICE int reducescatter_timeout(const Context& ctx, Group g, chime_team_t team, T* dst,
                                       const T* src, std::size_t n, std::uint64_t timeout_ns) {
  return within(ctx, g, team, timeout_ns,
                [&] { return reducescatter<Op>(ctx, g, team, dst, src, n); });
}
template <class Op, class T, class Group>
CHIME_DEVICE int inscan_timeout(const Context& ctx, Group g, chime_team_t team, T* dst,
                                const T* src, std::size_t n, std::uint64_t timeout_ns) {
  return within(ctx, g, team, timeout_ns, [&] { return inscan<Op>(ctx, g, team, dst, src, n); });
}
template <class Op, class T, class Group>
CHIME_DEVICE int exscan_timeout(const Context& ctx, Group g, chime_team_t team, T* dst,
                                const T* src, std::size_t n, std::uint64_t timeout_ns) {
  return within(ctx, g, team, timeout_ns, [&] { return exscan<Op>(ctx, g, team, dst, src, n); });
}

}  // namespace chime

#endif  // CHIME_DEVICE_COLL_TIMED_CUH_
