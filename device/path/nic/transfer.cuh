// Writes and reads between a peer and memory here that the NIC knows, in requests of at most 1 GiB.
#ifndef CHIME_DEVICE_PATH_NIC_TRANSFER_CUH_
#define CHIME_DEVICE_PATH_NIC_TRANSFER_CUH_

#include <cstddef>
#include <cstdint>

#include "chime/abi/channel.h"
#include "chime/abi/wqe.h"
#include "chime/device/channel/submit.cuh"
#include "chime/device/exec/exec.cuh"
#include "chime/device/path/nic/memory.cuh"
#include "chime/device/path/nic/request.cuh"

namespace chime::nic {
namespace detail {

// A CQE may overtake the data of a read. Then a second request follows it whose CQE cannot.
CHIME_DEVICE bool is_flushed(const Channel& queue, abi::WqeOpcode opcode) {
  return opcode == abi::WqeOpcode::kRead &&
         (channel::head_of(queue).flags & abi::kNicFlushReads) != 0;
}

// The shape of a request that moves data between a peer and memory of the program.
CHIME_DEVICE Shape shape_of_transfer(const Channel& queue, abi::WqeOpcode opcode, bool more) {
  return {.units = is_flushed(queue, opcode) ? 2u : 1u, .more = more};
}

// The part of a transfer that one request moves.
struct Piece {
  Remote remote;
  Local local;
  std::uint32_t bytes;
};

// Calls `find_piece()` when there is room: before that, registers keep nothing of it. A shape of
// two WQEBBs has a flush.
template <class Group, class FindPiece>
CHIME_DEVICE Ticket transfer_once(const Context& ctx, Group group, Channel& queue,
                                  abi::WqeOpcode opcode, const Shape& shape, FindPiece find_piece) {
  const bool flush = shape.units == 2;
  return submit(ctx, group, queue, shape,
                [&](const QueueView& view, std::uint64_t index, bool is_last) {
                  const Piece piece = find_piece();
                  put_transfer({view, index, !flush && is_last}, opcode, piece.remote, piece.local,
                               piece.bytes);
                  if (flush) put_dump({view, index + 1, is_last}, piece.local);
                });
}

}  // namespace detail

// ---- More than one request ----------------------------------------------------------------------

namespace detail {

// A write from, or a read into, memory that the NIC knows. Long transfers are rare, so this is
// passed by reference: it lies in memory and not in registers.
struct LongTransfer {
  abi::WqeOpcode opcode;
  bool more;  // another submission of the call follows
  Remote remote;
  Local local;
  std::size_t bytes;
  std::size_t at = 0;  // posted so far
  Ticket last = {};    // of the last request

  CHIME_DEVICE std::size_t next_bytes() const {
    return bytes - at < abi::kNicMostBytes ? bytes - at : abi::kNicMostBytes;
  }
  CHIME_DEVICE bool next_is_last() const { return bytes - at <= abi::kNicMostBytes; }
};

// The next submission posts the doorbell for this one.
CHIME_DEVICE_OUT_OF_LINE bool transfer_next(const Context& ctx, Channel& queue, LongTransfer& all) {
  const bool more = all.more || !all.next_is_last();
  const Shape shape = shape_of_transfer(queue, all.opcode, more);
  all.last = transfer_once(ctx, Alone{}, queue, all.opcode, shape, [&]() -> Piece {
    return {advanced(all.remote, all.at), advanced(all.local, all.at),
            static_cast<std::uint32_t>(all.next_bytes())};
  });
  all.at += all.next_bytes();
  return all.last.ok();
}

}  // namespace detail

// `more`: another submission of the call follows, and posts the doorbell. The ticket is that of the
// last request: a queue completes in order.
CHIME_DEVICE_OUT_OF_LINE Ticket transfer_long(const Context& ctx, Channel& queue,
                                              abi::WqeOpcode opcode, Remote remote, Local local,
                                              std::size_t bytes, bool more) {
  detail::LongTransfer all = {opcode, more, remote, local, bytes};
  if (!may_post(ctx, queue)) return {};
  const exec::Committed to_ring_for_what_was_posted;
  while (all.at < all.bytes && detail::transfer_next(ctx, queue, all)) {
  }
  return all.last;
}

// Between `symmetric` memory at the peer and memory here.
template <class Group>
CHIME_DEVICE Ticket transfer(const Context& ctx, Group group, Channel& queue, abi::WqeOpcode opcode,
                             const void* symmetric, const Local& local, std::size_t bytes) {
  if (bytes > abi::kNicMostBytes) {
    return transfer_long(ctx, queue, opcode, remote_data(ctx, queue, symmetric), local, bytes,
                         false);
  }
  const Shape shape = detail::shape_of_transfer(queue, opcode, false);
  return detail::transfer_once(ctx, group, queue, opcode, shape, [&]() -> detail::Piece {
    return {remote_data(ctx, queue, symmetric), local, static_cast<std::uint32_t>(bytes)};
  });
}

}  // namespace chime::nic

#endif  // CHIME_DEVICE_PATH_NIC_TRANSFER_CUH_
