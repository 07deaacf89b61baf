// Handles events of the wire: transfers that are over, batches of messages, failures; and lost
// peers.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "host/transport/ofi/driver/driver.hpp"
#include "host/transport/ofi/driver/served.hpp"
#include "host/transport/ofi/requests/words.hpp"

namespace chime::host::ofi {
namespace {

// A provider that finds a peer gone tells of all that it had for it, soon.
constexpr std::chrono::seconds kGrace{1};

}  // namespace

void Driver::take_completions() {
  std::array<Wire::Completion, 32> completions;
  const long count = wire_.read(completions);
  has_moved_ = count > 0 || count == -FI_EAVAIL;
  if (count == -FI_EAGAIN) return;
  if (count == -FI_EAVAIL) return take_failure();
  if (count < 0)
    return lose_all(fmt::format("libfabric's {} has failed on this PE: {}", wire_.facts().name,
                                words_of(static_cast<int>(-count))));
  for (const Wire::Completion& one :
       std::span(completions).first(static_cast<std::size_t>(count))) {
    switch (one.what->kind) {
      case Posted::Kind::kTransfer:
        on_transfer(static_cast<Request&>(*one.what));
        break;
      case Posted::Kind::kMessageBatch:
        batches_.free(static_cast<MessageBatch&>(*one.what));
        break;
      case Posted::Kind::kReceive:
        on_arrival(static_cast<Arrival&>(*one.what), one.bytes);
        break;
    }
  }
}

void Driver::on_transfer(Request& request) {
  request.is_with_provider = false;
  links_.find(request.wanted.pe)->has_sign_of_life = true;
  if (!request.is_live) return retire(request);
  PeerLink& link = *links_.find(request.wanted.pe);
  request.moved += request.piece;
  request.piece = wire_.piece_of(request.wanted.bytes - request.moved);
  if (request.piece != 0) {
    if (link.is_lost) return end(request, CHIMEX_ERR_NETWORK);
    return outbox_.hand_over(link, request);
  }
  if (request.turn && !link.is_lost) pass(link, request);
  end(request, CHIMEX_OK);
}

void Driver::on_arrival(Arrival& arrival, std::size_t bytes) {
  const auto batch = BatchReader::open(
      {arrival.data(), std::min<std::size_t>(bytes, Arrival::kBytes)}, place_.pass);
  if (PeerLink* const from = batch ? peer_link_to(batch->from()) : nullptr) on_batch(*from, *batch);
  unposted_.push_back(&arrival);
  post_arrivals();
}

// No message of an unreadable batch is carried out; its sender would wait for ever.
void Driver::on_batch(PeerLink& link, BatchReader batch) {
  link.has_sign_of_life = true;
  if (!batch.is_well())
    return lose(
        link,
        fmt::format("PE {} has sent a batch of messages by libfabric's {} that cannot be read; "
                    "look whether it runs the same Chime, and for faults of memory",
                    link.pe, wire_.facts().name));
  while (!batch.is_over()) {
    std::span<const std::byte> body;
    const Message message = batch.next(body);
    if (message.kind == Message::Kind::kAnswer || message.kind == Message::Kind::kData) {
      if (!link.is_lost) on_answer(link, message, body);
    } else {
      if (link.is_lost) return turn_away(link, message);
      on_ask(link, message, body);
    }
  }
}

void Driver::on_ask(PeerLink& link, const Message& ask, std::span<const std::byte> body) {
  const std::uint64_t heap_bytes = place_.heap.size();
  if (!ask.fits(heap_bytes)) return answer(link, ask, 0, CHIMEX_ERR_INVALID);
  if (!target_) {
    const Served served = carry_out(*owner_, heap_bytes, ask, body);
    return answer(link, ask, served.before, served.status);
  }
  // No peer sends a put with its signal to a GPU's heap.
  if (ask.kind == Message::Kind::kPutSignal) return answer(link, ask, 0, CHIMEX_ERR_INVALID);
  target_->take(link, ask, body);
}

// A peer that was given up, and is there all the same: its puts move without this PE's help, and
// would be taken for the sign of life that its atomic waits behind. Nothing is kept for it: where
// there is no room now, its next atomic tells it.
void Driver::turn_away(const PeerLink& link, const Message& ask) {
  if (!link.has_name) return;
  outbox_.send_past(link, answer_to(ask.id, 0, CHIMEX_ERR_NETWORK));
}

// Null: it is not one that this peer may answer.
Request* Driver::asked(const PeerLink& link, std::uint64_t id) {
  Request* const request = requests_.find(id);
  const bool is_theirs = request && request->is_asked && request->wanted.pe == link.pe;
  return is_theirs ? request : nullptr;
}

void Driver::on_answer(PeerLink& link, const Message& answer, std::span<const std::byte> data) {
  const bool is_of_piece = initiator_ && Initiator::is_of_piece(answer.id);
  Request* const request =
      is_of_piece ? initiator_->asked(link, answer.id) : asked(link, answer.id);
  if (request == nullptr) return;
  if (answer.status == CHIMEX_ERR_NETWORK)
    return lose(link, fmt::format("PE {} has given up PE {}, and carries out nothing for it; look "
                                  "for its own message",
                                  link.pe, place_.my_pe));
  if (is_of_piece) return initiator_->on_answer(link, answer, data);
  if (answer.kind != Message::Kind::kAnswer) return;
  if (request->turn) pass(link, *request);
  if (request->is_atomic() && request->wanted.here != nullptr)
    std::memcpy(request->wanted.here, &answer.at, sizeof answer.at);
  end(*request, static_cast<chimex_status>(answer.status));
}

void Driver::post_arrivals() {
  for (; !unposted_.empty(); unposted_.pop_back()) {
    const long result = wire_.post(*unposted_.back());
    if (result == -FI_EAGAIN) return;
    if (result != 0) return be_deaf(static_cast<int>(-result));
  }
}

// A PE that hears no answers can ask for nothing, now or later.
void Driver::be_deaf(int error) {
  unposted_.clear();
  lose_all(fmt::format("this PE cannot receive by libfabric's {}: {}", wire_.facts().name,
                       words_of(error)));
}

void Driver::take_failure() {
  const Wire::Failure failure = wire_.take_failure();
  if (failure.what == nullptr) return;
  Posted& what = *failure.what;
  if (what.kind == Posted::Kind::kReceive) {
    if (!failure.is_cancelled) unposted_.push_back(static_cast<Arrival*>(&what));
    return;
  }
  const bool is_batch = what.kind == Posted::Kind::kMessageBatch;
  PeerLink& link = *links_.find(is_batch ? static_cast<MessageBatch&>(what).to
                                         : static_cast<Request&>(what).wanted.pe);
  if (!link.is_lost) lose(link, failed(what, wire_.facts(), failure.words));
  if (is_batch) return batches_.free(static_cast<MessageBatch&>(what));
  Request& request = static_cast<Request&>(what);
  request.is_with_provider = false;  // not before: losing its peer would have ended it, too
  if (request.is_live) return end(request, CHIMEX_ERR_NETWORK);
  retire(request);
}

// ---- Lost peers

void Driver::lose(PeerLink& link, const std::string& why) {
  if (std::exchange(link.is_lost, true)) return;
  if (!link.has_name) --unnamed_;
  link.unstarted.clear();
  losses_.record(link.pe, why);
  link.order.clear();
  outbox_.discard(link);
  if (device_) {
    initiator_->lose(link);
    target_->lose(link);
  }
  end_all_to(link, false);
  lingering_.push_back({&link, Clock::now() + kGrace, link.is_gone});
}

std::size_t Driver::end_all_to(const PeerLink& link, bool also_held) {
  std::size_t count = 0;
  requests_.for_each([&](Request& request) {
    if (!request.is_live || request.wanted.pe != link.pe) return;
    if (request.is_held() && !also_held) return;
    end(request, CHIMEX_ERR_NETWORK);
    ++count;
  });
  return count;
}

void Driver::lose_all(const std::string& why) {
  if (why_all_lost_.empty()) why_all_lost_ = why;
  links_.for_each([&](PeerLink& link) { lose(link, why); });
}

void Driver::lose_those_asked_for() {
  for (const int pe : losses_.take_asked()) {
    PeerLink* const link = peer_link_to(pe);  // also where nothing was said to it yet
    if (link == nullptr) continue;
    link->is_gone = true;
    if (link->is_lost) {  // what it may have touched is free then
      lingering_.push_back({link, Clock::now() + kGrace, true});
      continue;
    }
    std::string what = "nothing";
    requests_.for_each([&](const Request& request) {
      if (request.is_live && !request.internal_request && request.wanted.pe == pe &&
          what == "nothing")
        what = describe(request.wanted);
    });
    lose(*link, fmt::format("{} was in flight by libfabric's {} when PE {} was given up", what,
                            wire_.facts().name, pe));
  }
}

void Driver::lose_the_silent() {
  silence_.look([this](PeerLink& link) {
    lose(link,
         fmt::format("PE {} has shown no sign of life by libfabric's {} for {} s "
                     "(CHIME_FABRIC_TIMEOUT); look whether it has ended or is stopped, and whether "
                     "its address can be reached from here (CHIME_IFACE chooses it)",
                     link.pe, wire_.facts().name,
                     std::chrono::duration_cast<std::chrono::seconds>(place_.timeout).count()));
  });
}

// Memory that the provider has not given back is reported, and stays with it.
void Driver::end_lingering() {
  const auto now = Clock::now();
  std::vector<int> keepers;
  std::erase_if(lingering_, [&](const Lingering& one) {
    if (now < one.until) return false;
    if (end_all_to(*one.link, true) > 0) keepers.push_back(one.link->pe);
    if (device_ && one.was_gone) initiator_->reclaim(*one.link);
    return true;
  });
  if (!wire_.facts().ends_in_order || keepers.empty()) return;
  lose_all(
      fmt::format("libfabric's {} tells of nothing any more since PE {} is lost; with "
                  "CHIME_FABRIC=tcp;ofi_rxm the others would be reached",
                  wire_.facts().name, keepers.front()));
}

}  // namespace chime::host::ofi
