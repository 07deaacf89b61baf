#include "host/peers/node/hub.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "host/errors/log.hpp"
#include "net/socket/socket.hpp"

namespace chime::host {
namespace {

constexpr std::size_t kMaxStrangers = 256;  // beside the guests

// At the first name that nobody has taken.
net::Descriptor listen_at_one(const std::vector<net::Address>& names) {
  std::string tried;
  for (const net::Address& name : names) {
    try {
      return net::listen_at(name);
    } catch (const net::Error& error) {
      tried += std::string(tried.empty() ? "" : "; ") + error.what();
    }
  }
  fail_to_meet(CHIMEX_ERR_SYSTEM, tried);
}

}  // namespace

NodeHub::NodeHub(const bootstrap::Bootstrap& bootstrap, std::vector<int> guests, NodeWait& wait)
    : wait_(wait), me_(bootstrap.rank()) {
  for (const int pe : guests) guests_[pe];
  const auto credentials = node_credentials(bootstrap);
  std::vector<net::Descriptor> listeners;
  listeners.push_back(listen_at_one(node_names(credentials, me_)));
  net::Gate::Options options{.credentials = credentials,
                             .pe = me_,
                             .limits = kNodeLimits,
                             .max_strangers = guests.size() + kMaxStrangers};
  options.log = [pe = me_](const std::string& line) {
    log(LogLevel::kWarn, pe, "node exchange: {}", line);
  };
  gate_ = std::make_unique<net::Gate>(
      reactor_, std::move(listeners), std::move(options),
      [this](std::shared_ptr<net::Connection> guest) { admit(std::move(guest)); });
}

NodeHub::~NodeHub() {
  for (const auto& [pe, guest] : guests_)
    if (guest.connection) guest.connection->close();
}

std::vector<LocalPeer> NodeHub::meet(const OfferedEndpointInfo& mine) {
  wait_.until(
      reactor_, [this] { return without_endpoint_info().empty(); },
      [this] { return without_endpoint_info(); });
  endpoint_infos_.push_back(mine);
  for (const auto& [pe, guest] : guests_)
    endpoint_infos_.push_back({guest.local_peer.endpoint_info, guest.local_peer.transport.get(),
                               guest.local_peer.control.get()});
  for (auto& [pe, guest] : guests_) send_more(guest);
  wait_.until(
      reactor_, [this] { return without_set().empty(); }, [this] { return without_set(); });
  std::vector<LocalPeer> local_peers;
  for (auto& [pe, guest] : guests_) local_peers.push_back(std::move(guest.local_peer));
  return local_peers;
}

// A version that differs ends this PE, too: it would wait in vain.
void NodeHub::admit(std::shared_ptr<net::Connection> connection) {
  const int pe = connection->client_pe();
  const auto other_version = why_not_of_this_version(connection->introduction(), pe, me_);
  const auto why = other_version.empty() ? why_refused(*connection) : other_version;
  connection->belong_to(*this);
  if (!why.empty()) {
    connection->refuse(why);
    gate_->log_refusal(connection->peer(), why);
    if (!other_version.empty()) fail_to_meet(CHIMEX_ERR_MISMATCH, why);
    return;
  }
  connection->tag = static_cast<std::uint64_t>(pe);
  connection->accept();
  guests_.at(pe).connection = std::move(connection);
}

std::string NodeHub::why_refused(const net::Connection& connection) const {
  const int pe = connection.client_pe();
  const auto guest = guests_.find(pe);
  if (guest == guests_.end()) return fmt::format("PE {} is not of this node", pe);
  if (guest->second.connection) return fmt::format("two processes say that they are PE {}", pe);
  return "";
}

void NodeHub::on_frame(net::Connection& connection, net::Bytes message) {
  auto local_peers = receive_endpoint_infos(connection, message);
  Guest& guest = guest_of(connection);
  if (local_peers.size() != 1 || local_peers[0].endpoint_info.pe != connection.client_pe() ||
      guest.has_shown_endpoint_info)
    throw net::Error(net::Fault::kProtocol, "it sent what is not its own endpoint info");
  guest.local_peer = std::move(local_peers[0]);
  guest.has_shown_endpoint_info = true;
}

// The next message only when the last has gone: else endpoint infos of all for all would pile up
// here.
void NodeHub::send_more(Guest& guest) {
  while (!has_all(guest) && !guest.connection->has_unsent()) {
    const auto rest = std::span<const OfferedEndpointInfo>(endpoint_infos_).subspan(guest.sent);
    const auto part = rest.first(std::min(rest.size(), kEndpointInfosAMessage));
    send_endpoint_infos(*guest.connection, part);
    guest.sent += part.size();
  }
}

std::vector<int> NodeHub::without_endpoint_info() const {
  std::vector<int> pes;
  for (const auto& [pe, guest] : guests_)
    if (!guest.has_shown_endpoint_info) pes.push_back(pe);
  return pes;
}

std::vector<int> NodeHub::without_set() const {
  std::vector<int> pes;
  for (const auto& [pe, guest] : guests_)
    if (!has_all(guest) || guest.connection->has_unsent()) pes.push_back(pe);
  return pes;
}

// Whoever has all may go.
void NodeHub::on_end(net::Connection& connection, const net::Error& why) {
  const auto found = guests_.find(connection.client_pe());
  if (found == guests_.end() || found->second.connection.get() != &connection) return;  // refused
  if (!endpoint_infos_.empty() && has_all(found->second)) return;
  std::vector<int> pes;
  for (const auto& [pe, guest] : guests_) pes.push_back(pe);
  wait_.check_for_the_cause(pes, found->first);
  fail_to_meet(CHIMEX_ERR_PEER_DEAD,
               fmt::format("PE {} gave up while the node's PEs met ({}); its own message says why",
                           found->first, why.what()));
}

}  // namespace chime::host
