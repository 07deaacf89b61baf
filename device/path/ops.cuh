// What a path can do: `Ops<path>` has the same functions, in the same order, for each of them
// (README.md). dispatch() is the only switch over paths.
#ifndef CHIME_DEVICE_PATH_OPS_CUH_
#define CHIME_DEVICE_PATH_OPS_CUH_

#include "chime/abi/context.h"
#include "chime/device/exec.cuh"
#include "chime/device/path/paths.cuh"
#include "chime/device/route.cuh"

namespace chime {

// Operations on one PE, by the path that its route says.
template <Path>
class Ops;

}  // namespace chime

#if CHIME_PATHS & 1 << 1
#include "chime/device/path/p2p/ops.cuh"
#endif
#if CHIME_PATHS & 1 << 2
#include "chime/device/path/nic/ops.cuh"
#endif
#if CHIME_PATHS & 1 << 3
#include "chime/device/path/proxy/ops.cuh"
#endif

namespace chime {
namespace detail {

template <Path kPath, class F>
CHIME_DEVICE bool try_path(const Context& ctx, const Route& route, F& f) {
  if constexpr (kIsCompiled<kPath>) {
    if (route.path != kPath) return false;
    f(Ops<kPath>(ctx, route));
    return true;
  } else {
    return false;
  }
}

}  // namespace detail

// Calls `f` with the operations of the route's path. False if there is none.
template <class F>
CHIME_DEVICE bool dispatch(const Context& ctx, const Route& route, F f) {
  return detail::try_path<Path::kP2p>(ctx, route, f) ||
         detail::try_path<Path::kNic>(ctx, route, f) ||
         detail::try_path<Path::kProxy>(ctx, route, f);
}

}  // namespace chime

#endif  // CHIME_DEVICE_PATH_OPS_CUH_
