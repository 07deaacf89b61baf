#include "host/transport/mlx5/view/view.hpp"

#include "chime/abi/words.h"
#include "chime/abi/wqe.h"
#include "host/transport/mlx5/view/layout.hpp"

namespace chime::host::mlx5 {
namespace {

abi::NicPeer describe_peer(const EndpointInfo& endpoint_info) {
  return {endpoint_info.heap, abi::be32(endpoint_info.key), abi::be32(endpoint_info.strict_key)};
}

std::uint8_t queue_flags(const Connections& nic, const Gpu& gpu) {
  std::uint8_t flags = abi::kNicResult4Big;
  if (nic.capabilities().results_8_big_endian) flags |= abi::kNicResult8Big;
  // A NIC's read into a GPU's memory may still be in transit when the completion is seen.
  if (!gpu.orders_device_writes()) flags |= abi::kNicFlushReads;
  return flags;
}

// How `pe` takes what is written to it.
std::uint8_t order_flags(const Connections& nic, int pe) {
  std::uint8_t flags = 0;
  if (nic.endpoint_info_of(pe).is_relaxed) flags |= abi::kNicUnorderedData;
  if (nic.counts_on_order(pe)) return flags;
  flags |= abi::kNicUnorderedWrites;
  if (nic.capabilities().extended_atomics) flags |= abi::kNicSwapsSignals;
  return flags;
}

void describe_queue(abi::Channel& channel, const QueuePairView& view) {
  channel.head.ring = view.send_queue;
  channel.head.depth = static_cast<std::uint16_t>(1u << view.log2_blocks);
  channel.head.number_be = abi::be32(view.qpn << 8);
  channel.head.path = Path::kNic;
  abi::NicQueue& queue = channel.nic;
  queue.bell.record = view.send_record;
  queue.bell.doorbell = view.doorbell;
  queue.cq.cqes = view.completions;
  queue.cq.count = 1u << view.log2_completions;
  queue.cq.mode =
      view.mode == CompletionMode::kCollapsed ? abi::NicCqMode::kCollapsed : abi::NicCqMode::kRing;
}

ScratchPieces scratch_of(const Connections& nic, ContextOwner owner) {
  Pieces pieces(nullptr, nic.scratch(owner).memory);
  return take_scratch(pieces, nic.places(), owner, nic.options());
}

ChannelTables::Memory describe_memory(const Connections& nic, const DeviceMemory& heap) {
  const auto begin = reinterpret_cast<std::uint64_t>(heap.address());
  const EndpointInfo own = nic.endpoint_info();
  ChannelTables::Memory memory{
      .heap = {begin, begin + heap.bytes(), own.heap, abi::be32(own.key), 0},
      .staging = {},
      .staging_key = {}};
  for (const ContextOwner owner : {ContextOwner::kKernels, ContextOwner::kHost}) {
    memory.staging[context_id(owner)] = scratch_of(nic, owner).staging.there;
    memory.staging_key[context_id(owner)] = nic.scratch(owner).key;
  }
  return memory;
}

}  // namespace

View::View(const Connections& nic, Gpu& gpu, const DeviceMemory& heap, ChannelTables& tables)
    : nic_(nic),
      tables_(tables),
      queue_flags_(queue_flags(nic, gpu)),
      first_place_(tables.take_places(nic.places())) {
  tables.set_memory(describe_memory(nic, heap));
  for (const ContextOwner owner : {ContextOwner::kKernels, ContextOwner::kHost}) fill(owner);
  for (int pe = 0; pe < nic.n_pes(); ++pe)
    if (nic.reaches(pe)) lead(pe);
}

void View::fill(ContextOwner owner) {
  const NicOptions& options = nic_.options();
  const unsigned slots = slots_of(owner, options), first = first_slot_of(owner, options);
  const ScratchPieces scratch = scratch_of(nic_, owner);
  for (unsigned place = 0; place < nic_.places(); ++place)
    for (unsigned slot = 0; slot < slots; ++slot) {
      abi::Channel& channel = tables_.channel(owner, place_in_tables(place), slot);
      describe_queue(channel, nic_.queue_pair(place, first + slot).view());
      channel.head.flags = queue_flags_;
      const std::size_t queue = std::size_t{place} * slots + slot;
      channel.nic.fetch = scratch.fetch.there + queue * (options.queue_depth + 1);
      channel.nic.fetch_nic = reinterpret_cast<std::uint64_t>(channel.nic.fetch);  // in requests
      channel.nic.fetch_lkey_be = abi::be32(nic_.scratch(owner).key);
    }
}

// The peer of a place is not known before it is reached.
void View::lead(int pe) {
  const unsigned place = place_in_tables(*nic_.place_of(pe));
  for (const ContextOwner owner : {ContextOwner::kKernels, ContextOwner::kHost})
    for (unsigned slot = 0; slot < tables_.slots(owner); ++slot) {
      abi::Channel& channel = tables_.channel(owner, place, slot);
      channel.head.flags |= order_flags(nic_, pe);
      channel.nic.peer = describe_peer(nic_.endpoint_info_of(pe));
      channel.pe = pe;
    }
  tables_.lead(pe, Path::kNic, place);
}

void View::answer(int pe, bool is_reached) {
  if (!is_reached) return opening_requests()->refuse(pe);
  opening_requests()->answer(place_in_tables(*nic_.place_of(pe)),
                             {.nic = describe_peer(nic_.endpoint_info_of(pe)),
                              .pe = pe,
                              .flags = std::uint32_t(queue_flags_ | order_flags(nic_, pe)),
                              .reserved = 0});
}

std::span<const abi::ChannelFault> View::faults_of(ContextOwner owner, int pe) const {
  const std::optional<unsigned> place = nic_.place_of(pe);
  if (!place) return {};
  return tables_.faults(owner, place_in_tables(*place), 1);
}

std::span<const abi::ChannelFault> View::faults_of(ContextOwner owner) const {
  return tables_.faults(owner, first_place_, nic_.places());
}

}  // namespace chime::host::mlx5
