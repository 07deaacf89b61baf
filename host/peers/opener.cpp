#include "host/peers/opener.hpp"

#include <fmt/format.h>

#include <exception>
#include <utility>

#include "host/errors/error.hpp"
#include "net/mesh/fields.hpp"

namespace chime::host {
namespace {

// ---- Messages: u8 kind, u32 interface version, and
//
//   offer     endpoint info, offer
//   receipt   receipt
//   refusal   why, as text

enum class Kind : std::uint8_t { kOffer = 1, kReceipt, kRefusal };

net::Writer message_of(Kind kind) { return net::Writer().put(kind).put(kAbiVersion); }

EndpointInfoBytes refusal(const std::string& why) {
  return message_of(Kind::kRefusal).text(why).take();
}

}  // namespace

Opener::Opener(Transport& transport, PeerTable& peers, Send send)
    : transport_(transport),
      peers_(peers),
      path_(transport.capabilities().path),
      send_(std::move(send)) {}

void Opener::want(int pe) {
  const std::lock_guard lock(one_step_);
  if (settled_.contains(pe)) return;
  const PeerState state = peers_.state(pe, path_);
  if (state == PeerState::kDead) return refuse(pe, peers_.why_not(pe));  // as others have found
  if (state != PeerState::kUnknown) return;
  const EndpointInfoBytes offer = make_offer(pe);
  if (offer.empty()) return;
  peers_.ask(pe, path_);
  send(pe, offer);
}

void Opener::on_message(int from, std::span<const std::byte> bytes) {
  const std::lock_guard lock(one_step_);
  net::Reader message(bytes);
  const auto kind = message.get<Kind>();
  if (message.get<std::uint32_t>() != kAbiVersion) {
    const auto why =
        fmt::format("PEs {} and {} run different versions of Chime", peers_.my_pe(), from);
    if (kind != Kind::kRefusal) return refuse_and_tell(from, why);
    return settled_.contains(from) ? void()
                                   : refuse(from, why);  // else the two would go on for ever
  }
  switch (kind) {
    case Kind::kOffer: {
      const auto endpoint_info = message.bytes();
      return on_offer(from, endpoint_info, message.bytes());
    }
    case Kind::kReceipt:
      return on_receipt(from, message.bytes());
    case Kind::kRefusal:
      return on_refusal(from, message.text());
  }
  throw net::Error(net::Fault::kProtocol, "a message about paths is of no known kind");
}

void Opener::on_lost(int pe, const std::string& why) {
  const std::lock_guard lock(one_step_);
  const bool is_unknown = peers_.state(pe, path_) == PeerState::kUnknown;
  if (!is_unknown && !settled_.contains(pe)) refuse(pe, why);
}

EndpointInfoBytes Opener::make_offer(int pe) {
  if (const std::string why = transport_.why_no_offer(pe); !why.empty()) {
    refuse(pe, why);
    return {};
  }
  try {
    const EndpointInfoBytes endpoint_info = transport_.own_endpoint_info().bytes,
                            offer = transport_.offer(pe);
    return message_of(Kind::kOffer).bytes(endpoint_info).bytes(offer).take();
  } catch (const Error& error) {
    refuse(pe, error.what());
    return {};
  }
}

// An offer answers this PE's own, whichever was first.
void Opener::on_offer(int from, std::span<const std::byte> endpoint_info,
                      std::span<const std::byte> offer) {
  switch (peers_.state(from, path_)) {
    case PeerState::kUnknown: {
      const EndpointInfoBytes mine = make_offer(from);
      if (mine.empty()) return send(from, refusal(peers_.why_not(from)));
      peers_.ask(from, path_);
      if (!accept(from, endpoint_info, offer)) return;
      send(from, mine);
      return send(from, receipt_);
    }
    case PeerState::kAsked:
      if (accept(from, endpoint_info, offer)) send(from, receipt_);
      return;
    case PeerState::kRefused:
      return send(from, refusal(peers_.why_not(from)));
    case PeerState::kDead:
      return;
    case PeerState::kConnecting:
    case PeerState::kUsable:
      break;
  }
  throw net::Error(net::Fault::kProtocol, "a second offer");
}

bool Opener::accept(int from, std::span<const std::byte> endpoint_info,
                    std::span<const std::byte> offer) {
  std::string why;
  try {
    Acceptance acceptance = transport_.accept(from, {.bytes = endpoint_info, .offer = offer});
    if (acceptance.is_accepted) {
      receipt_ = message_of(Kind::kReceipt).bytes(acceptance.receipt).take();
      peers_.connect(from, path_);
      return true;
    }
    why = transport_.why_not(from);
  } catch (const Error& error) {
    why = error.what();
  }
  refuse_and_tell(from, why);
  return false;
}

void Opener::on_receipt(int from, std::span<const std::byte> receipt) {
  const PeerState state = peers_.state(from, path_);
  if (state == PeerState::kDead || state == PeerState::kRefused) return;
  if (state != PeerState::kConnecting)
    throw net::Error(net::Fault::kProtocol, "a receipt for nothing");
  try {
    transport_.confirm(from, receipt);
  } catch (const Error& error) {
    throw net::Error(net::Fault::kProtocol, error.what());
  }
  peers_.use(from, path_, nullptr);
  settled_.insert(from);
  transport_.answer(from, true);
}

void Opener::on_refusal(int from, const std::string& why) {
  const PeerState state = peers_.state(from, path_);
  if (state == PeerState::kAsked || state == PeerState::kConnecting) refuse(from, why);
}

// REQUIRES: neither usable nor refused.
void Opener::refuse(int pe, const std::string& why) {
  transport_.withdraw(pe);
  peers_.refuse(pe, path_, why);
  settled_.insert(pe);
  transport_.answer(pe, false);
}

void Opener::refuse_and_tell(int pe, const std::string& why) {
  if (!settled_.contains(pe)) refuse(pe, why);
  send(pe, refusal(why));
}

// A peer that is gone has no path, and gets no message.
void Opener::send(int pe, const EndpointInfoBytes& message) {
  try {
    send_(pe, message);
  } catch (const std::exception& error) {
    if (!settled_.contains(pe)) refuse(pe, error.what());
  }
}

}  // namespace chime::host
