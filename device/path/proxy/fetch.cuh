// Operations with a result of up to 16 bytes: it comes back in the request's answer.
#ifndef CHIME_DEVICE_PATH_PROXY_FETCH_CUH_
#define CHIME_DEVICE_PATH_PROXY_FETCH_CUH_

#include <cstdint>
#include <cstring>

#include "chime/abi/proxy_request.h"
#include "chime/device/exec/exec.cuh"
#include "chime/device/op.cuh"
#include "chime/device/path/proxy/answer.cuh"
#include "chime/device/path/proxy/request.cuh"

namespace chime::fifo {

// Up to 16 bytes, low ones first.
struct Result {
  std::uint64_t word[2];
};

namespace detail {

// Waits for the result and frees its answer. If the FIFO goes out of use first, the answer stays
// taken: the proxy may still write to it.
CHIME_DEVICE bool take_result(const Context& ctx, Channel& fifo, int pe, const Ticket& ticket,
                              std::uint32_t answer, Result& result) {
  bool has_ended = false;
  const bool is_well = await_end(ctx, fifo, pe, answer, ticket.target, has_ended);
  if (!has_ended) return false;
  for (unsigned i : {0u, 1u}) {
    result.word[i] = exec::ld<Order::kRelaxed, Scope::kSystem>(&fifo.fifo.answers[answer].value[i]);
  }
  free_answer(fifo, answer);
  return is_well;
}

}  // namespace detail

// `request()` makes the slot of a request that has a result.
template <class Request>
CHIME_DEVICE bool fetch(const Context& ctx, Channel& fifo, int pe, Request request,
                        Result& result) {
  const exec::Committed to_free_the_answer;
  const std::uint32_t answer = take_answer(ctx, fifo, pe);
  if (answer == kNoAnswer) return false;
  const Ticket ticket = post<1>(ctx, Thread{}, fifo, pe, [&](const Place& place) {
    place.put(abi::with_answer(request(), answer));
  });
  if (ticket.ok()) return detail::take_result(ctx, fifo, pe, ticket, answer, result);
  free_answer(fifo, answer);
  return false;
}

// ---- Operations with a result -------------------------------------------------------------------
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
