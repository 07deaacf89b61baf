// A PE that reaches its only peer by a NIC that does nothing: its queue pair is plain memory of the
// device, and a kernel itself writes the completion that a NIC would. So a call costs only Chime's
// own part, without waits.
#pragma once

#include <chime/abi/words.h>
#include <chime/chime.h>

#include <cstddef>

#include "measure.hpp"

namespace chime::perf {

// All of it in device memory; PE 1 is the peer.
struct NullNic {
  static constexpr std::uint32_t kDepth = 128;
  static constexpr std::size_t kDataBytes = 4096;

  alignas(128) abi::Channel queues[64];  // that to PE 1 is the second
  std::uint32_t route[2];
  abi::ChannelFault faults[2];
  abi::Watch watch;
  abi::AbortWord abort;
  abi::ErrorRecord error;
  alignas(64) std::byte sq[kDepth * abi::kWqebbBytes];
  alignas(64) std::byte cqe[abi::kCqeBytes];
  abi::NicFetchSlot fetch[kDepth + 1];
  std::uint64_t doorbell, touched, dead;
  std::uint32_t record;
  std::byte* peer_heap[2];  // null: nothing is mapped
  abi::Team all;
  abi::NicBuffers buffers;  // none
  alignas(4096) std::byte heap[abi::kHeapReserved + 2 * kDataBytes];

  CHIME_HOST_DEVICE std::byte* source() { return heap + abi::kHeapReserved; }
  CHIME_HOST_DEVICE std::byte* target() { return source() + kDataBytes; }
};

// Called by one thread, when everything that was posted is committed: completes all of it.
CHIME_DEVICE void complete_all(NullNic& nic) {
  const std::uint64_t last = channel::target_of(nic.queues[1].producer.ready) - 1;
  const std::uint32_t tail = abi::be16(static_cast<std::uint16_t>(last));
  static_assert(static_cast<unsigned>(abi::CqeOpcode::kRequest) == 0);
  exec::st<exec::Order::kRelease>(reinterpret_cast<std::uint32_t*>(nic.cqe + abi::kCqeTailWord),
                                  tail);
}

// Makes a new one at `place`, an address of the device.
inline void make_null_nic(NullNic* place) {
  auto nic = std::make_unique<NullNic>();
  std::memset(static_cast<void*>(nic.get()), 0, sizeof(NullNic));
  std::memset(nic->cqe, 0xff, sizeof nic->cqe);
  abi::Channel& queue = nic->queues[1];
  queue.head.ring = place->sq;
  queue.nic.bell.record = &place->record;
  queue.nic.bell.doorbell = &place->doorbell;
  queue.nic.cq.cqes = place->cqe;
  queue.nic.fetch = place->fetch;
  queue.head.depth = NullNic::kDepth;
  queue.nic.cq.count = 1;
  queue.nic.cq.mode = abi::NicCqMode::kCollapsed;
  queue.pe = 1;
  queue.fault = &place->faults[1];
  queue.watch = &place->watch;
  queue.head.path = Path::kNic;
  queue.index = 1;
  queue.progress.done = abi::kFresh;
  nic->route[1] = abi::route_word(Path::kNic, 1);
  exec::copy(place, nic.get(), sizeof(NullNic));
}

inline abi::Channels channels_of(NullNic* place) {
  abi::Channels all;
  all.pool = {place->queues, &place->touched, &place->watch, 64};
  all.route = place->route;
  all.count = 64;
  all.slots = 1;
  return all;
}

inline abi::NicMemory memory_of(NullNic* place) {
  abi::NicMemory memory;
  memory.buffers = &place->buffers;
  memory.heap = {reinterpret_cast<std::uint64_t>(place->heap),
                 reinterpret_cast<std::uint64_t>(place->heap) + sizeof place->heap, 0, 0, 0};
  return memory;
}

// The Context for kernels of its PE.
inline Context context_of(NullNic* place) {
  Context ctx;
  ctx.abi_version = kAbiVersion;
  ctx.size = sizeof ctx;
  ctx.pe.my_pe = 0;
  ctx.pe.n_pes = 2;
  ctx.pe.heap = place->heap;
  ctx.pe.heap_bytes = sizeof place->heap;
  ctx.pe.peer_heap = place->peer_heap;
  ctx.pe.dead = &place->dead;
  ctx.pe.abort = &place->abort;
  ctx.pe.error = ctx.pe.async_error = &place->error;
  ctx.pe.amo_path = Path::kNic;
  ctx.channels = channels_of(place);
  place->all.handle = 0;
  place->all.size = 2;
  place->all.my_rank = 0;
  place->all.lanes = 1;
  place->all.areas = reinterpret_cast<abi::SyncArea*>(place->heap);
  ctx.teams = {&place->all, 1, 1};
  ctx.nic = memory_of(place);
  return ctx;
}

}  // namespace chime::perf
