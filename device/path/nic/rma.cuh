// Writes to a peer and reads from it, as requests: inline if they are small, else from or to memory
// that the NIC knows, else staged.
//
// One thread calls these, also for a warp or block. False: the queue is out of use.
#ifndef CHIME_DEVICE_PATH_NIC_RMA_CUH_
#define CHIME_DEVICE_PATH_NIC_RMA_CUH_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "chime/abi/wqe.h"
#include "chime/device/channel/complete.cuh"
#include "chime/device/channel/submit.cuh"
#include "chime/device/exec/exec.cuh"
#include "chime/device/op.cuh"
#include "chime/device/path/nic/fetch.cuh"
#include "chime/device/path/nic/memory.cuh"
#include "chime/device/path/nic/request.cuh"
#include "chime/device/path/nic/stage.cuh"
#include "chime/device/path/nic/transfer.cuh"

namespace chime::nic {

// `data()`: the value to write to `dst`. False: the queue is out of use.
template <class Group, class Data>
CHIME_DEVICE bool write_inline(const Context& ctx, Group group, Channel& queue, const void* dst,
                               std::uint32_t bytes, Data data) {
  return submit(ctx, group, queue, {.units = 1},
                [&](const QueueView& view, std::uint64_t index, bool is_last) {
                  put_inline_write({view, index, is_last}, remote_word(ctx, queue, dst), bytes,
                                   data());
                })
      .ok();
}

// kLeast: an alignment that source and bytes are known to have.
template <std::size_t kLeast, class Group>
CHIME_DEVICE bool write(const Context& ctx, Group group, Channel& queue, const Put& put) {
  const auto* const src = static_cast<const std::byte*>(put.src);
  if (put.bytes <= abi::kInlineInTwoSegments) {
    const auto bytes = static_cast<std::uint32_t>(put.bytes);
    return write_inline(ctx, group, queue, put.dst, bytes,
                        [&] { return load_inline<kLeast>(src, bytes); });
  }
  const Local local = find_local(ctx, src, put.bytes);
  if (!local.is_known) {
    return staged_write(ctx, queue, remote_data(ctx, queue, put.dst), src, put.bytes);
  }
  const Ticket ticket =
      transfer(ctx, group, queue, abi::WqeOpcode::kWrite, put.dst, local, put.bytes);
  return put.until == Until::kPosted ? ticket.ok() : wait_for(ctx, queue, ticket);
}

template <class Group>
CHIME_DEVICE bool read(const Context& ctx, Group group, Channel& queue, const Get& get) {
  const Local local = find_local(ctx, get.dst, get.bytes);
  if (!local.is_known) {
    return staged_read(ctx, queue, remote_data(ctx, queue, get.src), get.dst, get.bytes);
  }
  const Ticket ticket =
      transfer(ctx, group, queue, abi::WqeOpcode::kRead, get.src, local, get.bytes);
  return get.until == Until::kPosted ? ticket.ok() : wait_for(ctx, queue, ticket);
}

// Reads an element of up to 16 bytes.
template <class W>
CHIME_DEVICE bool read_element(const Context& ctx, Channel& queue, const Remote& remote, W* value) {
  static_assert(sizeof(W) <= 16);
  constexpr std::uint32_t kFirst = sizeof(W) < 8 ? sizeof(W) : 8;
  std::uint64_t words[2] = {};
  bool ok = fetch_bytes(ctx, queue, remote, kFirst, &words[0]);
  if constexpr (sizeof(W) > 8) {
    ok = ok && fetch_bytes(ctx, queue, advanced(remote, 8), sizeof(W) - 8, &words[1]);
  }
  if (ok) memcpy(value, words, sizeof(W));
  return ok;
}

}  // namespace chime::nic

#endif  // CHIME_DEVICE_PATH_NIC_RMA_CUH_
