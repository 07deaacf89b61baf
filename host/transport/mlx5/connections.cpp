#include "host/transport/mlx5/connections.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "host/errors/error.hpp"
#include "host/transport/mlx5/nic/mlx5_gid.hpp"
#include "host/transport/mlx5/view/layout.hpp"

namespace chime::host::mlx5 {
namespace {

std::uint32_t random_psn() { return std::random_device{}() & 0xffffff; }

// Places to hold: one for every PE, or for so many peers beside this PE.
unsigned n_places(const NicPlace& place, const NicOptions& options) {
  const auto all = static_cast<unsigned>(place.n_pes);
  return options.opens_on_demand(place.n_pes) ? std::min(all, options.peers + 1) : all;
}

ActiveSoftnic softnic_for(const NicOptions& options, const std::string& job) {
  if (options.is_soft()) return activate_softnic(job, options.softnic_library);
  observe_preloaded_softnic();
  return nullptr;
}

}  // namespace

Connections::Connections(const NicPlace& place, Gpu& gpu, const DeviceMemory& heap,
                         const NicOptions& options)
    : place_(place),
      gpu_(gpu),
      softnic_(softnic_for(options, place.job)),
      device_(options, gpu.pci_address(), place.node_pe),
      heap_bytes_(heap.bytes()),
      heap_(device_, gpu, heap),
      queues_(device_, gpu, n_places(place, options),
              scratch_bytes(n_places(place, options), options)),
      psn_(random_psn()),
      places_(n_places(place, options)) {}

EndpointInfo Connections::endpoint_info() const {
  EndpointInfo endpoint_info;
  endpoint_info.port = device_.address();
  endpoint_info.heap = RegisteredHeap::kStart;
  endpoint_info.heap_bytes = heap_bytes_;
  endpoint_info.key = heap_.key();
  endpoint_info.strict_key = heap_.strict_key();
  endpoint_info.is_relaxed = heap_.is_relaxed();
  endpoint_info.psn = psn_;
  endpoint_info.reads = device_.capabilities().reads;
  endpoint_info.slots = slots();
  return endpoint_info;
}

std::string Connections::why_no_offer(int pe) const {
  const std::lock_guard lock(mutex_);
  if (places_.has_room_for(pe)) return "";
  const unsigned others = places_.count() - 1;
  return fmt::format(
      "PE {} has queue pairs for {} other PE{}, all in use: raise CHIME_NIC_PEERS (each takes {} "
      "queue pairs of {} KiB)",
      place_.my_pe, others, others == 1 ? "" : "s", slots(), options().queue_depth * 64 / 1024);
}

std::vector<std::uint32_t> Connections::offer(int pe) {
  const std::lock_guard lock(mutex_);
  const unsigned place = *places_.take(pe);
  std::vector<std::uint32_t> numbers;
  for (unsigned slot = 0; slot < slots(); ++slot)
    numbers.push_back(queue_pair(place, slot).view().qpn);
  return numbers;
}

void Connections::withdraw(int pe) {
  const std::lock_guard lock(mutex_);
  places_.give_back(pe);
}

Acceptance Connections::accept(int pe, const PeerEndpointInfo& theirs) {
  const EndpointInfo endpoint_info = read_endpoint_info(pe, theirs.bytes);
  const std::lock_guard lock(mutex_);
  peers_[pe].endpoint_info = endpoint_info;
  if (!endpoint_info.why_none.empty()) return {};
  check_fits(pe, endpoint_info);
  const auto numbers = read_offer(pe, theirs.offer);
  if (numbers.size() != slots())
    throw Error("NIC", CHIMEX_ERR_MISMATCH,
                fmt::format("PE {} offers {} queue pairs and not {}", pe, numbers.size(), slots()));
  const unsigned place = places_.connect(pe);
  for (unsigned slot = 0; slot < slots(); ++slot)
    queue_pair(place, slot).connect(route_to(endpoint_info, numbers[slot]));
  // The order of one queue pair: the others beside it go by the same port and address.
  return {.is_accepted = true, .receipt = write_receipt(queue_pair(place, 0).data_order())};
}

void Connections::confirm(int pe, DataOrder order) {
  const std::lock_guard lock(mutex_);
  Peer& peer = peers_[pe];
  peer.order = order;
  peer.is_confirmed = true;
}

Connections::Peer Connections::peer(int pe) const {
  const std::lock_guard lock(mutex_);
  const auto known = peers_.find(pe);
  return known == peers_.end() ? Peer{} : known->second;
}

std::vector<DataOrder> Connections::orders() const {
  const std::lock_guard lock(mutex_);
  std::vector<DataOrder> orders;
  for (const auto& [pe, peer] : peers_) orders.push_back(peer.order);
  return orders;
}

bool Connections::reaches(int pe) const { return peer(pe).is_confirmed; }

EndpointInfo Connections::endpoint_info_of(int pe) const { return peer(pe).endpoint_info; }

std::optional<unsigned> Connections::place_of(int pe) const {
  const std::lock_guard lock(mutex_);
  return places_.of(pe);
}

std::string Connections::why_not(int pe) const {
  const std::string why = endpoint_info_of(pe).why_none;
  return why.empty() ? fmt::format("PE {} is not connected", pe)
                     : fmt::format("PE {} has no NIC: {}", pe, why);
}

bool Connections::counts_on_order(int pe) const {
  return mlx5::counts_on_order(options().write_order, peer(pe).order);
}

// Under the lock: a second caller returns when it has happened, too.
void Connections::to_error(unsigned place, unsigned slot) {
  const std::lock_guard lock(one_ends_);
  if (ended_.contains({place, slot})) return;
  queue_pair(place, slot).to_error();
  ended_.emplace(place, slot);
}

MemoryKey Connections::register_buffer(std::byte* memory, std::size_t bytes) const {
  return mlx5::register_buffer(device_, gpu_, memory, bytes);
}

std::string Connections::describe() const {
  return fmt::format(
      "{}; {}; heap registered as {}; doorbells {}; {}", device_.description(), queues_.describe(),
      heap_.how(), queues_.describe_doorbells(),
      describe_order(options().write_order, orders(), device_.capabilities().extended_atomics));
}

void Connections::check_fits(int pe, const EndpointInfo& theirs) const {
  const auto refuse = [&](const std::string& why) {
    throw Error("NIC", CHIMEX_ERR_MISMATCH, fmt::format("PE {} {}", pe, why));
  };
  if (theirs.slots != slots())
    refuse(
        fmt::format("has {} queue pairs to each peer and this PE {}; CHIME_NIC_SLOTS must "
                    "be the same everywhere",
                    theirs.slots, slots()));
  if (theirs.heap_bytes != heap_bytes_)
    refuse(
        fmt::format("has a heap of {} bytes and this PE one of {}; set CHIME_SYMMETRIC_SIZE alike "
                    "on all PEs",
                    theirs.heap_bytes - abi::kHeapReserved, heap_bytes_ - abi::kHeapReserved));
  const PortAddress& port = device_.address();
  if (theirs.port.ethernet != port.ethernet)
    refuse("uses another kind of port (InfiniBand or RoCE); choose it with CHIME_NIC");
  if (port.ethernet && !same_family(theirs.port.gid, port.gid))
    refuse(
        fmt::format("has the address {} and this PE {}: one is IPv4, one IPv6; choose with "
                    "CHIME_NIC_GID_INDEX",
                    text_of(theirs.port.gid), text_of(port.gid)));
}

// To its queue pair for this PE in the same slot. This PE's own queue pair is both ends of the path
// to itself.
Route Connections::route_to(const EndpointInfo& theirs, std::uint32_t queue_pair) const {
  Route route;
  route.remote = theirs.port;
  route.remote_qpn = queue_pair;
  route.send_psn = psn_;
  route.receive_psn = theirs.psn;
  route.reads = std::min(theirs.reads, device_.capabilities().reads);
  return route;
}

}  // namespace chime::host::mlx5
