// A CollectCall as device code carries it out: in a kernel of the library, or by the host on the
// CPU device. Reductions have one copy of the transport: the type of elements and the operation are
// looked up where slots are combined.
#pragma once

#include <cstdint>
#include <iterator>

#include "chime/device/coll/move.cuh"
#include "chime/device/coll/reduce.cuh"
#include "chime/device/coll/scan.cuh"
#include "chime/device/coll/strided.cuh"
#include "chime/device/coll/team.cuh"
#include "chime/device/coll/timed.cuh"
#include "chime/device/coll/uneven.cuh"
#include "host/gpu/library_kernel.hpp"
#include "host/ops/collectives/complex.cuh"
#include "host/ops/collectives/extended.cuh"

namespace chime::host {

inline constexpr Operation kCollectives[] = {
    Operation::kBroadcast,     Operation::kFcollect,  Operation::kAlltoall, Operation::kReduce,
    Operation::kReducescatter, Operation::kInscan,    Operation::kExscan,   Operation::kCollect,
    Operation::kAlltoalls,     Operation::kAlltoallv, Operation::kBarrier,  Operation::kTeamSync};

// For a call that does not exist, that of some other one.
inline unsigned kind_of(const chime_collective_request& request) {
  return static_cast<unsigned>(request.kind) % std::size(kCollectives);
}

inline bool is_reduction(const chime_collective_request& request) {
  return request.kind >= CHIME_COLLECTIVE_REDUCE && request.kind <= CHIME_COLLECTIVE_EXSCAN;
}
// The last operation that elements have: all before it they have, too.
inline int last_operation_of(int element, std::size_t bytes) {
  switch (element) {
    case CHIME_ELEMENT_INT:
    case CHIME_ELEMENT_UINT:
      return bytes <= 8 ? CHIME_REDUCE_XOR : -1;
    case CHIME_ELEMENT_FLOAT:
      return bytes >= 2 && bytes <= 8 ? CHIME_REDUCE_MAX : -1;
    case CHIME_ELEMENT_BFLOAT16:
      return bytes == 2 ? CHIME_REDUCE_MAX : -1;
    case CHIME_ELEMENT_COMPLEX:
      return bytes == 8 || bytes == 16 ? CHIME_REDUCE_PROD : -1;
    case CHIME_ELEMENT_LONG_DOUBLE:
      return bytes == sizeof(long double) ? CHIME_REDUCE_MAX : -1;
    default:
      return -1;
  }
}
inline bool reduction_exists(const chime_collective_request& request) {
  const auto bytes = static_cast<std::size_t>(request.bytes);
  if (request.element == CHIME_ELEMENT_DOUBLE2)
    return request.op == CHIME_REDUCE_MAXLOC && bytes == sizeof(chimex_double2_t);
  return request.op >= CHIME_REDUCE_SUM && request.op <= last_operation_of(request.element, bytes);
}
inline bool collective_exists(const chime_collective_request& request) {
  return chime::detail::is_element(static_cast<std::size_t>(request.bytes)) &&
         request.kind >= CHIME_COLLECTIVE_BROADCAST && request.kind <= CHIME_COLLECTIVE_SYNC &&
         (!is_reduction(request) || reduction_exists(request));
}

// A long double of the host in kernels: where they have none, x86's in integers.
using LongDouble = std::conditional_t<exec::kHasLongDouble, long double, Extended>;

template <class T>
inline constexpr bool kIsOrdered = true;
template <class Real>
inline constexpr bool kIsOrdered<Complex<Real>> = false;

class CombineAsAsked {
 public:
  CHIME_DEVICE explicit CombineAsAsked(const chime_collective_request& request)
      : op_(request.op), element_(request.element), bytes_(request.bytes) {}

  CHIME_DEVICE std::size_t bytes() const { return static_cast<std::size_t>(bytes_); }
  CHIME_DEVICE unsigned number() const {
    return chime::detail::number_of_combine(op_, element_, bytes());
  }

  // Out of line: one copy of all types for all algorithms.
  template <class Group>
  CHIME_DEVICE_OUT_OF_LINE void operator()(Group g, std::byte* dst, std::size_t bytes,
                                           chime::detail::Shares shares) const {
    const auto in = [&]<class T>(T) { combine_in<T>(g, dst, bytes, shares); };
    if (element_ == CHIME_ELEMENT_DOUBLE2) {
      return chime::detail::CombineBy<MaxLocation, chimex_double2_t>{}(g, dst, bytes, shares);
    }
    if (element_ == CHIME_ELEMENT_LONG_DOUBLE) return in(LongDouble{});
    if (element_ == CHIME_ELEMENT_COMPLEX && bytes_ == 8) return in(Complex<float>{});
    if (element_ == CHIME_ELEMENT_COMPLEX) return in(Complex<double>{});
    if (element_ == CHIME_ELEMENT_BFLOAT16) return in(exec::bfloat16{});
    if (element_ == CHIME_ELEMENT_FLOAT && bytes_ == 2) return in(exec::half{});
    if (element_ == CHIME_ELEMENT_FLOAT && bytes_ == 4) return in(float{});
    if (element_ == CHIME_ELEMENT_FLOAT) return in(double{});
    if (element_ == CHIME_ELEMENT_INT && bytes_ == 1) return in(std::int8_t{});
    if (element_ == CHIME_ELEMENT_INT && bytes_ == 2) return in(std::int16_t{});
    if (element_ == CHIME_ELEMENT_INT && bytes_ == 4) return in(std::int32_t{});
    if (element_ == CHIME_ELEMENT_INT) return in(std::int64_t{});
    if (bytes_ == 1) return in(std::uint8_t{});
    if (bytes_ == 2) return in(std::uint16_t{});
    if (bytes_ == 4) return in(std::uint32_t{});
    in(std::uint64_t{});
  }

 private:
  template <class T, class Group>
  CHIME_DEVICE void combine_in(Group g, std::byte* dst, std::size_t bytes,
                               const chime::detail::Shares& shares) const {
    const auto by = [&]<class Op>(Op) { chime::detail::CombineBy<Op, T>{}(g, dst, bytes, shares); };
    if (op_ == CHIME_REDUCE_SUM) return by(Sum{});
    if (op_ == CHIME_REDUCE_PROD) return by(Product{});
    if constexpr (kIsOrdered<T>) {
      if (op_ == CHIME_REDUCE_MIN) return by(Min{});
      if (op_ == CHIME_REDUCE_MAX) return by(Max{});
    }
    if constexpr (std::is_integral_v<T>) {
      if (op_ == CHIME_REDUCE_AND) return by(And{});
      if (op_ == CHIME_REDUCE_OR) return by(Or{});
      by(Xor{});
    }
  }

  const int op_, element_, bytes_;
};

// By all members of the group. Returns a chimex_status. REQUIRES: collective_exists(request).
template <class Group>
CHIME_DEVICE int collect(const Context& ctx, Group g, const chime_collective_request& request) {
  const std::size_t bytes = CHIME_BYTES(request.n, static_cast<std::size_t>(request.bytes));
  const chime::detail::Reduction all = {static_cast<std::byte*>(request.dst),
                                        static_cast<const std::byte*>(request.src), request.n};
  switch (request.kind) {
    case CHIME_COLLECTIVE_BROADCAST:
      return broadcastmem(ctx, g, request.team, request.dst, request.src, bytes, request.root);
    case CHIME_COLLECTIVE_FCOLLECT:
      return fcollectmem(ctx, g, request.team, request.dst, request.src, bytes);
    case CHIME_COLLECTIVE_ALLTOALL:
      return alltoallmem(ctx, g, request.team, request.dst, request.src, bytes);
    case CHIME_COLLECTIVE_REDUCE:
      return chime::detail::reduce_by(ctx, g, request.team, CombineAsAsked(request), all);
    case CHIME_COLLECTIVE_INSCAN:
    case CHIME_COLLECTIVE_EXSCAN:
      return chime::detail::scan_by(ctx, g, request.team, CombineAsAsked(request), all,
                                    request.kind == CHIME_COLLECTIVE_INSCAN);
    case CHIME_COLLECTIVE_COLLECT:
      return collectmem(ctx, g, request.team, request.dst, request.src, bytes);
    case CHIME_COLLECTIVE_ALLTOALLS:
      return alltoallsmem(ctx, g, request.team, request.dst, request.src, request.dst_stride,
                          request.src_stride, request.n, static_cast<std::size_t>(request.bytes));
    case CHIME_COLLECTIVE_ALLTOALLV:
      return alltoallvmem(ctx, g, request.team, request.dst, request.dst_counts,
                          request.dst_offsets, request.src, request.src_counts, request.src_offsets,
                          static_cast<std::size_t>(request.bytes));
    case CHIME_COLLECTIVE_BARRIER:
      return chime::detail::meet_apart(ctx, g, request.team, Operation::kBarrier);
    case CHIME_COLLECTIVE_SYNC:
      return chime::detail::meet_apart(ctx, g, request.team, Operation::kTeamSync);
    default:
      return chime::detail::reducescatter_by(ctx, g, request.team, CombineAsAsked(request), all);
  }
}

// The same with the call's bound. Not by within(): there is one copy of collect().
template <class Group>
CHIME_DEVICE int collect(const Context& ctx, Group g, const CollectCall& call) {
  const chime_team_t team = call.request.team;
  const bool sets_bound = call.has_own_bound && g.is_leader();
  if (sets_bound) chime::detail::begin_bound(ctx, team, call.timeout_ns);
  const int status = collect(ctx, g, call.request);
  if (sets_bound) chime::detail::end_bound(ctx, team);
  if (call.status != nullptr && g.is_leader()) *call.status = static_cast<std::uint64_t>(status);
  return status;
}

}  // namespace chime::host
