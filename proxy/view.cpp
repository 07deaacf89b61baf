#include "proxy/view.hpp"

#include <utility>

#include "chime/abi/words.h"
#include "proxy/layout.hpp"

namespace chime::proxy {
namespace {

using host::ContextOwner;
using host::Pieces;

abi::Channel make_channel(const View::Shape& shape, const Share& share, const StatePieces& state,
                          const SharedPieces& shared, const std::uint64_t* lost, unsigned index) {
  const std::size_t first = std::size_t{index} * shape.depth;
  abi::Channel channel{};
  channel.head.ring = reinterpret_cast<std::byte*>(shared.slots.there + first);
  channel.head.depth = static_cast<std::uint16_t>(shape.depth);
  channel.head.flags = shape.flags;
  channel.head.sharing = abi::Sharing::kGpu;
  channel.fifo = {};
  channel.fifo.told = shared.told.there + index;
  channel.fifo.results = shared.results.there + first;
  channel.fifo.busy = state.busy.there + first;
  channel.fifo.lost = lost;
  channel.pe = -1;
  channel.path = Path::kProxy;
  channel.fault = shared.faults.there + index;
  channel.watch = state.watch.there;
  channel.index = index;
  channel.context = host::context_id(share.owner);
  channel.progress.done = abi::kFresh;
  return channel;
}

abi::Channels describe_channels(const StatePieces& state, const Share& share) {
  abi::Channels all;
  all.pool.channels = state.channels.there;
  all.pool.touched = state.touched.there;
  all.pool.watch = state.watch.there;
  all.pool.count = all.count = kChannels;
  all.route = state.route.there;
  all.slots = share.fifos;
  all.id = host::context_id(share.owner);
  return all;
}

abi::NicMemory describe_memory(const View::Shape& shape, const Share& share,
                               const StatePieces& state, std::byte* staging,
                               const abi::NicBuffers* buffers) {
  abi::NicMemory memory;
  memory.buffers = buffers;
  memory.heap.begin = memory.heap.nic = reinterpret_cast<std::uint64_t>(shape.heap.data());
  memory.heap.end = memory.heap.begin + shape.heap.size();
  memory.staging.memory = staging;
  memory.staging.nic = reinterpret_cast<std::uint64_t>(staging);
  memory.staging.busy = state.staging_busy.there;
  memory.staging.lkey_be = 0;
  memory.staging.slots = share.staging_slots;
  memory.staging.slot_bytes = kStagingSlotBytes;
  memory.staging.reserved = 0;
  return memory;
}

FifoMemory memory_of(const View::Shape& shape, const SharedPieces& shared, unsigned index) {
  const std::size_t first = std::size_t{index} * shape.depth;
  return {{shared.slots.here + first, shape.depth},
          {shared.results.here + first, shape.depth},
          shared.told.here + index};
}

}  // namespace

View::View(host::Gpu& gpu, const Shape& shape, const std::function<bool(int pe)>& leads_to) {
  const Size size = {static_cast<std::size_t>(shape.n_pes), shape.depth};
  const Share of_kernels = share_of(ContextOwner::kKernels, shape.kernel_fifos),
              of_host = share_of(ContextOwner::kHost, shape.kernel_fifos);
  const auto take_kernel_state = [&](Pieces& pieces) {
    return take_state(pieces, size, of_kernels);
  };
  const auto take_host = [&](Pieces& pieces) {
    return HostPieces(pieces, size, of_kernels, of_host);
  };
  device_memory_ = gpu.allocate_device(host::counted(take_kernel_state));
  host_memory_ = gpu.allocate_host_visible(host::counted(take_host));
  const auto take_all_staging = [&](Pieces& pieces) {
    return std::pair(take_staging(pieces, of_kernels), take_staging(pieces, of_host));
  };
  staging_memory_ = gpu.allocate_host_visible(host::counted(take_all_staging));
  Pieces untouched(nullptr, staging_memory_->address());
  const auto [kernel_staging, host_staging] = take_all_staging(untouched);
  Pieces here(host_memory_->address(), host_memory_->address());
  const HostPieces host = take_host(here);
  host::DeviceImage image(*device_memory_);
  Pieces there = image.pieces();
  const StatePieces kernel_state = take_kernel_state(there);

  lost_ = std::make_unique<LostPeers>(std::span(host.lost.here, size.lost_words()), shape.n_pes);
  buffers_ = host.buffers.here;
  for (const int i : {0, 1}) buffers_->tables[i].buffers = host.tables[i].there;
  faults_ = {host.faults.here, of_kernels.fifos + of_host.fifos};
  fifos_.reserve(faults_.size());
  const auto fill = [&](const StatePieces& state, const SharedPieces& shared, std::byte* staging,
                        const Share& share) {
    for (unsigned i = 0; i < share.fifos; ++i) {
      state.channels.here[i] = make_channel(shape, share, state, shared, host.lost.there, i);
      fifos_.emplace_back(memory_of(shape, shared, i), *lost_);
    }
    for (int pe = 0; pe < shape.n_pes; ++pe)
      state.route.here[pe] = leads_to(pe) ? abi::route_word(Path::kProxy, 0) : 0;
    return ContextView{describe_channels(state, share),
                       describe_memory(shape, share, state, staging, buffers_)};
  };
  kernels_ = fill(kernel_state, host.of_kernels, kernel_staging.there, of_kernels);
  host_ = fill(host.host_state, host.of_host, host_staging.there, of_host);
  host_.channels.kernels = &kernels_.channels;
  image.copy_to_device(gpu);
}

}  // namespace chime::proxy
