#include "host/transport/ofi/driver/outbox.hpp"

#include <utility>

namespace chime::host::ofi {

MessageBatch& Outbox::batch_to(const PeerLink& link) {
  MessageBatch& batch = batches_.take();
  batch.to = link.pe;
  batch.puts = 0;
  batch.text.begin(my_pe_);
  return batch;
}

MessageBatch& Outbox::open_batch(PeerLink& link, const Message& message) {
  if (link.open && !link.open->text.has_room_for(message)) close(link);
  if (link.open == nullptr) link.open = &batch_to(link);
  if (link.has_name) start_writing(link);
  return *link.open;
}

void Outbox::start_writing(PeerLink& link) {
  if (!std::exchange(link.is_writing, true)) writing_.push_back(&link);
}

void Outbox::close(PeerLink& link) {
  MessageBatch& batch = *std::exchange(link.open, nullptr);
  if (link.is_lost) return batches_.free(batch);
  hand_over(link, batch);
}

// But those of links that wait for the provider: their batches of messages would leave no earlier,
// and fewer are fuller.
void Outbox::close_batches() {
  std::swap(writing_, closing_);
  for (PeerLink* const link : closing_) {
    const bool has_text = link->open && !link->open->text.is_empty();
    if (has_text && link->is_in_line) {
      writing_.push_back(link);
      continue;
    }
    link->is_writing = false;
    if (has_text) close(*link);
  }
  closing_.clear();
}

void Outbox::hand_over(PeerLink& link, Posted& posted) {
  link.append(posted);
  if (!link.is_in_line) drain(link);
}

// Messages that come while this runs go behind those that are there.
void Outbox::drain(PeerLink& link) {
  link.is_in_line = true;
  while (link.has_waiting())
    if (!offer(link)) return in_line_.push_back(&link);
  link.is_in_line = false;
}

void Outbox::drain_all() {
  for (PeerLink* link : std::exchange(in_line_, {})) drain(*link);
}

// False: the provider has no room for the first in line.
bool Outbox::offer(PeerLink& link) {
  Posted& posted = link.first();
  const bool is_batch = posted.kind == Posted::Kind::kMessageBatch;
  const long result = is_batch ? wire_.post(link.name, static_cast<MessageBatch&>(posted))
                               : wire_.post(link.name, static_cast<Request&>(posted));
  if (result == -FI_EAGAIN) return false;
  if (result < 0) {
    owner_.on_refused(link, posted, static_cast<int>(-result));
    return true;
  }
  link.drop_first();
  if (!is_batch) owner_.on_taken(link, static_cast<Request&>(posted));
  return true;
}

void Outbox::begin(PeerLink& link) {
  drain(link);
  if (link.open) start_writing(link);
}

void Outbox::send_past(const PeerLink& link, const Message& message) {
  MessageBatch& batch = batch_to(link);
  batch.text.add(message);
  if (wire_.post(link.name, batch) != 0) batches_.free(batch);
}

void Outbox::discard(PeerLink& link) {
  if (link.open) batches_.free(*std::exchange(link.open, nullptr));
  for (; link.has_waiting(); link.drop_first())
    if (link.first().kind == Posted::Kind::kMessageBatch)
      batches_.free(static_cast<MessageBatch&>(link.first()));
}

}  // namespace chime::host::ofi
