// Addresses and keys in work requests of symmetric memory at a peer. (Memory of this PE:
// device/path/local_memory.cuh.)
#ifndef CHIME_DEVICE_PATH_NIC_MEMORY_CUH_
#define CHIME_DEVICE_PATH_NIC_MEMORY_CUH_

#include <cstddef>
#include <cstdint>

#include "chime/abi/channel.h"
#include "chime/device/exec/exec.cuh"
#include "chime/device/path/local_memory.cuh"
#include "chime/device/route.cuh"

namespace chime::nic {

using exec::Order;
using exec::Scope;

struct Remote {
  std::uint64_t address;
  std::uint32_t rkey_be;
};

// The same memory from `bytes` on.
CHIME_DEVICE Remote advanced(const Remote& remote, std::uint64_t bytes) {
  return {remote.address + bytes, remote.rkey_be};
}

CHIME_DEVICE abi::NicPeer peer_of(const abi::Channel& queue) {
  return exec::ld_settled(&queue.nic.peer);
}

CHIME_DEVICE std::uint64_t address_at(const abi::NicPeer& peer, const Context& ctx,
                                      const void* symmetric) {
  return peer.heap +
         static_cast<std::uint64_t>(static_cast<const std::byte*>(symmetric) - ctx.pe.heap);
}

// Data at the peer of `queue`.
CHIME_DEVICE Remote remote_data(const Context& ctx, const abi::Channel& queue,
                                const void* symmetric) {
  const abi::NicPeer peer = peer_of(queue);
  return {address_at(peer, ctx, symmetric), peer.rkey_be};
}
// A word of signals and atomics, or a small put, which may be a flag: a write to it never overtakes
// data.
CHIME_DEVICE Remote remote_word(const Context& ctx, const abi::Channel& queue,
                                const void* symmetric) {
  const abi::NicPeer peer = peer_of(queue);
  return {address_at(peer, ctx, symmetric), peer.strict_rkey_be};
}

}  // namespace chime::nic

#endif  // CHIME_DEVICE_PATH_NIC_MEMORY_CUH_
