// Posting and polling. Arrivals and losses: driver_events.cpp.
#include "host/transport/ofi/driver/driver.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "host/transport/ofi/requests/words.hpp"

namespace chime::host::ofi {
namespace {

constexpr unsigned kPollsPerLook = 16;

}  // namespace

Driver::Driver(const Place& place, Gpu& gpu, Wire& wire, Requests& requests, BatchPool& mail,
               Names* names, Device* device)
    : place_(place),
      gpu_(gpu),
      wire_(wire),
      requests_(requests),
      batches_(mail),
      names_(names),
      device_(device),
      links_(place.n_pes),
      outbox_(place.my_pe, wire, mail, *this),
      silence_(place.timeout, requests, links_, outbox_) {
  if (device_) {
    SlotPool& slots = device_->slots;
    RequestSink& request_sink = *this;
    initiator_.emplace(device_->work, slots.asking, device_->ranges, request_sink);
    target_.emplace(device_->work, slots.serving, slots.results, place_.heap, request_sink);
  }
  for (Arrival& arrival : batches_.arrivals()) unposted_.push_back(&arrival);
  post_arrivals();
}

void Driver::add_peer(int pe, const PeerName& name) {
  PeerLink& link = links_.add(pe);
  ++unnamed_;
  this->name(link, name);
  if (!why_all_lost_.empty()) lose(link, why_all_lost_);
}

bool Driver::post(const HostRequest& wanted, std::uint64_t completion) {
  if (in_use_ == kRoom) return false;
  ++in_use_;
  PeerLink* const link = peer_link_to(wanted.pe);  // before: what it may end is not this request
  Request& request = requests_.take(wanted, completion);
  if (wanted.pe == place_.my_pe)
    carry_out_here(request);
  else if (link == nullptr)
    end(request, CHIMEX_ERR_UNREACHABLE);
  else if (link->is_lost)
    end(request, CHIMEX_ERR_NETWORK);
  else if (!link->has_name)
    link->unstarted.push_back(&request);
  else
    start(*link, request);
  return true;
}

void Driver::start(PeerLink& link, Request& request) {
  ++link.outstanding;
  if (request.is_atomic())
    start_atomic(link, request);
  else if (link.name.bounces)
    start_bounced(link, request);
  else if (is_message(link, request.wanted))
    start_message(link, request);
  else
    start_transfer(link, request);
}

bool Driver::is_message(const PeerLink& link, const HostRequest& wanted) const {
  return wanted.kind == HostRequest::Kind::kPut && wanted.bytes > 0 &&
         wanted.bytes <= kMostPutBytes && place_.sends_puts && link.name.takes_puts;
}

// One message, where neither may wait: the signal may not for puts that it could overtake, which
// are those that have not passed and stand in no batch of messages, or in another one than it
// would.
bool Driver::joins_signal(const HostRequest& put) const {
  const PeerLink* const link = links_.find(put.pe);
  if (!link || !link->has_name || link->is_lost || link->name.bounces || !is_message(*link, put))
    return false;
  HostRequest both = put;
  both.has_signal = true;
  const bool goes_on = link->open && link->open->text.has_room_for(ask_for(both, 0));
  return !link->order.must_wait(goes_on ? link->open->puts : 0);
}

void Driver::carry_out_here(Request& request) {
  const HostRequest& wanted = request.wanted;
  std::byte* const there = place_.heap.data() + wanted.at;
  if (request.is_atomic()) {
    if (device_) return update_here(request);
    const std::uint64_t before = owner_->update(wanted.at, wanted.update);
    if (wanted.here != nullptr) std::memcpy(wanted.here, &before, sizeof before);
  } else if (request.is_put()) {
    gpu_.copy(there, wanted.here, wanted.bytes);
  } else {
    gpu_.copy(wanted.here, there, wanted.bytes);
  }
  end(request, CHIMEX_OK);
}

void Driver::start_transfer(PeerLink& link, Request& request) {
  if (request.wanted.bytes == 0) return end(request, CHIMEX_OK);
  if (request.is_put()) request.turn = link.order.enter();
  request.piece = wire_.piece_of(request.wanted.bytes);
  outbox_.hand_over(link, request);
}

// Puts before it in its batch of messages, or in an earlier batch where the provider keeps their
// order, are carried out before it.
void Driver::start_atomic(PeerLink& link, Request& request) {
  const MessageBatch& batch = outbox_.open_batch(link, ask_for(request.wanted, request.id()));
  if (link.order.must_wait(batch.puts))
    link.order.hold(&request);
  else
    ask(link, request);
}

void Driver::start_message(PeerLink& link, Request& request) {
  if (!wire_.facts().keeps_order) {
    MessageBatch& batch = outbox_.open_batch(link, ask_for(request.wanted, request.id()));
    request.turn = link.order.enter();
    ++batch.puts;
  }
  ask(link, request);
}

void Driver::ask(PeerLink& link, Request& request) {
  const HostRequest& wanted = request.wanted;
  const Message message = ask_for(wanted, request.id());
  const std::uint64_t operands[] = {wanted.update.operand, wanted.update.compare};
  request.is_asked = true;
  BatchText& text = outbox_.open_batch(link, message).text;
  if (!request.is_put()) return text.add(message, std::as_bytes(std::span(operands)));
  const std::span<const std::byte> data(wanted.here, wanted.bytes);
  if (!wanted.has_signal) return text.add(message, data);
  text.add(message, SignalPlace{wanted.signal_at, wanted.update.operand}, data);
}

void Driver::answer(PeerLink& link, const Message& ask, std::uint64_t before,
                    chimex_status status) {
  const Message message = answer_to(ask.id, before, status);
  outbox_.open_batch(link, message).text.add(message);
}

void Driver::on_refused(PeerLink& link, const Posted& posted, int error) {
  lose(link, failed(posted, wire_.facts(), words_of(error)));
}

// A put has passed with its last piece, where the provider keeps their order.
void Driver::on_taken(PeerLink& link, Request& request) {
  request.is_with_provider = true;
  const bool is_last = request.moved + request.piece == request.wanted.bytes;
  if (!request.is_put() || !is_last || !wire_.facts().keeps_order) return;
  if (request.internal_request)
    target_->on_handed_over(request.internal_request);
  else
    pass(link, request);
}

// Nothing that is posted from here on overtakes this put.
void Driver::pass(PeerLink& link, Request& request) {
  for (Request* atomic : link.order.leave(std::exchange(request.turn, nullptr))) ask(link, *atomic);
}

// Once: to hand over what was held behind a request may lose the peer, and end it first.
void Driver::end(Request& request, chimex_status status) {
  if (!request.is_live) return;
  // The count of a lost peer means nothing any more.
  if (PeerLink* const link = links_.find(request.wanted.pe); link && !link->is_lost)
    --link->outstanding;
  request.is_live = false;
  request.status = status;
  if (!request.internal_request) return ended_.push_back(&request);
  request.is_in_use = false;
  retire(request);
}

// For a request that has ended and whose end was reported: it goes when nothing uses its memory.
void Driver::retire(Request& request) {
  if (request.is_live || request.is_in_use || request.is_held()) return;
  void* const task = request.internal_request;
  const chimex_status status = request.status;
  requests_.free(request);
  if (task) target_->on_internal_request(task, status);
}

std::size_t Driver::poll(std::span<Ended> ended) {
  if (unnamed_ != 0) take_names();
  if (losses_.is_asked()) lose_those_asked_for();
  if (!unposted_.empty()) post_arrivals();
  if (outbox_.has_open_batches()) outbox_.close_batches();
  take_completions();
  if (device_) has_moved_ |= poll_device();
  if (!outbox_.waiting().empty()) outbox_.drain_all();
  if (outbox_.has_open_batches()) outbox_.close_batches();
  if (!lingering_.empty()) end_lingering();
  if (++polls_ % kPollsPerLook == 0) lose_the_silent();
  return tell(ended);
}

std::size_t Driver::tell(std::span<Ended> ended) {
  const std::size_t count = std::min(ended.size(), ended_.size());
  for (Ended& one : ended.first(count)) {
    Request& request = *ended_.front();
    ended_.pop_front();
    one = {request.completion, request.status};
    request.is_in_use = false;
    retire(request);
  }
  in_use_ -= count;
  return count;
}

// No descriptor reports that there is room again.
int Driver::idle_descriptor() {
  if (!ended_.empty() || losses_.is_asked()) return kLookSoon;
  if (outbox_.waiting().empty() && outbox_.has_open_batches()) return kLookSoon;
  if (device_ && !device_->work.is_idle()) return kLookSoon;
  const bool waits =
      unnamed_ != 0 || !outbox_.waiting().empty() || !unposted_.empty() || !lingering_.empty();
  return waits ? kNoDescriptor : wire_.idle_descriptor();
}

}  // namespace chime::host::ofi
