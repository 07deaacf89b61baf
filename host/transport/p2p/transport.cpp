#include "host/transport/p2p/transport.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "host/errors/error.hpp"
#include "host/gpu/process_memory.hpp"
#include "host/transport/p2p/endpoint_info.hpp"

namespace chime::host {
namespace {

p2p::EndpointInfo read_endpoint_info(int pe, std::span<const std::byte> bytes) {
  p2p::EndpointInfo endpoint_info;
  if (bytes.size() != sizeof endpoint_info)
    throw Error("symmetric heap", CHIMEX_ERR_MISMATCH,
                fmt::format("PE {} runs another version of Chime", pe));
  std::memcpy(&endpoint_info, bytes.data(), sizeof endpoint_info);
  return endpoint_info;
}

void take_from(std::byte** table, int pe) {
  std::atomic_ref(table[pe]).store(nullptr, std::memory_order_relaxed);
}

}  // namespace

P2pTransport::P2pTransport(int my_pe, int n_pes, Gpu& gpu, std::shared_ptr<DeviceMemory> heap,
                           P2pGroups groups)
    : my_pe_(my_pe),
      gpu_(gpu),
      heap_(std::move(heap)),
      groups_(groups),
      peer_heap_(static_cast<std::size_t>(n_pes)) {
  if (!groups_.is_off()) offer_in_process(heap_);
}

Capabilities P2pTransport::capabilities() const {
  return {.path = Path::kP2p,
          .reach = groups_.is_off() ? Reach::kSelf : Reach::kNode,
          .maps = true,
          .posts = false};
}

std::string P2pTransport::describe() const {
  const auto n =
      peer_heap_.size() - static_cast<std::size_t>(std::ranges::count(peer_heap_, nullptr));
  return fmt::format("{} of {} PEs are mapped", n, peer_heap_.size());
}

OwnEndpointInfo P2pTransport::own_endpoint_info() const {
  p2p::EndpointInfo endpoint_info;
  endpoint_info.heap_bytes = heap_->bytes();
  endpoint_info.heap_address = reinterpret_cast<std::uint64_t>(heap_->address());
  const int descriptor = heap_->share_fd();
  if (descriptor < 0)
    std::memcpy(endpoint_info.fabric_handle, heap_->fabric_handle(),
                sizeof endpoint_info.fabric_handle);
  const auto* const bytes = reinterpret_cast<const std::byte*>(&endpoint_info);
  return {{bytes, bytes + sizeof endpoint_info}, descriptor};
}

Acceptance P2pTransport::accept(int pe, const PeerEndpointInfo& theirs) {
  check_same_size(pe, read_endpoint_info(pe, theirs.bytes).heap_bytes);
  if (pe != my_pe_ && !groups_.maps(my_pe_, pe)) return {};
  mapped_.push_back(pe == my_pe_ ? heap_ : map(pe, theirs));
  std::byte* const begin = mapped_.back()->address();
  peer_heap_[static_cast<std::size_t>(pe)] = begin;
  return {.is_accepted = true, .mapped = begin};
}

void P2pTransport::check_same_size(int pe, std::size_t bytes) {
  if (first_.pe < 0) first_ = {pe, bytes};
  if (bytes == first_.bytes) return;
  throw Error(
      "symmetric heap", CHIMEX_ERR_MISMATCH,
      fmt::format("PE {} has {} bytes and PE {} has {}; set CHIME_SYMMETRIC_SIZE alike on "
                  "all PEs",
                  first_.pe, first_.bytes - abi::kHeapReserved, pe, bytes - abi::kHeapReserved));
}

std::shared_ptr<DeviceMemory> P2pTransport::map(int pe, const PeerEndpointInfo& theirs) const {
  const p2p::EndpointInfo endpoint_info = read_endpoint_info(pe, theirs.bytes);
  if (theirs.is_of_this_process)
    if (auto shared = find_in_process(endpoint_info.heap_address)) {
      gpu_.share_mapping(*shared);
      return shared;
    }
  if (theirs.descriptor >= 0)
    return gpu_.map_peer_heap(theirs.descriptor, endpoint_info.heap_bytes);
  return gpu_.map_peer_heap(endpoint_info.fabric_handle, endpoint_info.heap_bytes);
}

void P2pTransport::make_view(ChannelTables&) {
  const std::size_t bytes = peer_heap_.size() * sizeof(std::byte*);
  for_kernels_ = gpu_.allocate_device(bytes);
  gpu_.copy(for_kernels_->address(), peer_heap_.data(), bytes);
}

void P2pTransport::view(ContextOwner owner, Context& context) const {
  context.pe.peer_heap = owner == ContextOwner::kHost ? peer_heap_.data() : kernels_table();
}

void P2pTransport::take_mapping(int pe) {
  take_from(peer_heap_.data(), pe);
  if (gpu_.is_cpu() && for_kernels_) take_from(kernels_table(), pe);
}

void P2pTransport::fail(int pe) {
  take_mapping(pe);
  if (gpu_.is_cpu() || !for_kernels_) return;
  std::byte* const unmapped = nullptr;
  try {
    gpu_.copy(kernels_table() + pe, &unmapped, sizeof unmapped);
  } catch (const Error&) {
    // A device that has failed begins no kernel any more.
  }
}

std::byte** P2pTransport::kernels_table() const {
  return reinterpret_cast<std::byte**>(for_kernels_->address());
}

std::string P2pTransport::why_not(int pe) const {
  if (groups_.is_off())
    return fmt::format("PE {} is not mapped because CHIME_P2P=off (auto maps the node's PEs)", pe);
  if (!groups_.maps(my_pe_, pe))
    return fmt::format(
        "PE {} is not mapped because CHIME_P2P={} maps groups of so many PEs (auto maps the "
        "node's)",
        pe, groups_.size);
  return fmt::format(
      "PE {} is not mapped because it runs on another node or in another network namespace "
      "(container) of this one; run all PEs in one, or with a NIC",
      pe);
}

std::unique_ptr<Transport> open_p2p(const TransportSetup& setup) {
  return std::make_unique<P2pTransport>(setup.my_pe, setup.n_pes, setup.gpu, setup.heap, setup.p2p);
}

}  // namespace chime::host
