#include "host/nic_table.hpp"

#include <new>

#include "chime/abi/words.h"
#include "chime/abi/wqe.h"

namespace chime::host {
namespace {

// Memory that stands in for local buffers that the NIC does not know. A kernel may have every block
// at a put from its stack; the host operates from few threads.
constexpr std::uint32_t kStagingSlotBytes = 64 * 1024;
constexpr std::uint32_t kKernelStagingSlots = 64;
constexpr std::uint32_t kHostStagingSlots = 4;

// Hands out typed pieces of memory from front to back; without memory it only counts.
class Pieces {
 public:
  explicit Pieces(std::byte* memory) : memory_(memory) {}

  template <class T>
  T* take(std::size_t count) {
    constexpr std::size_t kLine = 128;
    const std::size_t at = (used_ + kLine - 1) & ~(kLine - 1);
    used_ = at + count * sizeof(T);
    return memory_ ? new (memory_ + at) T[count]() : nullptr;
  }
  std::size_t used() const { return used_; }

 private:
  std::byte* const memory_;
  std::size_t used_ = 0;
};

// One context's share of the queue pairs to each peer, and its memory.
struct Share {
  std::uint32_t id;
  unsigned first_slot, slots;
  std::uint32_t staging_slots;
};

Share kernel_share(const NicOptions& options) {
  return {kKernelContextId, 0, options.slots, kKernelStagingSlots};
}
Share host_share(const NicOptions& options) {
  return {kHostContextId, options.slots, kHostQueuePairs, kHostStagingSlots};
}

struct ContextPieces {
  abi::Channel* channels;
  std::uint32_t* route;
  abi::ChannelFault* faults;  // one of each queue pair
  std::uint64_t* touched;
  abi::Watch* watch;
  abi::NicFetchSlot* fetch;     // depth + 1 of each queue
  std::uint64_t* staging_busy;  // of each slot, and how often one was taken
  std::byte* staging;
};

// So many that a word of touched bits tells of one context alone.
std::size_t channels_of(std::size_t queues) { return (queues + 63) / 64 * 64; }

ContextPieces take_context(Pieces& pieces, std::size_t n_pes, const Share& share, unsigned depth) {
  const std::size_t queues = n_pes * share.slots, channels = channels_of(queues);
  return {pieces.take<abi::Channel>(channels),
          pieces.take<std::uint32_t>(n_pes),
          pieces.take<abi::ChannelFault>(queues),
          pieces.take<std::uint64_t>(channels / 64),
          pieces.take<abi::Watch>(1),
          pieces.take<abi::NicFetchSlot>(queues * (depth + 1)),
          pieces.take<std::uint64_t>(share.staging_slots + 1),
          pieces.take<std::byte>(std::size_t{share.staging_slots} * kStagingSlotBytes)};
}

// What both contexts share.
struct CommonPieces {
  abi::NicPeer* peers;
  abi::NicBuffers* buffers;
  abi::NicBuffer* tables[2];
};

CommonPieces take_common(Pieces& pieces, std::size_t n_pes) {
  return {pieces.take<abi::NicPeer>(n_pes),
          pieces.take<abi::NicBuffers>(1),
          {pieces.take<abi::NicBuffer>(abi::kNicMostBuffers),
           pieces.take<abi::NicBuffer>(abi::kNicMostBuffers)}};
}

abi::NicPeer describe_peer(const Mlx5Transport& nic, int pe) {
  abi::NicPeer peer{};
  if (!nic.reaches(pe)) return peer;
  const NicHeap heap = nic.heap(pe);
  peer.heap = heap.start;
  peer.rkey_be = abi::be32(heap.key);
  peer.strict_rkey_be = abi::be32(heap.strict_key);
  return peer;
}

std::uint8_t queue_flags(const Mlx5Transport& nic, const Gpu& gpu) {
  std::uint8_t flags = abi::kNicResult4Big;
  if (nic.results_8_big_endian()) flags |= abi::kNicResult8Big;
  // What a NIC reads into a GPU's memory may still be on its way when the completion is seen.
  if (!gpu.orders_device_writes()) flags |= abi::kNicFlushReads;
  return flags;
}

abi::Channel describe_queue(const mlx5::QueuePairView& view) {
  abi::Channel channel{};
  channel.head.depth = static_cast<std::uint16_t>(1u << view.log2_blocks);
  channel.head.sharing = abi::Sharing::kGpu;
  channel.head.number_be = abi::be32(view.qpn << 8);
  channel.path = Path::kNic;
  channel.progress.done = abi::kFresh;
  abi::NicQueue& queue = channel.nic;
  channel.head.ring = view.send_queue;
  queue.bell.record = view.send_record;
  queue.bell.doorbell = view.doorbell;
  queue.cq = view.completions;
  queue.cqe_count = 1u << view.log2_completions;
  queue.cq_mode = view.mode == mlx5::CompletionMode::kCollapsed ? abi::NicCqMode::kCollapsed
                                                                : abi::NicCqMode::kRing;
  return channel;
}

// Addresses of scratch memory are the same in requests.
std::uint64_t in_requests(const void* scratch) { return reinterpret_cast<std::uint64_t>(scratch); }

class Filler {
 public:
  Filler(const Mlx5Transport& nic, const Gpu& gpu, const DeviceMemory& heap, int n_pes,
         unsigned depth)
      : nic_(nic),
        heap_(heap),
        n_pes_(n_pes),
        depth_(depth),
        flags_(queue_flags(nic, gpu)),
        scratch_key_be_(abi::be32(nic.scratch().key)) {}

  void fill(const CommonPieces& common) const {
    for (int pe = 0; pe < n_pes_; ++pe) common.peers[pe] = describe_peer(nic_, pe);
    for (int i : {0, 1}) common.buffers->tables[i].buffers = common.tables[i];
  }

  NicView fill(const ContextPieces& mine, const CommonPieces& common, const Share& share,
               const NicHeap& own) const {
    fill_channels(mine, share);
    return {describe_channels(mine, share), describe_memory(mine, common, share, own)};
  }

 private:
  abi::Channels describe_channels(const ContextPieces& mine, const Share& share) const {
    const auto queues = static_cast<std::size_t>(n_pes_) * share.slots;
    abi::Channels all;
    all.count = static_cast<std::uint32_t>(channels_of(queues));
    all.pool.channels = mine.channels;
    all.pool.touched = mine.touched;
    all.pool.watch = mine.watch;
    all.pool.count = all.count;
    all.route = mine.route;
    all.slots = share.slots;
    all.id = share.id;
    return all;
  }

  abi::NicMemory describe_memory(const ContextPieces& mine, const CommonPieces& common,
                                 const Share& share, const NicHeap& own) const {
    abi::NicMemory memory;
    memory.peers = common.peers;
    memory.buffers = common.buffers;
    memory.heap.begin = reinterpret_cast<std::uint64_t>(heap_.address());
    memory.heap.end = memory.heap.begin + heap_.bytes();
    memory.heap.nic = own.start;
    memory.heap.lkey_be = abi::be32(own.key);
    memory.staging.memory = mine.staging;
    memory.staging.nic = in_requests(mine.staging);
    memory.staging.busy = mine.staging_busy;
    memory.staging.lkey_be = scratch_key_be_;
    memory.staging.slots = share.staging_slots;
    memory.staging.slot_bytes = kStagingSlotBytes;
    return memory;
  }

  void fill_channels(const ContextPieces& mine, const Share& share) const {
    for (int pe = 0; pe < n_pes_; ++pe) {
      if (!nic_.reaches(pe)) continue;
      const std::size_t first = static_cast<std::size_t>(pe) * share.slots;
      mine.route[pe] = abi::route_word(Path::kNic, static_cast<std::uint32_t>(first));
      for (unsigned slot = 0; slot < share.slots; ++slot)
        mine.channels[first + slot] = make_channel(mine, share, pe, slot);
    }
  }

  abi::Channel make_channel(const ContextPieces& mine, const Share& share, int pe,
                            unsigned slot) const {
    const std::size_t index = static_cast<std::size_t>(pe) * share.slots + slot;
    abi::Channel channel = describe_queue(nic_.queue_pair(pe, share.first_slot + slot));
    channel.head.flags = flags_ | order_flags(pe);
    channel.nic.fetch = mine.fetch + index * (depth_ + 1);
    channel.nic.fetch_nic = in_requests(channel.nic.fetch);
    channel.nic.fetch_lkey_be = scratch_key_be_;
    channel.pe = pe;
    channel.fault = mine.faults + index;
    channel.watch = mine.watch;
    channel.index = static_cast<std::uint32_t>(index);
    channel.context = share.id;
    return channel;
  }

  std::uint8_t order_flags(int pe) const {
    std::uint8_t flags = 0;
    if (nic_.heap(pe).is_relaxed) flags |= abi::kNicUnorderedData;
    if (nic_.counts_on_order(pe)) return flags;
    flags |= abi::kNicUnorderedWrites;
    if (nic_.has_masked_atomics()) flags |= abi::kNicSwapsSignals;
    return flags;
  }

  const Mlx5Transport& nic_;
  const DeviceMemory& heap_;
  const int n_pes_;
  const unsigned depth_;
  const std::uint8_t flags_;
  const std::uint32_t scratch_key_be_;
};

struct AllPieces {
  CommonPieces common;
  ContextPieces kernels, host;
};

AllPieces take_all(Pieces& pieces, int n_pes, const NicOptions& options) {
  const auto pes = static_cast<std::size_t>(n_pes);
  const CommonPieces common = take_common(pieces, pes);
  const ContextPieces kernels =
      take_context(pieces, pes, kernel_share(options), options.queue_depth);
  return {common, kernels, take_context(pieces, pes, host_share(options), options.queue_depth)};
}

}  // namespace

std::size_t NicTable::bytes(int n_pes, const NicOptions& options) {
  Pieces counted(nullptr);
  take_all(counted, n_pes, options);
  return counted.used();
}

NicTable::NicTable(const Mlx5Transport& nic, const Gpu& gpu, const DeviceMemory& heap, int n_pes,
                   const NicOptions& options) {
  Pieces pieces(nic.scratch().memory);
  const AllPieces all = take_all(pieces, n_pes, options);
  const Filler filler(nic, gpu, heap, n_pes, options.queue_depth);
  filler.fill(all.common);
  kernels_ = filler.fill(all.kernels, all.common, kernel_share(options), nic.own_heap());
  host_ = filler.fill(all.host, all.common, host_share(options), nic.own_heap());
  host_.channels.kernels = &kernels_.channels;
  buffers_ = all.common.buffers;
}

}  // namespace chime::host
