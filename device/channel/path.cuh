// The differences between channels of different paths: `ChannelTraits<path>` has the same functions
// for each of them. by_path() is the only switch over the path of a given channel.
#ifndef CHIME_DEVICE_CHANNEL_PATH_CUH_
#define CHIME_DEVICE_CHANNEL_PATH_CUH_

#include <cstdint>

#include "chime/abi/channel.h"
#include "chime/device/channel/channel.cuh"
#include "chime/device/exec/exec.cuh"
#include "chime/device/path/paths.cuh"

#if (CHIME_PATHS) & CHIME_PATH_NIC
#include "chime/device/path/nic/channel.cuh"
#endif
#if (CHIME_PATHS) & CHIME_PATH_PROXY
#include "chime/device/path/proxy/channel.cuh"
#endif

namespace chime::channel {
namespace detail {

template <Path kPath, class F>
CHIME_DEVICE bool try_path(const Channel& channel, F& f) {
  if constexpr (chime::detail::kIsCompiled<kPath>) {
    // A program that is compiled for one kind of channel runs in jobs that have no other.
    constexpr bool kIsTheOnly =
        chime::detail::kIsCompiled<Path::kNic> != chime::detail::kIsCompiled<Path::kProxy>;
    if (!kIsTheOnly && channel.head.path != kPath) return false;
    f(ChannelTraits<kPath>{});
    return true;
  } else {
    return false;
  }
}

template <class F>
CHIME_DEVICE void by_path(const Channel& channel, F f) {
  if (!try_path<Path::kNic>(channel, f)) try_path<Path::kProxy>(channel, f);
}

}  // namespace detail

// The caller does not know the path: by_path() reads it from the channel.
inline constexpr Path kAny = Path::kNone;

// Looks once for a completion: ChannelTraits<kPath>::poll.
template <Path kPath>
CHIME_DEVICE std::uint64_t poll(Channel& channel, std::uint64_t done) {
  if constexpr (kPath == kAny) {
    detail::by_path(channel, [&](auto of) { done = of.poll(channel, done); });
    return done;
  } else {
    return ChannelTraits<kPath>::poll(channel, done);
  }
}
CHIME_DEVICE void poll(Channel& channel) {
  poll<kAny>(channel, load<Order::kRelaxed>(channel.progress.done));
}

CHIME_DEVICE bool keeps_order(const Channel& channel) {
  bool keeps = false;
  detail::by_path(channel, [&](auto of) { keeps = of.keeps_order(channel); });
  return keeps;
}

CHIME_DEVICE bool has_other_path(const Context& ctx, const Channel& channel) {
  bool has = false;
  detail::by_path(channel, [&](auto of) { has = of.has_other_path(ctx, channel); });
  return has;
}

// Whether requests to `pe` may be lost. REQUIRES: the channel leads to it.
CHIME_DEVICE bool has_lost(const Channel& channel, int pe) {
  bool has = false;
  detail::by_path(channel, [&](auto of) { has = of.has_lost(channel, pe); });
  return has;
}

CHIME_DEVICE void describe_error(const Context& ctx, const Channel& channel,
                                 abi::ChannelFault& fault) {
  detail::by_path(channel, [&](auto of) { of.describe_error(ctx, channel, fault); });
}

}  // namespace chime::channel

#endif  // CHIME_DEVICE_CHANNEL_PATH_CUH_
