// Results that come back beside the FIFO: each in the place of its request's first slot
// (../../channel/result.cuh), which the proxy writes before it tells that the request has ended.
#ifndef CHIME_DEVICE_PATH_PROXY_FETCH_CUH_
#define CHIME_DEVICE_PATH_PROXY_FETCH_CUH_

#include <cstdint>
#include <cstring>

#include "chime/abi/proxy_request.h"
#include "chime/device/channel/result.cuh"
#include "chime/device/exec.cuh"
#include "chime/device/op.cuh"
#include "chime/device/path/proxy/request.cuh"

namespace chime::fifo {

// Up to 16 bytes, low ones first.
struct Result {
  std::uint64_t word[2];
};

namespace detail {

// Waits for the result and frees its place. A request to a lost peer has ended, too, and others
// need its place.
CHIME_DEVICE bool take_result(const Context& ctx, int pe, const Ticket& ticket, std::uint32_t slot,
                              Result& result) {
  if (!ticket.ok()) return false;
  Channel& fifo = *ticket.channel;
  std::uint64_t seen = 0;
  if (!channel::poll_until_done<Path::kProxy>(ctx, fifo, ticket.target, pe, seen)) return false;
  const abi::ProxyResult& place = fifo.fifo.results[slot];
  for (unsigned i : {0u, 1u}) {
    result.word[i] = exec::ld<Order::kRelaxed, Scope::kSystem>(&place.value[i]);
  }
  channel::free_result_place(&fifo.fifo.busy[slot]);
  return !has_lost(fifo, seen, pe);
}

}  // namespace detail

// `request()`: a slot, of a request that has a result.
template <class Request>
CHIME_DEVICE bool fetch(const Context& ctx, Channel& fifo, int pe, Request request,
                        Result& result) {
  const exec::Committed to_free_the_place;
  std::uint32_t slot = 0;
  const Ticket ticket = post<1>(ctx, Thread{}, fifo, pe, [&](const Place& place) {
    slot = place.slot();
    channel::take_result_place(ctx, fifo, &fifo.fifo.busy[slot]);
    place.put(request());
  });
  return detail::take_result(ctx, pe, ticket, slot, result);
}

// ---- What has one -------------------------------------------------------------------------------
// False: the FIFO is out of use, or the peer is lost.

// An element of up to 16 bytes.
template <class W>
CHIME_DEVICE bool read_element(const Context& ctx, Channel& fifo, int pe, std::uint64_t at,
                               W* value) {
  static_assert(sizeof(W) <= sizeof(Result));
  Result result = {};
  const bool ok = fetch(
      ctx, fifo, pe, [&] { return abi::proxy_get_value(pe, at, sizeof(W)); }, result);
  if (ok) memcpy(value, result.word, sizeof(W));
  return ok;
}

// The word before an atomic.
template <class A>
CHIME_DEVICE bool fetch_atomic(const Context& ctx, Channel& fifo, int pe, std::uint64_t at,
                               const A& amo, typename A::Word* before) {
  Result result = {};
  const bool ok = fetch(
      ctx, fifo, pe,
      [&] {
        return abi::proxy_atomic(abi::ProxyKind::kFetchAtomic, A::kOp, pe, at,
                                 sizeof(typename A::Word), amo.operand, amo.compare);
      },
      result);
  if (ok) *before = static_cast<typename A::Word>(result.word[0]);
  return ok;
}

}  // namespace chime::fifo

#endif  // CHIME_DEVICE_PATH_PROXY_FETCH_CUH_
