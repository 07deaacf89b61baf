#include "proxy/view.hpp"

#include <utility>

namespace chime::proxy {
namespace {

using host::ChannelTables;
using host::ContextOwner;

FifoMemory memory_of(const FifoPieces& shared, unsigned fifo, unsigned depth, unsigned answers) {
  return {{shared.slots.here + std::size_t{fifo} * depth, depth},
          {shared.answers.here + std::size_t{fifo} * answers, answers},
          shared.report.here + fifo};
}

// Requests name memory by the address that device code uses, and so does a PE without a NIC.
std::unique_ptr<host::DeviceMemory> say_plain_memory(host::Gpu& gpu, std::span<std::byte> heap,
                                                     ChannelTables& tables) {
  auto staging = gpu.allocate_host_visible(2 * host::kStagingBytes);
  const auto begin = reinterpret_cast<std::uint64_t>(heap.data());
  tables.set_memory({.heap = {begin, begin + heap.size(), begin, 0, 0},
                     .staging = {staging->address(), staging->address() + host::kStagingBytes},
                     .staging_key = {}});
  return staging;
}

}  // namespace

View::View(host::Gpu& gpu, const Shape& shape, std::function<bool(int pe)> leads_to,
           ChannelTables& tables) {
  const unsigned of_kernels = tables.slots(ContextOwner::kKernels),
                 of_host = tables.slots(ContextOwner::kHost);
  const auto take_host = [&](host::Pieces& pieces) {
    return HostPieces(pieces, static_cast<std::size_t>(shape.n_pes), of_kernels, of_host,
                      shape.depth);
  };
  const auto take_kernels_busy = [&](host::Pieces& pieces) {
    return take_busy(pieces, of_kernels, shape.depth);
  };
  busy_memory_ = gpu.allocate_device(host::counted(take_kernels_busy));  // zero
  host_memory_ = gpu.allocate_host_visible(host::counted(take_host));
  host::Pieces here(host_memory_->address(), host_memory_->address());
  const HostPieces pieces = take_host(here);
  host::Pieces there(nullptr, busy_memory_->address());
  const Piece<std::uint64_t> kernels_busy = take_kernels_busy(there);
  if (!tables.knows_memory()) staging_memory_ = say_plain_memory(gpu, shape.heap, tables);

  const auto n_pes = static_cast<std::size_t>(shape.n_pes);
  const std::size_t words = (n_pes + 63) / 64;
  lost_ = std::make_unique<LostPeers>(std::span(pieces.lost.here, words), shape.n_pes);
  at_limit_ = std::make_unique<PeersAtLimit>(std::span(pieces.at_limit.here, words));
  fifos_.reserve(of_kernels + of_host);
  const unsigned place = tables.take_places(1);
  const std::uint64_t *const lost = pieces.lost.there, *const at_limit = pieces.at_limit.there;
  sleep_ = pieces.sleep.here;
  add_fifos(shape, {pieces.of_kernels, kernels_busy, lost, at_limit, nullptr},
            ContextOwner::kKernels, place, tables);
  add_fifos(shape, {pieces.of_host, pieces.busy_of_host, lost, at_limit, pieces.sleep.there},
            ContextOwner::kHost, place, tables);
  tables.lead_others(Path::kProxy, place, std::move(leads_to));
}

void View::add_fifos(const Shape& shape, const Pieces& mine, ContextOwner owner, unsigned place,
                     ChannelTables& tables) {
  const unsigned answers = answers_of(shape.depth);
  for (unsigned i = 0; i < tables.slots(owner); ++i) {
    const std::size_t first = std::size_t{i} * shape.depth;
    abi::Channel& channel = tables.channel(owner, place, i);
    channel.head.ring = reinterpret_cast<std::byte*>(mine.shared.slots.there + first);
    channel.head.depth = static_cast<std::uint16_t>(shape.depth);
    channel.head.flags = shape.flags;
    channel.head.path = Path::kProxy;
    channel.fifo = {};
    channel.fifo.report = mine.shared.report.there + i;
    channel.fifo.answers = mine.shared.answers.there + std::size_t{i} * answers;
    channel.fifo.busy = mine.busy.there + first;
    channel.fifo.lost = mine.lost;
    channel.fifo.at_limit = mine.at_limit;
    channel.fifo.sleep = mine.sleep;
    fifos_.emplace_back(memory_of(mine.shared, i, shape.depth, answers), *lost_, *at_limit_);
  }
}

}  // namespace chime::proxy
