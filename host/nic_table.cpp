#include "host/nic_table.hpp"

#include <new>

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
  abi::NicQueue* queues;
  std::uint32_t* route;
  abi::NicFault* faults;
  std::uint64_t* touched;
  abi::NicWatch* watch;
  abi::NicFetchSlot* fetch;     // depth + 1 of each queue
  std::uint64_t* staging_busy;  // of each slot, and how often one was taken
  std::byte* staging;
};

ContextPieces take_context(Pieces& pieces, std::size_t n_pes, const Share& share, unsigned depth) {
  const std::size_t queues = n_pes * share.slots;
  return {pieces.take<abi::NicQueue>(queues),
          pieces.take<std::uint32_t>(n_pes),
          pieces.take<abi::NicFault>(queues),
          pieces.take<std::uint64_t>((queues + 63) / 64),
          pieces.take<abi::NicWatch>(1),
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

abi::NicQueue describe_queue(const mlx5::QueuePairView& view) {
  abi::NicQueue queue{};
  queue.sq = view.send_queue;
  queue.record = view.send_record;
  queue.doorbell = view.doorbell;
  queue.cq = view.completions;
  queue.qpn_be = abi::be32(view.qpn << 8);
  queue.depth = static_cast<std::uint16_t>(1u << view.log2_blocks);
  queue.cqe_count = 1u << view.log2_completions;
  queue.cq_mode = view.mode == mlx5::CompletionMode::kCollapsed ? abi::NicCqMode::kCollapsed
                                                                : abi::NicCqMode::kRing;
  queue.sharing = abi::NicSharing::kGpu;
  queue.consumer.done = abi::kNicFresh;
  return queue;
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

  abi::NicContext fill(const ContextPieces& mine, const CommonPieces& common, const Share& share,
                       const NicHeap& own) const {
    abi::NicContext context;
    context.queues = mine.queues;
    context.route = mine.route;
    context.faults = mine.faults;
    context.peers = common.peers;
    context.touched = mine.touched;
    context.watch = mine.watch;
    context.buffers = common.buffers;
    context.heap.begin = reinterpret_cast<std::uint64_t>(heap_.address());
    context.heap.end = context.heap.begin + heap_.bytes();
    context.heap.nic = own.start;
    context.heap.lkey_be = abi::be32(own.key);
    context.staging.memory = mine.staging;
    context.staging.nic = in_requests(mine.staging);
    context.staging.busy = mine.staging_busy;
    context.staging.lkey_be = scratch_key_be_;
    context.staging.slots = share.staging_slots;
    context.staging.slot_bytes = kStagingSlotBytes;
    context.slots = share.slots;
    context.n_pes = static_cast<std::uint32_t>(n_pes_);
    context.id = share.id;
    fill_queues(mine, share);
    return context;
  }

 private:
  void fill_queues(const ContextPieces& mine, const Share& share) const {
    for (int pe = 0; pe < n_pes_; ++pe) {
      if (nic_.reaches(pe))
        mine.route[pe] = 1 + static_cast<std::uint32_t>(abi::nic_queue_index(
                                 share.slots, 0, static_cast<std::uint32_t>(pe)));
      for (unsigned slot = 0; slot < share.slots; ++slot) {
        const auto index = static_cast<std::size_t>(
            abi::nic_queue_index(share.slots, slot, static_cast<std::uint32_t>(pe)));
        abi::NicQueue& queue = mine.queues[index];
        if (nic_.reaches(pe)) queue = describe_queue(nic_.queue_pair(pe, share.first_slot + slot));
        queue.pe = pe;
        queue.flags = flags_;
        if (nic_.reaches(pe)) queue.flags |= order_flags(pe);
        queue.fetch = mine.fetch + index * (depth_ + 1);
        queue.fetch_nic = in_requests(queue.fetch);
        queue.fetch_lkey_be = scratch_key_be_;
        queue.fault = mine.faults + index;
        queue.index = static_cast<std::uint32_t>(index);
        queue.context = share.id;
      }
    }
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
  buffers_ = all.common.buffers;
}

}  // namespace chime::host
