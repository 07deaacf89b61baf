#include "host/peers/connector.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "host/errors/error.hpp"
#include "host/gpu/memfd.hpp"
#include "host/gpu/process_memory.hpp"
#include "host/peers/control.hpp"
#include "host/peers/left_cards.hpp"
#include "host/peers/node/exchange.hpp"

namespace chime::host {
namespace {

NodeCard node_card(int pe, const DeviceMemory& control, const OwnCard& card) {
  NodeCard mine;
  if (card.bytes.size() > sizeof mine.transport)
    throw Error("setup", CHIMEX_ERR_SYSTEM, "a card is too long for the node's exchange");
  mine.pe = pe;
  mine.process = bootstrap::card_of_this_process();
  mine.control_bytes = control.bytes();
  mine.control_address = reinterpret_cast<std::uint64_t>(control.address());
  mine.transport_bytes = static_cast<std::uint32_t>(card.bytes.size());
  mine.transport_has_descriptor = card.descriptor >= 0;
  std::ranges::copy(card.bytes, mine.transport);
  return mine;
}

PeerCard shown_by(const NodeMate& mate) {
  return {.bytes = mate.card.transport_card(),
          .offer = {},
          .descriptor = mate.transport.get(),
          .is_of_this_process = is_of_this_process(mate.card.process)};
}

std::shared_ptr<DeviceMemory> map_control(const NodeMate& mate) {
  if (is_of_this_process(mate.card.process))
    if (auto shared = find_in_process(mate.card.control_address)) return shared;
  return map_memfd(mate.control.get(), MemoryOf::kHost, mate.card.control_bytes);
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

Acceptance Connector::accept(Transport& transport, int pe, const PeerCard& card) {
  const Path way = transport.capabilities().path;
  peers_.ask(pe, way);
  peers_.connect(pe, way);
  Acceptance acceptance = transport.accept(pe, card);
  if (!acceptance.is_accepted) peers_.refuse(pe, way);
  return acceptance;
}

void Connector::use(const Transport& transport, int pe, const Acceptance& acceptance) {
  peers_.use(pe, transport.capabilities().path, acceptance.mapped);
}

void Connector::connect_to_myself(Transport& transport) {
  const int me = peers_.my_pe();
  const CardBytes card = transport.own_card().bytes, offer = transport.offer(me);
  const auto acceptance = accept(transport, me, {.bytes = card, .offer = offer});
  if (!acceptance.is_accepted) return;
  transport.confirm(me, acceptance.receipt);
  use(transport, me, acceptance);
}

// Whether the job goes by it is PE 0's to say: the same for all, and no PE reads more than one
// card. That of others is left for who touches them, where nothing else brings it.
void Connector::begin_on_demand(Transport& transport) {
  const Path way = transport.capabilities().path;
  const std::string key = key_of_cards(way);
  const bool is_first = peers_.my_pe() == 0;
  const CardBytes mine = write_card(transport);
  if (is_first || transport.finds_peers()) bootstrap_.publish(key, mine);
  const CardBytes first = is_first ? mine : bootstrap_.lookup_of_first(key, deadline_);
  if (transport.agrees_with_first(read_card(0, first)))
    connect_to_myself(transport);
  else
    peers_.refuse_all(way);
}

// In the order of PEs, this one among them.
void Connector::connect_node(Transport& transport) {
  offer_in_process(control_);
  const OwnCard own = transport.own_card();
  const int me = peers_.my_pe();
  auto mates = exchange_with_node(bootstrap_, node_card(me, *control_, own), own.descriptor,
                                  control_->share_fd(), deadline_);
  const auto take = [&](int pe, const PeerCard& card) {
    const Acceptance acceptance = accept(transport, pe, card);
    if (acceptance.is_accepted) use(transport, pe, acceptance);
  };
  auto next = mates.begin();
  for (; next != mates.end() && next->card.pe < me; ++next) take(next->card.pe, shown_by(*next));
  take(me, {.bytes = own.bytes});
  for (; next != mates.end(); ++next) take(next->card.pe, shown_by(*next));
  for (const NodeMate& mate : mates) {
    mates_.known.push_back({mate.card.pe, mate.card.process});
    mates_.control_pages.push_back(map_control(mate));
    peers_.set_control(mate.card.pe, block_in(*mates_.control_pages.back()));
  }
}

// All pairs at once. A receipt is left when its giver can hear, so who has read those of all that
// it accepted may send.
void Connector::connect_job(Transport& transport) {
  const Path way = transport.capabilities().path;
  const std::string key = key_of_cards(way), answer = key_of_receipts(way);
  const int n = peers_.n_pes(), me = peers_.my_pe();
  const auto shown_by = [&](int pe, const std::string& name, const CardBytes& mine) {
    return pe == me ? mine : bootstrap_.lookup(pe, name, deadline_);
  };
  const CardBytes cards = write_cards(transport, n);
  bootstrap_.publish(key, cards);
  std::vector<Acceptance> acceptances;
  for (int pe = 0; pe < n; ++pe) {
    const Shown shown = read_cards(pe, shown_by(pe, key, cards), me);
    acceptances.push_back(accept(transport, pe, {.bytes = shown.card, .offer = shown.offer}));
  }
  const CardBytes receipts = write_receipts(acceptances);
  bootstrap_.publish(answer, receipts);
  for (int pe = 0; pe < n; ++pe) {
    const Acceptance& acceptance = acceptances[static_cast<std::size_t>(pe)];
    if (!acceptance.is_accepted) continue;
    if (const auto receipt = read_receipt(pe, shown_by(pe, answer, receipts), me)) {
      transport.confirm(pe, *receipt);
      use(transport, pe, acceptance);
    } else {
      peers_.refuse(pe, way);
    }
  }
}

}  // namespace chime::host
