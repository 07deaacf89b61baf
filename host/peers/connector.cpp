#include "host/peers/connector.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "host/errors/error.hpp"
#include "host/gpu/memfd.hpp"
#include "host/gpu/process_memory.hpp"
#include "host/peers/control.hpp"
#include "host/peers/left_endpoint_infos.hpp"
#include "host/peers/node/exchange.hpp"

namespace chime::host {
namespace {

NodeEndpointInfo node_endpoint_info(int pe, const DeviceMemory& control,
                                    const OwnEndpointInfo& endpoint_info) {
  NodeEndpointInfo mine;
  if (endpoint_info.bytes.size() > sizeof mine.transport)
    throw Error("setup", CHIMEX_ERR_SYSTEM, "an endpoint info is too long for the node's exchange");
  mine.pe = pe;
  mine.process = bootstrap::endpoint_info_of_this_process();
  mine.control_bytes = control.bytes();
  mine.control_address = reinterpret_cast<std::uint64_t>(control.address());
  mine.transport_bytes = static_cast<std::uint32_t>(endpoint_info.bytes.size());
  mine.transport_has_descriptor = endpoint_info.descriptor >= 0;
  std::ranges::copy(endpoint_info.bytes, mine.transport);
  return mine;
}

PeerEndpointInfo shown_by(const LocalPeer& local_peer) {
  return {.bytes = local_peer.endpoint_info.transport_endpoint_info(),
          .offer = {},
          .descriptor = local_peer.transport.get(),
          .is_of_this_process = is_of_this_process(local_peer.endpoint_info.process)};
}

std::shared_ptr<DeviceMemory> map_control(const LocalPeer& local_peer) {
  if (is_of_this_process(local_peer.endpoint_info.process))
    if (auto shared = find_in_process(local_peer.endpoint_info.control_address)) return shared;
  return map_memfd(local_peer.control.get(), MemoryOf::kHost,
                   local_peer.endpoint_info.control_bytes);
}

ControlBlock* block_in(const DeviceMemory& page) {
  return reinterpret_cast<ControlBlock*>(page.address());
}

}  // namespace

Connector::Connector(bootstrap::Bootstrap& bootstrap, std::shared_ptr<DeviceMemory> control,
                     PeerTable& peers, bootstrap::Deadline deadline)
    : bootstrap_(bootstrap), control_(std::move(control)), peers_(peers), deadline_(deadline) {
  peers_.set_control(peers_.my_pe(), block_in(*control_));
}

void Connector::connect(Transport& transport) {
  switch (transport.capabilities().reach) {
    case Reach::kSelf:
      return connect_to_myself(transport);
    case Reach::kNode:
      return connect_node(transport);
    case Reach::kJob:
      return transport.opens_on_demand() ? begin_on_demand(transport) : connect_job(transport);
  }
}

Acceptance Connector::accept(Transport& transport, int pe, const PeerEndpointInfo& endpoint_info) {
  const Path path = transport.capabilities().path;
  peers_.ask(pe, path);
  peers_.connect(pe, path);
  Acceptance acceptance = transport.accept(pe, endpoint_info);
  if (!acceptance.is_accepted) peers_.refuse(pe, path);
  return acceptance;
}

void Connector::use(const Transport& transport, int pe, const Acceptance& acceptance) {
  peers_.use(pe, transport.capabilities().path, acceptance.mapped);
}

void Connector::connect_to_myself(Transport& transport) {
  const int me = peers_.my_pe();
  const EndpointInfoBytes endpoint_info = transport.own_endpoint_info().bytes,
                          offer = transport.offer(me);
  const auto acceptance = accept(transport, me, {.bytes = endpoint_info, .offer = offer});
  if (!acceptance.is_accepted) return;
  transport.confirm(me, acceptance.receipt);
  use(transport, me, acceptance);
}

// PE 0 decides whether the job goes by it: the same for all, and no PE reads more than one endpoint
// info. The endpoint infos of others are left for PEs that touch them, where nothing else brings
// them.
void Connector::begin_on_demand(Transport& transport) {
  const Path path = transport.capabilities().path;
  const std::string key = key_of_endpoint_infos(path);
  const bool is_first = peers_.my_pe() == 0;
  const EndpointInfoBytes mine = write_endpoint_info(transport);
  if (is_first || transport.finds_peers()) bootstrap_.publish(key, mine);
  const EndpointInfoBytes first = is_first ? mine : bootstrap_.lookup_of_first(key, deadline_);
  if (transport.agrees_with_first(read_endpoint_info(0, first)))
    connect_to_myself(transport);
  else
    peers_.refuse_all(path);
}

// In the order of PEs, this one among them.
void Connector::connect_node(Transport& transport) {
  offer_in_process(control_);
  const OwnEndpointInfo own = transport.own_endpoint_info();
  const int me = peers_.my_pe();
  auto local_peers = exchange_with_node(bootstrap_, node_endpoint_info(me, *control_, own),
                                        own.descriptor, control_->share_fd(), deadline_);
  const auto take = [&](int pe, const PeerEndpointInfo& endpoint_info) {
    const Acceptance acceptance = accept(transport, pe, endpoint_info);
    if (acceptance.is_accepted) use(transport, pe, acceptance);
  };
  auto next = local_peers.begin();
  for (; next != local_peers.end() && next->endpoint_info.pe < me; ++next)
    take(next->endpoint_info.pe, shown_by(*next));
  take(me, {.bytes = own.bytes});
  for (; next != local_peers.end(); ++next) take(next->endpoint_info.pe, shown_by(*next));
  for (const LocalPeer& local_peer : local_peers) {
    local_peers_.known.push_back({local_peer.endpoint_info.pe, local_peer.endpoint_info.process});
    local_peers_.control_pages.push_back(map_control(local_peer));
    peers_.set_control(local_peer.endpoint_info.pe, block_in(*local_peers_.control_pages.back()));
  }
}

// All pairs at once. A receipt is left when its giver can hear, so a PE that has read the receipts
// of all PEs that it accepted may send.
void Connector::connect_job(Transport& transport) {
  const Path path = transport.capabilities().path;
  const std::string key = key_of_endpoint_infos(path), answer = key_of_receipts(path);
  const int n = peers_.n_pes(), me = peers_.my_pe();
  const auto shown_by = [&](int pe, const std::string& name, const EndpointInfoBytes& mine) {
    return pe == me ? mine : bootstrap_.lookup(pe, name, deadline_);
  };
  const EndpointInfoBytes endpoint_infos = write_endpoint_infos(transport, n);
  bootstrap_.publish(key, endpoint_infos);
  std::vector<Acceptance> acceptances;
  for (int pe = 0; pe < n; ++pe) {
    const Shown shown = read_endpoint_infos(pe, shown_by(pe, key, endpoint_infos), me);
    acceptances.push_back(
        accept(transport, pe, {.bytes = shown.endpoint_info, .offer = shown.offer}));
  }
  const EndpointInfoBytes receipts = write_receipts(acceptances);
  bootstrap_.publish(answer, receipts);
  for (int pe = 0; pe < n; ++pe) {
    const Acceptance& acceptance = acceptances[static_cast<std::size_t>(pe)];
    if (!acceptance.is_accepted) continue;
    if (const auto receipt = read_receipt(pe, shown_by(pe, answer, receipts), me)) {
      transport.confirm(pe, *receipt);
      use(transport, pe, acceptance);
    } else {
      peers_.refuse(pe, path);
    }
  }
}

}  // namespace chime::host
