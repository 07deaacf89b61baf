// The driver where a heap is a GPU's: what it has its device do, and what goes through slots.
#include "host/transport/ofi/driver/driver.hpp"

namespace chime::host::ofi {

void Driver::start_bounced(PeerLink& link, Request& request) {
  const HostRequest& wanted = request.wanted;
  if (wanted.bytes == 0) return end(request, CHIMEX_OK);
  if (request.is_put() && Initiator::is_carried(wanted) && initiator_->is_of_host(wanted))
    return start_message(link, request);
  if (request.is_put()) request.turn = link.order.enter();
  initiator_->start(link, request);
}

void Driver::update_here(Request& request) {
  const HostRequest& wanted = request.wanted;
  ++request.copies;
  device_->work.update(place_.heap.data() + wanted.at, wanted.update,
                       reinterpret_cast<std::uint64_t*>(wanted.here), [this, &request] {
                         --request.copies;
                         end(request, CHIMEX_OK);
                       });
}

bool Driver::poll_device() {
  bool has_moved = device_->work.poll();
  has_moved |= target_->poll();
  initiator_->poll();
  return has_moved;
}

// ---- What the two sides ask for

void Driver::send(PeerLink& link, const Message& message, std::span<const std::byte> body) {
  if (!link.is_lost) outbox_.open_batch(link, message).text.add(message, body);
}

void Driver::run(PeerLink& link, const HostRequest& internal_request, void* task) {
  Request& request = requests_.take(internal_request, 0);
  request.internal_request = task;
  ++link.outstanding;
  request.piece = wire_.piece_of(internal_request.bytes);
  outbox_.hand_over(link, request);
}

// It was posted before its data was here, so it has had its turn since. Atomics that were held
// behind it go by the batch of messages that it is in, if the provider keeps their order, and else
// after its answer.
void Driver::on_carried(PeerLink& link, Request& put) {
  if (!wire_.facts().keeps_order) ++outbox_.open_batch(link, ask_for(put.wanted, put.id())).puts;
  ask(link, put);
  if (wire_.facts().keeps_order && !link.is_lost) pass(link, put);
}

void Driver::on_ended(PeerLink& link, Request& request) {
  if (request.turn && !link.is_lost) pass(link, request);
  end(request, request.status);
}

void Driver::on_let_go(Request& request) {
  if (!request.is_live) return retire(request);
  if (!request.is_held()) end(request, CHIMEX_ERR_NETWORK);
}

}  // namespace chime::host::ofi
