#include "host/transport/p2p/p2p_transport.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <span>
#include <vector>

#include "chime/abi/context.h"
#include "host/errors/error.hpp"
#include "host/gpu/memfd.hpp"
#include "host/transport/p2p/node_exchange.hpp"

namespace chime::host {
namespace {

// Memory that PEs of this process offer, by address, for their thread mates.
class ProcessMemory {
 public:
  void offer(const std::shared_ptr<DeviceMemory>& memory) {
    std::lock_guard lock(mutex_);
    std::erase_if(offered_, [](const auto& entry) { return entry.second.expired(); });
    offered_[memory->address()] = memory;
  }
  std::shared_ptr<DeviceMemory> find(std::uint64_t address) {
    std::lock_guard lock(mutex_);
    auto found = offered_.find(reinterpret_cast<std::byte*>(address));
    return found == offered_.end() ? nullptr : found->second.lock();
  }

 private:
  std::mutex mutex_;
  std::map<std::byte*, std::weak_ptr<DeviceMemory>> offered_;
};

ProcessMemory& process_memory() {
  static ProcessMemory* memory =
      new ProcessMemory;  // never destroyed: PEs may end after static destructors
  return *memory;
}

NodeCard make_card(int pe, const OfferedMemory& mine) {
  NodeCard card;
  card.pe = pe;
  card.process = bootstrap::card_of_this_process();
  card.heap_bytes = mine.heap->bytes();
  card.control_bytes = mine.control->bytes();
  card.heap_address = reinterpret_cast<std::uint64_t>(mine.heap->address());
  card.control_address = reinterpret_cast<std::uint64_t>(mine.control->address());
  card.heap_has_fd = mine.heap->share_fd() >= 0;
  if (!card.heap_has_fd)
    std::memcpy(card.fabric_handle, mine.heap->fabric_handle(), sizeof(card.fabric_handle));
  return card;
}

// Names the same two PEs on all: the lowest, and the first that differs from it.
void check_same_size(const NodeCard& mine, std::span<const NodeMate> mates) {
  std::vector<const NodeCard*> cards = {&mine};
  for (const NodeMate& mate : mates) cards.push_back(&mate.card);
  std::sort(cards.begin(), cards.end(), [](auto* a, auto* b) { return a->pe < b->pe; });
  const NodeCard& lowest = *cards.front();
  for (const NodeCard* card : cards)
    if (card->heap_bytes != lowest.heap_bytes)
      throw Error(
          "symmetric heap", CHIMEX_ERR_MISMATCH,
          fmt::format("PE {} has {} bytes and PE {} has {}; set CHIME_SYMMETRIC_SIZE alike on "
                      "all PEs",
                      lowest.pe, lowest.heap_bytes - abi::kHeapReserved, card->pe,
                      card->heap_bytes - abi::kHeapReserved));
}

std::shared_ptr<DeviceMemory> map_heap(Gpu& gpu, const NodeMate& mate) {
  const NodeCard& card = mate.card;
  if (is_of_this_process(card.process))
    if (auto shared = process_memory().find(card.heap_address)) {
      gpu.share_mapping(*shared);
      return shared;
    }
  if (card.heap_has_fd) return gpu.map_peer_heap(mate.heap.get(), card.heap_bytes);
  return gpu.map_peer_heap(card.fabric_handle, card.heap_bytes);
}

std::shared_ptr<DeviceMemory> map_control(const NodeMate& mate) {
  const NodeCard& card = mate.card;
  if (is_of_this_process(card.process))
    if (auto shared = process_memory().find(card.control_address)) return shared;
  return map_memfd(mate.control.get(), MemoryOf::kHost, card.control_bytes);
}

}  // namespace

P2pTransport::P2pTransport(const bootstrap::Bootstrap& bootstrap, Gpu& gpu, OfferedMemory mine,
                           P2pGroups groups, bootstrap::Deadline deadline)
    : groups_(groups),
      my_pe_(bootstrap.rank()),
      peers_(static_cast<std::size_t>(bootstrap.size())) {
  peers_[static_cast<std::size_t>(my_pe_)] = std::move(mine);
  if (!groups_.is_off()) map_node(bootstrap, gpu, deadline);
}

void P2pTransport::map_node(const bootstrap::Bootstrap& bootstrap, Gpu& gpu,
                            bootstrap::Deadline deadline) {
  const OfferedMemory& mine = peers_[static_cast<std::size_t>(my_pe_)];
  process_memory().offer(mine.heap);
  process_memory().offer(mine.control);
  NodeCard card = make_card(my_pe_, mine);
  const auto mates = exchange_with_node(bootstrap, card, mine.heap->share_fd(),
                                        mine.control->share_fd(), deadline);
  check_same_size(card, mates);
  for (const NodeMate& mate : mates) {
    mates_.push_back({mate.card.pe, mate.card.process});
    OfferedMemory& peer = peers_.at(static_cast<std::size_t>(mate.card.pe));
    if (groups_.maps(my_pe_, mate.card.pe)) peer.heap = map_heap(gpu, mate);
    peer.control = map_control(mate);
  }
}

std::string P2pTransport::why_not(int pe) const {
  if (groups_.is_off())
    return fmt::format(
        "PE {} is not mapped because CHIME_P2P=off, and there is no NIC; set CHIME_P2P=auto or "
        "CHIME_NIC",
        pe);
  if (!groups_.maps(my_pe_, pe))
    return fmt::format(
        "PE {} is not mapped because CHIME_P2P={} maps groups of so many PEs, and there is no NIC; "
        "set CHIME_P2P=auto or CHIME_NIC",
        pe, groups_.size);
  return fmt::format(
      "PE {} runs on another node or in another network namespace (container) of this one, which "
      "takes a NIC, and there is none; run all PEs on one node, in one network namespace",
      pe);
}

}  // namespace chime::host
