#include "host/transport/ofi/bounce/initiator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace chime::host::ofi {
namespace {

bool is_small(const Request& request) { return Initiator::is_carried(request.wanted); }

std::span<const std::byte> bytes_of(const std::uint64_t& word) {
  return std::as_bytes(std::span(&word, 1));
}

}  // namespace

void Initiator::start(PeerLink& link, Request& request) {
  wanting_.push_back({&link, &request});
  feed();
}

// In their order; a request that finds its peer's share taken lets others pass. A send may lose its
// peer, and the peer's requests are then struck out.
void Initiator::feed() {
  if (std::exchange(is_feeding_, true)) return;
  is_any_free_ = false;
  for (std::size_t i = 0; i < wanting_.size(); ++i)
    while (wanting_[i].request != nullptr && begin_next(wanting_[i])) {
    }
  std::erase_if(wanting_, [](const Wanting& one) {
    return one.request == nullptr || one.request->begun == one.request->wanted.bytes;
  });
  is_feeding_ = false;
}

bool Initiator::take_slot(PeerLink& link, const Request& request, Slot*& slot) {
  if (is_small(request)) {
    if (!request.is_put() && is_of_host(request.wanted)) return true;  // read out of the message
    slot = slots_.small.take(link.bounce.small_asked);
  } else {
    slot = slots_.large.take(link.bounce.large_asked);
  }
  return slot != nullptr;
}

bool Initiator::begin_next(const Wanting& one) {
  Request& request = *one.request;
  const std::size_t left = request.wanted.bytes - request.begun;
  Slot* slot = nullptr;
  if (left == 0 || request.pieces == kMostPieces || !take_slot(*one.link, request, slot))
    return false;
  Piece& piece = new_piece();
  piece.link = one.link;
  piece.request = &request;
  piece.offset = request.begun;
  piece.bytes = std::min(left, SlotPool::kLargeBytes);
  piece.slot = slot;
  request.begun += piece.bytes;
  ++request.pieces;
  if (request.is_put())
    begin_put(piece);
  else
    begin_get(piece);
  return true;
}

void Initiator::begin_put(Piece& piece) {
  if (is_of_host(piece.request->wanted)) {
    std::memcpy(piece.slot->memory, piece.here(), piece.bytes);
    return on_copied_out(piece);
  }
  piece.is_copied = true;
  ++piece.request->copies;
  work_.copy_out(piece.slot->memory, piece.here(), piece.bytes, [this, &piece] {
    if (let_go(piece)) on_copied_out(piece);
  });
}

void Initiator::on_copied_out(Piece& piece) {
  Request& request = *piece.request;
  if (!is_small(request)) {
    piece.is_asked = true;
    return request_sink_.send(*piece.link,
                              ask_for_piece(Message::Kind::kPull, piece.id(),
                                            request.wanted.at + piece.offset, piece.bytes),
                              bytes_of(piece.slot->at));
  }
  PeerLink& link = *piece.link;
  request.wanted.here = piece.slot->memory;
  --request.pieces;
  request_sink_.on_carried(link, request);
  if (!piece.is_live) return;  // the peer was lost by this
  give_back_slot(piece);
  free(piece);
}

void Initiator::begin_get(Piece& piece) {
  piece.is_asked = true;
  const bool is_carried = is_small(*piece.request);
  const Message ask =
      ask_for_piece(is_carried ? Message::Kind::kGet : Message::Kind::kPush, piece.id(),
                    piece.request->wanted.at + piece.offset, piece.bytes);
  if (is_carried) return request_sink_.send(*piece.link, ask, {});
  request_sink_.send(*piece.link, ask, bytes_of(piece.slot->at));
}

void Initiator::on_answer(PeerLink& link, const Message& answer, std::span<const std::byte> data) {
  Piece* const piece = find(link, answer.id);
  Request& request = *piece->request;
  const bool has_data = answer.kind == Message::Kind::kData;
  if (!has_data && answer.status != CHIMEX_OK) {
    request.status = static_cast<chimex_status>(answer.status);
    forget(request);
    return end(*piece);
  }
  const bool is_for_data = !request.is_put() && is_small(request);
  if (has_data != is_for_data || (has_data && answer.bytes != piece->bytes))
    return request_sink_.lose(
        link, fmt::format("PE {} has answered something else than what it was asked "
                          "for; look whether it runs the same Chime",
                          link.pe));
  piece->is_asked = false;
  if (request.is_put()) return end(*piece);
  bring_in(*piece, data);
}

// `data`: of a message; else it lies in the slot.
void Initiator::bring_in(Piece& piece, std::span<const std::byte> data) {
  if (is_of_host(piece.request->wanted)) {
    std::memcpy(piece.here(), piece.slot && data.empty() ? piece.slot->memory : data.data(),
                piece.bytes);
    return end(piece);
  }
  if (!data.empty()) std::memcpy(piece.slot->memory, data.data(), piece.bytes);
  piece.is_copied = true;
  ++piece.request->copies;
  work_.copy_in(piece.here(), piece.slot->memory, piece.bytes, [this, &piece] {
    if (let_go(piece)) end(piece);
  });
}

void Initiator::end(Piece& piece) {
  Request& request = *piece.request;
  PeerLink& link = *piece.link;
  request.moved += piece.bytes;
  --request.pieces;
  give_back_slot(piece);
  free(piece);
  const bool is_over = request.status != CHIMEX_OK || request.moved == request.wanted.bytes;
  if (request.pieces == 0 && is_over) request_sink_.on_ended(link, request);
}

// The device has done its part. False: the peer was lost meanwhile.
bool Initiator::let_go(Piece& piece) {
  piece.is_copied = false;
  Request& request = *piece.request;
  --request.copies;
  if (piece.is_live) return true;
  give_back_slot(piece);
  free(piece);
  request_sink_.on_let_go(request);
  return false;
}

// A slot that was named to a peer may be read or written by that peer, as long as it lives.
void Initiator::lose(PeerLink& link) {
  for (Wanting& one : wanting_)
    if (one.link == &link) one.request = nullptr;
  for (Piece& piece : pieces_) {
    if (!piece.is_live || piece.link != &link) continue;
    piece.is_live = false;
    if (piece.is_copied) continue;
    if (piece.is_asked && piece.slot && !is_small(*piece.request)) {
      abandoned_[link.pe].push_back(piece.slot);
      slots_.large.abandon();
    } else {
      give_back_slot(piece);
    }
    free(piece);
  }
  if (slots_.large.are_all_abandoned())
    request_sink_.lose_all(
        "peers that were lost, and may live, keep all slots through which data goes to and from "
        "this PE's GPU; look for the earlier report about each of them");
}

void Initiator::reclaim(const PeerLink& link) {
  const auto found = abandoned_.find(link.pe);
  if (found == abandoned_.end()) return;
  for (Slot* const slot : found->second) slots_.large.reclaim(slot);
  abandoned_.erase(found);
  is_any_free_ = true;
}

Initiator::Piece& Initiator::new_piece() {
  if (free_.empty()) {
    free_.push_back(&pieces_.emplace_back());
    free_.back()->index = static_cast<std::uint32_t>(pieces_.size() - 1);
  }
  Piece& piece = *free_.back();
  free_.pop_back();
  piece.is_live = true;
  piece.is_asked = piece.is_copied = false;
  return piece;
}

// Null: none of this name was asked.
Initiator::Piece* Initiator::find(const PeerLink& link, std::uint64_t id) {
  const auto index = static_cast<std::uint32_t>(id);
  if (index >= pieces_.size()) return nullptr;
  Piece& piece = pieces_[index];
  const bool is_asked = piece.is_live && piece.is_asked && piece.link == &link;
  return is_asked && piece.id() == id ? &piece : nullptr;
}

void Initiator::free(Piece& piece) {
  piece.is_live = false;
  piece.generation = (piece.generation + 1) & 0x7fff'ffff;
  free_.push_back(&piece);
}

void Initiator::give_back_slot(Piece& piece) {
  if (piece.slot == nullptr) return;
  BounceUse& use = piece.link->bounce;
  if (is_small(*piece.request))
    slots_.small.give_back(piece.slot, use.small_asked);
  else
    slots_.large.give_back(piece.slot, use.large_asked);
  piece.slot = nullptr;
  is_any_free_ = true;
}

// No more of its pieces begin.
void Initiator::forget(const Request& request) {
  for (Wanting& one : wanting_)
    if (one.request == &request) one.request = nullptr;
}

}  // namespace chime::host::ofi
