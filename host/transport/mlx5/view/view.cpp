#include "host/transport/mlx5/view/view.hpp"

#include <utility>

#include "chime/abi/words.h"
#include "chime/abi/wqe.h"
#include "host/transport/mlx5/view/layout.hpp"

namespace chime::host::mlx5 {
namespace {

abi::NicPeer describe_peer(const Card& card) {
  return {card.heap, abi::be32(card.key), abi::be32(card.strict_key)};
}

std::uint8_t queue_flags(const Connections& nic, const Gpu& gpu) {
  std::uint8_t flags = abi::kNicResult4Big;
  if (nic.capabilities().results_8_big_endian) flags |= abi::kNicResult8Big;
  // What a NIC reads into a GPU's memory may still be on its way when the completion is seen.
  if (!gpu.orders_device_writes()) flags |= abi::kNicFlushReads;
  return flags;
}

// How `pe` takes what is written to it.
std::uint8_t order_flags(const Connections& nic, int pe) {
  std::uint8_t flags = 0;
  if (nic.card_of(pe).is_relaxed) flags |= abi::kNicUnorderedData;
  if (nic.counts_on_order(pe)) return flags;
  flags |= abi::kNicUnorderedWrites;
  if (nic.capabilities().extended_atomics) flags |= abi::kNicSwapsSignals;
  return flags;
}

abi::Channel describe_queue(const QueuePairView& view) {
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
  queue.cq_mode =
      view.mode == CompletionMode::kCollapsed ? abi::NicCqMode::kCollapsed : abi::NicCqMode::kRing;
  return channel;
}

// Addresses of scratch memory are the same in requests.
std::uint64_t in_requests(const void* scratch) { return reinterpret_cast<std::uint64_t>(scratch); }

// A context's pieces.
struct ContextPieces {
  StatePieces state;
  ScratchPieces scratch;
  NicFaults faults;
  const SharedPieces& shared;
  std::uint32_t scratch_key;
};

class Filler {
 public:
  Filler(const Connections& nic, std::uint8_t queue_flags, const DeviceMemory& heap)
      : nic_(nic), heap_(heap), flags_(queue_flags) {}

  NicView fill(const ContextPieces& mine, const Share& share) const {
    fill_channels(mine, share);
    fill_routes(mine.state, share);
    if (nic_.opens_on_demand()) *mine.state.openings.here = describe_openings(mine, share);
    return {describe_channels(mine.state, share), describe_memory(mine, share)};
  }

 private:
  abi::Channels describe_channels(const StatePieces& state, const Share& share) const {
    const std::size_t queues = std::size_t{nic_.places()} * share.slots;
    abi::Channels all;
    all.count = static_cast<std::uint32_t>(channels_of(queues));
    all.pool.channels = state.channels.there;
    all.pool.touched = state.touched.there;
    all.pool.watch = state.watch.there;
    all.pool.count = all.count;
    all.route = state.route.there;
    all.slots = share.slots;
    all.id = share.id;
    if (nic_.opens_on_demand()) {
      all.opened = state.opened.there;
      all.openings = state.openings.there;
    }
    return all;
  }

  abi::Openings describe_openings(const ContextPieces& mine, const Share& share) const {
    const bool is_host = share.id == context_id(ContextOwner::kHost);
    const SharedPieces::Asked& asked = is_host ? mine.shared.by_host : mine.shared.by_kernels;
    return {asked.count.there, asked.wanted.there, mine.shared.answers.there,
            mine.shared.peers.there, mine.state.claims.there};
  }

  abi::NicMemory describe_memory(const ContextPieces& mine, const Share& share) const {
    const Card own = nic_.card();
    abi::NicMemory memory;
    memory.buffers = mine.shared.buffers.here;
    memory.heap.begin = reinterpret_cast<std::uint64_t>(heap_.address());
    memory.heap.end = memory.heap.begin + heap_.bytes();
    memory.heap.nic = own.heap;
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
    for (unsigned place = 0; place < nic_.places(); ++place)
      for (unsigned slot = 0; slot < share.slots; ++slot) {
        abi::Channel channel = make_channel(mine, share, place, slot);
        mine.state.channels.here[channel.index] = channel;
      }
  }

  // To those that are reached: whom a place leads to is not known before.
  void fill_routes(const StatePieces& state, const Share& share) const {
    for (int pe = 0; pe < nic_.n_pes(); ++pe) {
      if (!nic_.reaches(pe)) continue;
      const std::uint32_t first = *nic_.place_of(pe) * share.slots;
      state.route.here[pe] = abi::route_word(Path::kNic, first);
      for (unsigned slot = 0; slot < share.slots; ++slot) {
        abi::Channel& channel = state.channels.here[first + slot];
        channel.head.flags |= order_flags(nic_, pe);
        channel.nic.peer = describe_peer(nic_.card_of(pe));
        channel.pe = pe;
      }
    }
  }

  abi::Channel make_channel(const ContextPieces& mine, const Share& share, unsigned place,
                            unsigned slot) const {
    const std::size_t index = std::size_t{place} * share.slots + slot;
    abi::Channel channel = describe_queue(nic_.queue_pair(place, share.first_slot + slot).view());
    channel.head.flags = flags_;
    channel.nic.fetch = mine.scratch.fetch.there + index * (depth_ + 1);
    channel.nic.fetch_nic = in_requests(channel.nic.fetch);
    channel.nic.fetch_lkey_be = abi::be32(mine.scratch_key);
    channel.pe = -1;
    channel.fault = &mine.faults.all[index];
    channel.watch = mine.state.watch.there;
    channel.index = static_cast<std::uint32_t>(index);
    channel.context = share.id;
    return channel;
  }

  const Connections& nic_;
  const DeviceMemory& heap_;
  const unsigned depth_ = nic_.options().queue_depth;
  const std::uint8_t flags_;
};

}  // namespace

View::View(const Connections& nic, Gpu& gpu, const DeviceMemory& heap)
    : nic_(nic), queue_flags_(queue_flags(nic, gpu)) {
  const Size size = {static_cast<std::size_t>(nic.n_pes()), nic.places()};
  const NicOptions& options = nic.options();
  const Share of_kernels = share_of(ContextOwner::kKernels, options),
              of_host = share_of(ContextOwner::kHost, options);
  const auto take_host = [&](Pieces& pieces) {
    const SharedPieces shared = take_shared(pieces, size, options);
    return std::pair(shared, take_state(pieces, size, of_host));
  };
  device_memory_ =
      gpu.allocate_device(counted([&](Pieces& pieces) { take_state(pieces, size, of_kernels); }));
  host_memory_ = gpu.allocate_host_visible(counted(take_host));

  Pieces here(host_memory_->address(), host_memory_->address());
  const auto taken_host = take_host(here);  // clang's lambdas capture no structured binding
  const SharedPieces& shared = taken_host.first;
  const StatePieces& host_state = taken_host.second;
  DeviceImage image(*device_memory_);
  Pieces there = image.pieces();
  const StatePieces kernel_state = take_state(there, size, of_kernels);

  buffers_ = shared.buffers.here;
  for (int i : {0, 1}) buffers_->tables[i].buffers = shared.tables[i].there;
  faults_of_kernels_ = {{shared.faults_of_kernels.here, size.places * of_kernels.slots},
                        of_kernels.slots,
                        of_kernels.first_slot};
  faults_of_host_ = {
      {shared.faults_of_host.here, size.places * of_host.slots}, of_host.slots, of_host.first_slot};

  const auto asks = [&](const SharedPieces::Asked& by) {
    return OpeningDesk::Asks{by.count.here, std::span(by.wanted.here, size.wanted_words())};
  };
  if (nic.opens_on_demand())
    desk_.emplace(asks(shared.by_kernels), asks(shared.by_host),
                  std::span(shared.answers.here, size.pes),
                  std::span(shared.peers.here, size.places));
  const Filler filler(nic, queue_flags_, heap);
  const auto fill = [&](ContextOwner owner, const StatePieces& state, const Share& share) {
    const Scratch scratch = nic.scratch(owner);
    Pieces pieces(nullptr, scratch.memory);
    const ScratchPieces taken = take_scratch(pieces, size.places, share, options.queue_depth);
    return filler.fill({state, taken, faults_of(owner), shared, scratch.key}, share);
  };
  kernels_ = fill(ContextOwner::kKernels, kernel_state, of_kernels);
  host_ = fill(ContextOwner::kHost, host_state, of_host);
  host_.channels.kernels = &kernels_.channels;
  image.copy_to_device(gpu);
}

void View::answer(int pe, bool is_reached) {
  if (!is_reached) return desk_->refuse(pe);
  desk_->answer(*nic_.place_of(pe), {.nic = describe_peer(nic_.card_of(pe)),
                                     .pe = pe,
                                     .flags = std::uint32_t(queue_flags_ | order_flags(nic_, pe)),
                                     .reserved = 0});
}

}  // namespace chime::host::mlx5
