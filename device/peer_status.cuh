// Answers chimex_pe_status in kernels: what this PE knows of another. The host answers from its
// tables (host/ops/api.cpp); kernels read the words by which the host and kernels inform each
// other.
#ifndef CHIME_DEVICE_PEER_STATUS_CUH_
#define CHIME_DEVICE_PEER_STATUS_CUH_

#include <cstdint>

#include "chime/abi/channel.h"
#include "chime/abi/context.h"
#include "chime/abi/openings.h"
#include "chime/abi/words.h"
#include "chime/device/channel/opening.cuh"
#include "chime/device/exec/exec.cuh"
#include "chime/device/path/paths.cuh"
#include "chime/device/route.cuh"
#include "chime/device/symmetric.cuh"
#include "chime/device/wait.cuh"
#include "chime/error.h"

namespace chime {
namespace detail {

// Acquire: pairs with the release in write_fault (channel/error.cuh).
CHIME_DEVICE bool is_published(const abi::ChannelFault& fault) {
  using exec::Order;
  using exec::Scope;
  return exec::ld<Order::kAcquire, Scope::kSystem>(&fault.published) >= abi::kFaultWhole;
}

// Whether a queue to a peer has failed, of the kernels or of the host.
CHIME_DEVICE bool has_lost_queue(const abi::Channels& all, std::uint32_t first) {
  for (unsigned i = 0; i < all.slots; ++i) {
    if (is_published(*all.pool.channels[first + i].fault)) return true;
  }
  const unsigned place = (first - all.first) / all.slots;
  for (unsigned i = 0; i < all.other_slots; ++i) {
    if (is_published(all.other_faults[std::uint64_t{place} * all.other_slots + i])) return true;
  }
  return false;
}

// The same of FIFOs: the proxy has the same bits for all.
CHIME_DEVICE bool has_lost_proxied(const abi::Channels& all, std::uint32_t first, int pe) {
  using exec::Order;
  using exec::Scope;
  const std::uint64_t* const bits = all.pool.channels[first].fifo.lost;
  return (exec::ld<Order::kRelaxed, Scope::kSystem>(bits + pe / 64) >> pe % 64 & 1) != 0;
}

CHIME_DEVICE int status_of_route(const abi::Channels& all, std::uint32_t route, int pe) {
  const std::uint32_t first = abi::first_of_route(route);
  const bool is_lost = abi::path_of_route(route) == Path::kProxy ? has_lost_proxied(all, first, pe)
                                                                 : has_lost_queue(all, first);
  return is_lost ? CHIMEX_ERR_NETWORK : CHIMEX_OK;
}

// The status of a peer that is not mapped. A peer without a connection, which its first touch would
// open, counts as well.
CHIME_DEVICE int status_by_channels(const Context& ctx, int pe) {
  const abi::Channels& all = ctx.channels;
  if (!has_channels(ctx)) return CHIMEX_ERR_UNREACHABLE;
  if (const std::uint32_t route = exec::ld_settled(all.route + pe))
    return status_of_route(all, route, pe);
  if (all.opened == nullptr) return CHIMEX_ERR_UNREACHABLE;
  const std::uint32_t answer = channel::detail::answer_about(*all.openings, pe);
  if (answer == abi::kNotAnswered) return CHIMEX_OK;
  if (answer == abi::kRefused) return CHIMEX_ERR_UNREACHABLE;
  return status_of_route(all, channel::detail::route_of_answer(all, answer), pe);
}

}  // namespace detail

// Returns a chimex_status; chime_device.cuh has the contract. Reads words only, and waits for no
// PE.
CHIME_DEVICE_OUT_OF_LINE int pe_status(const Context& ctx, int pe) {
  if (ctx.abi_version == 0) return CHIMEX_ERR_NOT_INITIALIZED;
  if (!pe_exists(ctx, pe)) return CHIMEX_ERR_INVALID;
  if (detail::is_dead(ctx, pe)) return CHIMEX_ERR_PEER_DEAD;
  if (exec::ld_settled(ctx.pe.peer_heap + pe) != nullptr) return CHIMEX_OK;
  return detail::status_by_channels(ctx, pe);
}

}  // namespace chime

#endif  // CHIME_DEVICE_PEER_STATUS_CUH_
