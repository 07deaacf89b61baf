#include "host/peers/keepalive/tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace chime::host {
namespace {

using namespace std::chrono_literals;

// The node below connects to the one above. That one looks for it all the same, when it has not
// come: its host may be lost, and nobody else would find that out.
constexpr auto kWaitsForThoseBelow = 1000ms;

}  // namespace

KeepaliveTree::KeepaliveTree(Outside& outside, int n_pes, NodeRecord mine, std::string silence)
    : outside_(outside),
      n_pes_(n_pes),
      mine_(std::move(mine)),
      silence_(std::move(silence)),
      roster_(n_pes) {
  roster_.add(mine_);
}

void KeepaliveTree::lead() {
  leads_ = true;
  if (roster_.above(me()) == Roster::kUnknown) outside_.find((me() - 1) / 2);
  outside_.settle_soon();
}

void KeepaliveTree::on_found(NodeRecord record) { learn(std::move(record), kNoLink); }

void KeepaliveTree::on_reached(int node, Link link) {
  reaching_.erase(node);
  links_[link] = node;
  greet(link);
}

void KeepaliveTree::on_unreached(int node, End end) {
  reaching_.erase(node);
  if (end == End::kSilent) return note_silent(node);
  note_gone(roster_.nodes().at(node), Kind::kLeft, "", kNoLink);
}

void KeepaliveTree::on_link(Link link) {
  links_[link] = kStranger;
  greet(link);
}

// All that this PE knows: the other end may have missed what went round before.
void KeepaliveTree::greet(Link link) {
  const auto tell = [&](Kind kind, const NodeRecord& record) {
    net::Writer message;
    message.put(kind);
    record.write(message);
    outside_.send(link, message.written());
  };
  tell(Kind::kHello, mine_);
  for (const auto& [node, record] : roster_.nodes())
    if (!roster_.is_gone(node)) tell(Kind::kNode, record);
  for (const auto& [node, departure] : departures_)
    outside_.send(link, notification_of(roster_.nodes().at(node), departure.how, departure.why));
}

void KeepaliveTree::on_message(Link link, std::span<const std::byte> message) {
  net::Reader fields(message);
  const auto kind = fields.get<Kind>();
  auto record = NodeRecord::read(fields, n_pes_);
  switch (kind) {
    case Kind::kHello:
      return hear_hello(link, std::move(record));
    case Kind::kNode:
      return learn(std::move(record), link);
    case Kind::kLost:
    case Kind::kLeft:
      return note_gone(record, kind, fields.text(), link);
  }
  throw net::Error(net::Fault::kProtocol, "a message of an unknown kind");
}

// A node that counts as lost is no part of the job any more.
void KeepaliveTree::hear_hello(Link link, NodeRecord record) {
  const int node = record.node();
  const auto departure = departures_.find(node);
  if (departure != departures_.end() && departure->second.how == Kind::kLost) {
    links_.erase(link);
    return outside_.close(link);
  }
  links_[link] = node;
  if (reaching_.erase(node)) outside_.stop_reaching(node);
  learn(std::move(record), link);
}

void KeepaliveTree::learn(NodeRecord record, Link from) {
  net::Writer message;
  message.put(Kind::kNode);
  record.write(message);
  if (!roster_.add(std::move(record))) return;
  flood(message.written(), from);
  outside_.settle_soon();
}

void KeepaliveTree::on_end(Link link, End end) {
  const auto ended = links_.extract(link);
  if (ended.empty()) return;
  const int node = ended.mapped();
  if (end == End::kSilent && node != kStranger && node != me()) return note_silent(node);
  outside_.settle_soon();
}

void KeepaliveTree::note_silent(int node) {
  const NodeRecord& record = roster_.nodes().at(node);
  note_gone(record, Kind::kLost, why_silent(record), kNoLink);
}

std::string KeepaliveTree::why_silent(const NodeRecord& record) const {
  return fmt::format(
      "its host {} has given no sign of life for {} (CHIME_FABRIC_TIMEOUT): it is down, or cut off "
      "from the network (noticed by {})",
      record.host, silence_, mine_.host);
}

// Others get the notification first: the one to this PE may end its process. A notification about
// this very node cannot be true here.
void KeepaliveTree::note_gone(const NodeRecord& record, Kind how, const std::string& why,
                              Link from) {
  const int node = record.node();
  if (node == me()) return;
  roster_.add(record);
  if (!roster_.remove(node)) return;
  departures_[node] = {how, why};
  if (reaching_.erase(node)) outside_.stop_reaching(node);
  drop_links_to(node);
  flood(notification_of(record, how, why), from);
  outside_.settle_soon();
  if (how == Kind::kLost) outside_.lost(record, why);
}

void KeepaliveTree::drop_links_to(int node) {
  std::erase_if(links_, [&](const auto& link) {
    if (link.second == node) outside_.close(link.first);
    return link.second == node;
  });
}

net::Bytes KeepaliveTree::notification_of(const NodeRecord& record, Kind how,
                                          const std::string& why) const {
  net::Writer message;
  message.put(how);
  record.write(message);
  return message.text(why).take();
}

void KeepaliveTree::flood(const net::Bytes& message, Link except) {
  for (const auto& [link, node] : links_)
    if (link != except) outside_.send(link, message);
}

bool KeepaliveTree::has_link_to(int node) const {
  return std::ranges::any_of(links_, [node](const auto& link) { return link.second == node; });
}

void KeepaliveTree::want(int node, std::chrono::milliseconds pause) {
  if (has_link_to(node) || !reaching_.insert(node).second) return;
  outside_.reach(roster_.nodes().at(node), pause);
}

void KeepaliveTree::settle() {
  if (!leads_) return;
  const int above = roster_.above(me());
  if (above >= 0) want(above, 0ms);
  const auto below = roster_.below(me());
  for (const int node : below) want(node, kWaitsForThoseBelow);
  for (const int node : std::set(reaching_)) {
    if (node == above || std::ranges::find(below, node) != below.end()) continue;
    reaching_.erase(node);
    outside_.stop_reaching(node);
  }
}

}  // namespace chime::host
