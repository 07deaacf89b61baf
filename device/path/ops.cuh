// The operations of a path: `Ops<path>` has the same functions, in the same order, for each of them
// (README.md). go() is the only switch over paths.
#ifndef CHIME_DEVICE_PATH_OPS_CUH_
#define CHIME_DEVICE_PATH_OPS_CUH_

#include "chime/abi/context.h"
#include "chime/device/exec/exec.cuh"
#include "chime/device/path/paths.cuh"
#include "chime/device/route.cuh"

namespace chime {

// Operations on one PE by one path. Constructed from the Context and the access to the PE: its heap
// as it is mapped here; or a channel, and the PE.
template <Path>
class Ops;

}  // namespace chime

#if (CHIME_PATHS) & CHIME_PATH_P2P
#include "chime/device/path/p2p/ops.cuh"
#endif
#if (CHIME_PATHS) & CHIME_PATH_NIC
#include "chime/device/path/nic/ops.cuh"
#endif
#if (CHIME_PATHS) & CHIME_PATH_PROXY
#include "chime/device/path/proxy/ops.cuh"
#endif

namespace chime {
namespace detail {

template <Path kPath, class F, class... Access>
CHIME_DEVICE bool call_by(F& f, const Context& ctx, Access&&... access) {
  if constexpr (kIsCompiled<kPath>) {
    f(Ops<kPath>(ctx, access...));
    return true;
  } else {
    return false;
  }
}

}  // namespace detail

// Decides by which path the target at `pe` is reached, and at once calls `f` with the operations of
// that path: no route is kept. False if there is no path.
template <class F>
CHIME_DEVICE bool go(const Context& ctx, Traffic traffic, const Target& target, int pe, F f) {
  return decide(
      ctx, traffic, target, pe,
      [&](std::byte* heap) { return detail::call_by<Path::kP2p>(f, ctx, heap); },
      [&](Path path, abi::Channel& channel) {
        if (path == Path::kNic) return detail::call_by<Path::kNic>(f, ctx, channel, pe);
        return path == Path::kProxy && detail::call_by<Path::kProxy>(f, ctx, channel, pe);
      });
}

// The same for Chime's own messages to a PE that loads and stores do not reach. (What it shares
// with go() in a function of their own costs users five registers.)
template <class F>
CHIME_DEVICE bool go_by_channel(const Context& ctx, Traffic traffic, int pe, F f) {
  return by_channel(ctx, traffic, pe, [&](Path path, abi::Channel& channel) {
    if (path == Path::kNic) return detail::call_by<Path::kNic>(f, ctx, channel, pe);
    return path == Path::kProxy && detail::call_by<Path::kProxy>(f, ctx, channel, pe);
  });
}

}  // namespace chime

#endif  // CHIME_DEVICE_PATH_OPS_CUH_
