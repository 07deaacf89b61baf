#include "host/transport/mlx5/nic_table.hpp"

#include <utility>

#include "chime/abi/words.h"
#include "chime/abi/wqe.h"
#include "host/transport/mlx5/nic_pieces.hpp"

namespace chime::host {
namespace {

// Memory that stands in for local buffers that the NIC does not know. A kernel may have every block
// at a put from its stack; the host operates from few threads.
constexpr std::uint32_t kStagingSlotBytes = 64 * 1024;
constexpr std::uint32_t kKernelStagingSlots = 64;
constexpr std::uint32_t kHostStagingSlots = 4;

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

// What a context's threads alone use.
struct StatePieces {
  Piece<abi::Channel> channels;
  Piece<std::uint32_t> route;
  Piece<std::uint64_t> touched;
  Piece<abi::Watch> watch;
  Piece<std::uint64_t> staging_busy;  // of each slot, and how often one was taken
  Piece<abi::NicPeer> peers;
};

// So many that a word of touched bits tells of one context alone.
std::size_t channels_of(std::size_t queues) { return (queues + 63) / 64 * 64; }

StatePieces take_state(Pieces& pieces, std::size_t n_pes, const Share& share) {
  const std::size_t channels = channels_of(n_pes * share.slots);
  return {pieces.take<abi::Channel>(channels),
          pieces.take<std::uint32_t>(n_pes),
          pieces.take<std::uint64_t>(channels / 64),
          pieces.take<abi::Watch>(1),
          pieces.take<std::uint64_t>(share.staging_slots + 1),
          pieces.take<abi::NicPeer>(n_pes)};
}

// What its NIC reads and writes, in the transport's scratch memory.
struct ScratchPieces {
  Piece<abi::NicFetchSlot> fetch;  // depth + 1 of each queue
  Piece<std::byte> staging;
};

ScratchPieces take_scratch(Pieces& pieces, std::size_t n_pes, const Share& share, unsigned depth) {
  return {pieces.take<abi::NicFetchSlot>(n_pes * share.slots * (depth + 1)),
          pieces.take<std::byte>(std::size_t{share.staging_slots} * kStagingSlotBytes)};
}

// What the host reads, or writes, while kernels run.
struct SharedPieces {
  Piece<abi::ChannelFault> faults_of_kernels, faults_of_host;  // one of each queue pair
  Piece<abi::NicBuffers> buffers;
  Piece<abi::NicBuffer> tables[2];
};

SharedPieces take_shared(Pieces& pieces, std::size_t n_pes, const NicOptions& options) {
  return {pieces.take<abi::ChannelFault>(n_pes * kernel_share(options).slots),
          pieces.take<abi::ChannelFault>(n_pes * host_share(options).slots),
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

// A context's pieces.
struct ContextPieces {
  StatePieces state;
  ScratchPieces scratch;
  NicFaults faults;
  abi::NicBuffers* buffers;
  std::uint32_t scratch_key;
};

class Filler {
 public:
  Filler(const Mlx5Transport& nic, const Gpu& gpu, const DeviceMemory& heap, int n_pes,
         unsigned depth)
      : nic_(nic), heap_(heap), n_pes_(n_pes), depth_(depth), flags_(queue_flags(nic, gpu)) {}

  NicView fill(const ContextPieces& mine, const Share& share) const {
    for (int pe = 0; pe < n_pes_; ++pe) mine.state.peers.here[pe] = describe_peer(nic_, pe);
    fill_channels(mine, share);
    return {describe_channels(mine.state, share), describe_memory(mine, share)};
  }

 private:
  abi::Channels describe_channels(const StatePieces& state, const Share& share) const {
    const auto queues = static_cast<std::size_t>(n_pes_) * share.slots;
    abi::Channels all;
    all.count = static_cast<std::uint32_t>(channels_of(queues));
    all.pool.channels = state.channels.there;
    all.pool.touched = state.touched.there;
    all.pool.watch = state.watch.there;
    all.pool.count = all.count;
    all.route = state.route.there;
    all.slots = share.slots;
    all.id = share.id;
    return all;
  }

  abi::NicMemory describe_memory(const ContextPieces& mine, const Share& share) const {
    const NicHeap own = nic_.own_heap();
    abi::NicMemory memory;
    memory.peers = mine.state.peers.there;
    memory.buffers = mine.buffers;
    memory.heap.begin = reinterpret_cast<std::uint64_t>(heap_.address());
    memory.heap.end = memory.heap.begin + heap_.bytes();
    memory.heap.nic = own.start;
    memory.heap.lkey_be = abi::be32(own.key);
    memory.staging.memory = mine.scratch.staging.there;
    memory.staging.nic = in_requests(mine.scratch.staging.there);
    memory.staging.busy = mine.state.staging_busy.there;
    memory.staging.lkey_be = abi::be32(mine.scratch_key);
    memory.staging.slots = share.staging_slots;
    memory.staging.slot_bytes = kStagingSlotBytes;
    return memory;
  }

  void fill_channels(const ContextPieces& mine, const Share& share) const {
    for (int pe = 0; pe < n_pes_; ++pe) {
      if (!nic_.reaches(pe)) continue;
      const std::size_t first = static_cast<std::size_t>(pe) * share.slots;
      mine.state.route.here[pe] = abi::route_word(Path::kNic, static_cast<std::uint32_t>(first));
      for (unsigned slot = 0; slot < share.slots; ++slot)
        mine.state.channels.here[first + slot] = make_channel(mine, share, pe, slot);
    }
  }

  abi::Channel make_channel(const ContextPieces& mine, const Share& share, int pe,
                            unsigned slot) const {
    const std::size_t index = static_cast<std::size_t>(pe) * share.slots + slot;
    abi::Channel channel = describe_queue(nic_.queue_pair(pe, share.first_slot + slot));
    channel.head.flags = flags_ | order_flags(pe);
    channel.nic.fetch = mine.scratch.fetch.there + index * (depth_ + 1);
    channel.nic.fetch_nic = in_requests(channel.nic.fetch);
    channel.nic.fetch_lkey_be = abi::be32(mine.scratch_key);
    channel.pe = pe;
    channel.fault = &mine.faults.all[index];
    channel.watch = mine.state.watch.there;
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
};

// Bytes that `take(pieces)` takes.
template <class Take>
std::size_t counted(Take take) {
  Pieces pieces;
  take(pieces);
  return pieces.used();
}

}  // namespace

ScratchBytes NicTable::scratch(int n_pes, const NicOptions& options) {
  const auto of = [&](const Share& share) {
    return counted([&](Pieces& pieces) {
      take_scratch(pieces, static_cast<std::size_t>(n_pes), share, options.queue_depth);
    });
  };
  return {of(kernel_share(options)), of(host_share(options))};
}

NicTable::NicTable(const Mlx5Transport& nic, Gpu& gpu, const DeviceMemory& heap, int n_pes,
                   const NicOptions& options) {
  const auto pes = static_cast<std::size_t>(n_pes);
  const Share of_kernels = kernel_share(options), of_host = host_share(options);
  const auto take_host = [&](Pieces& pieces) {
    const SharedPieces shared = take_shared(pieces, pes, options);
    return std::pair(shared, take_state(pieces, pes, of_host));
  };
  device_memory_ =
      gpu.allocate_device(counted([&](Pieces& pieces) { take_state(pieces, pes, of_kernels); }));
  host_memory_ = gpu.allocate_host_visible(counted(take_host));

  Pieces here(host_memory_->address(), host_memory_->address());
  const auto [shared, host_state] = take_host(here);
  DeviceImage image(*device_memory_);
  Pieces there = image.pieces();
  const StatePieces kernel_state = take_state(there, pes, of_kernels);

  buffers_ = shared.buffers.here;
  for (int i : {0, 1}) buffers_->tables[i].buffers = shared.tables[i].there;
  faults_of_kernels_ = {{shared.faults_of_kernels.here, pes * of_kernels.slots},
                        of_kernels.slots,
                        of_kernels.first_slot};
  faults_of_host_ = {
      {shared.faults_of_host.here, pes * of_host.slots}, of_host.slots, of_host.first_slot};

  const auto scratch_of = [&](QueueOwner owner, const Share& share) {
    Pieces pieces(nullptr, nic.scratch(owner).memory);
    return take_scratch(pieces, pes, share, options.queue_depth);
  };
  const auto key_of = [&](QueueOwner owner) { return nic.scratch(owner).key; };
  const Filler filler(nic, gpu, heap, n_pes, options.queue_depth);
  kernels_ = filler.fill({kernel_state, scratch_of(QueueOwner::kKernels, of_kernels),
                          faults_of_kernels_, buffers_, key_of(QueueOwner::kKernels)},
                         of_kernels);
  host_ = filler.fill({host_state, scratch_of(QueueOwner::kHost, of_host), faults_of_host_,
                       buffers_, key_of(QueueOwner::kHost)},
                      of_host);
  host_.channels.kernels = &kernels_.channels;
  image.copy_to_device(gpu);
}

}  // namespace chime::host
