// A PE whose only peer is reached by a NIC that does nothing: its queue pair is plain memory of the
// device, and a kernel itself writes the completion that a NIC would. So a call costs what Chime
// makes it cost, and nobody waits.
#pragma once

#include <chime/chime.h>

#include <cstddef>

#include "measure.hpp"

namespace chime::perf {

// All of it in device memory; PE 1 is the peer.
struct NullNic {
  static constexpr std::uint32_t kDepth = 128;
  static constexpr std::size_t kDataBytes = 4096;

  abi::NicQueue queues[2];
  abi::NicPeer peers[2];
  std::uint32_t route[2];
  abi::NicFault faults[2];
  abi::NicWatch watch;
  abi::AbortWord abort;
  abi::ErrorRecord error;
  alignas(64) std::byte sq[kDepth * abi::kWqebbBytes];
  alignas(64) std::byte cqe[abi::kCqeBytes];
  abi::NicFetchSlot fetch[kDepth + 1];
  std::uint64_t doorbell, touched;
  std::uint32_t record;
  std::byte* peer_heap[2];  // null: nothing is mapped
  abi::NicBuffers buffers;  // none
  alignas(4096) std::byte heap[abi::kHeapReserved + 2 * kDataBytes];

  CHIME_HOST_DEVICE std::byte* source() { return heap + abi::kHeapReserved; }
  CHIME_HOST_DEVICE std::byte* target() { return source() + kDataBytes; }
};

// By one thread, when all that was posted has been handed in: all of it is complete.
CHIME_DEVICE void complete_all(NullNic& nic) {
  const std::uint64_t last = nic::target_of(nic.queues[1].producer.ready) - 1;
  const std::uint32_t tail = abi::be16(static_cast<std::uint16_t>(last));
  static_assert(static_cast<unsigned>(abi::CqeOpcode::kRequest) == 0);
  exec::st<exec::Order::kRelease>(reinterpret_cast<std::uint32_t*>(nic.cqe + abi::kCqeTailWord),
                                  tail);
}

// A new one at `place`, an address of the device.
inline void make_null_nic(NullNic* place, abi::NicSharing sharing) {
  auto nic = std::make_unique<NullNic>();
  std::memset(static_cast<void*>(nic.get()), 0, sizeof(NullNic));
  std::memset(nic->cqe, 0xff, sizeof nic->cqe);
  abi::NicQueue& queue = nic->queues[1];
  queue.sq = place->sq;
  queue.record = &place->record;
  queue.doorbell = &place->doorbell;
  queue.cq = place->cqe;
  queue.fetch = place->fetch;
  queue.depth = NullNic::kDepth;
  queue.cqe_count = 1;
  queue.cq_mode = abi::NicCqMode::kCollapsed;
  queue.sharing = sharing;
  queue.pe = 1;
  queue.fault = &place->faults[1];
  queue.index = 1;
  queue.consumer.done = abi::kNicFresh;
  nic->route[1] = 2;
  exec::copy(place, nic.get(), sizeof(NullNic));
}

inline abi::NicContext nic_context_of(NullNic* place) {
  abi::NicContext context;
  context.queues = place->queues;
  context.route = place->route;
  context.faults = place->faults;
  context.peers = place->peers;
  context.touched = &place->touched;
  context.watch = &place->watch;
  context.buffers = &place->buffers;
  context.heap = {reinterpret_cast<std::uint64_t>(place->heap),
                  reinterpret_cast<std::uint64_t>(place->heap) + sizeof place->heap, 0, 0, 0};
  context.slots = 1;
  context.n_pes = 2;
  return context;
}

// What kernels of its PE are given.
inline Context context_of(NullNic* place) {
  Context ctx;
  ctx.abi_version = kAbiVersion;
  ctx.size = sizeof ctx;
  ctx.my_pe = 0;
  ctx.n_pes = 2;
  ctx.heap = place->heap;
  ctx.heap_bytes = sizeof place->heap;
  ctx.peer_heap = place->peer_heap;
  ctx.sync = reinterpret_cast<abi::SyncArea*>(place->heap);
  ctx.abort = &place->abort;
  ctx.error = &place->error;
  ctx.amo_path = Path::kNic;
  ctx.nic = nic_context_of(place);
  return ctx;
}

}  // namespace chime::perf
