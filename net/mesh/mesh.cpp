#include "net/mesh/mesh.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "net/mesh/fields.hpp"
#include "net/socket/error.hpp"

namespace chime::net {
namespace {

constexpr Mesh::Tag kGoodbye = 0;
constexpr std::chrono::seconds kPartingTime{1};  // for peers that do not read, or do not answer
constexpr std::size_t kMaxStrangers = 256;       // beside PEs that come at the same time
constexpr int kMostPesAtOnce = 4096;
constexpr SecureChannel::Limits kLimits{.frame_bytes =
                                            Mesh::kMaxPayload + sizeof(Mesh::Tag) + kTagBytes};

Bytes message_of(Mesh::Tag tag, std::span<const std::byte> payload) {
  return Writer().put(tag).raw(payload).take();
}

// A listener at every address, and an endpoint info that lists these addresses.
std::vector<Descriptor> listen_at_all(const Mesh::Options& options, Bytes& endpoint_info) {
  std::vector<Descriptor> listeners;
  Writer addresses;
  for (const Address& wanted : options.listen_at) {
    listeners.push_back(net::listen_at(wanted));
    const Address bound = address_of(listeners.back());
    const bool is_everywhere = bound == Address::internet("0.0.0.0", bound.port()) ||
                               bound == Address::internet("::", bound.port());
    if (!is_everywhere) addresses.raw(bound.to_bytes());
    for (const Address& offered : options.offered)
      if (is_everywhere && offered.family() == bound.family())
        addresses.raw(offered.with_port(bound.port()).to_bytes());
  }
  endpoint_info = addresses.take();
  return listeners;
}

std::vector<Address> addresses_in(std::span<const std::byte> endpoint_info) {
  std::vector<Address> addresses;
  while (!endpoint_info.empty()) addresses.push_back(Address::from_bytes(endpoint_info));
  return addresses;
}

}  // namespace

Mesh::Mesh(Options options, FindEndpointInfo find_endpoint_info, Lost lost)
    : options_(std::move(options)),
      credentials_{options_.secret, options_.job, "mesh"},
      find_endpoint_info_(std::move(find_endpoint_info)),
      lost_(std::move(lost)),
      is_reported_(static_cast<std::size_t>(options_.n_pes)) {
  Gate::Options gate{
      .credentials = credentials_,
      .pe = options_.pe,
      .limits = kLimits,
      .max_strangers =
          static_cast<std::size_t>(std::min(options_.n_pes, kMostPesAtOnce)) + kMaxStrangers,
      .log = options_.log};
  gate_ = std::make_unique<Gate>(
      reactor_, listen_at_all(options_, endpoint_info_), std::move(gate),
      [this](std::shared_ptr<Connection> guest) { admit(std::move(guest)); });
}

Mesh::~Mesh() {
  dials_.clear();
  for (const auto& [pe, guest] : guests_) guest->close();
  for (const auto& [pe, peer] : peers_)
    if (peer.connection) peer.connection->close();
}

void Mesh::run() {
  while (!must_stop_) reactor_.run_once();
  part();
}

void Mesh::stop() {
  reactor_.post([this] { must_stop_ = true; });
}

// A sender may find the connection over before the goodbye, or the loss, has been read.
void Mesh::send_over(Connection& connection, int pe, const Bytes& message) {
  try {
    connection.send(message);
  } catch (const Error&) {
    throw Error(Fault::kClosed, "PE " + std::to_string(pe) + " has left or is lost");
  }
}

bool Mesh::send(int pe, Tag tag, std::span<const std::byte> payload) {
  if (pe < 0 || pe >= options_.n_pes || payload.size() > kMaxPayload)
    throw Error(Fault::kSystem, "a message of " + std::to_string(payload.size()) + " bytes to PE " +
                                    std::to_string(pe) + " cannot be sent");
  if (pe == options_.pe) return send_to_myself(tag, payload);
  std::shared_ptr<Connection> connection;
  Bytes brought;
  bool must_find = false;
  {
    std::lock_guard lock(mutex_);
    Peer& peer = peers_[pe];
    if (!peer.gone.empty()) throw Error(Fault::kClosed, peer.gone);
    connection = peer.connection;
    if (!connection) {
      if (peer.waiting_bytes + payload.size() > kMaxQueuedBytes) return false;
      peer.waiting.push_back(message_of(tag, payload));
      peer.waiting_bytes += payload.size();
      must_find = !std::exchange(peer.is_asked, true);
      brought = peer.endpoint_info;
    }
  }
  if (connection) {
    if (connection->unsent_bytes() + payload.size() > kMaxQueuedBytes) return false;
    send_over(*connection, pe, message_of(tag, payload));
  } else if (must_find) {
    brought.empty() ? find_endpoint_info_(pe) : found(pe, std::move(brought));
  }
  return true;
}

void Mesh::found(int pe, Bytes endpoint_info) {
  reactor_.post([this, pe, endpoint_info = std::move(endpoint_info)] { open(pe, endpoint_info); });
}

void Mesh::not_found(int pe, std::string why) {
  reactor_.post([this, pe, why = std::move(why)] { give_up(pe, why); });
}

std::size_t Mesh::opened() const {
  std::lock_guard lock(mutex_);
  return static_cast<std::size_t>(std::count_if(
      peers_.begin(), peers_.end(), [](const auto& entry) { return entry.second.connection; }));
}

bool Mesh::send_to_myself(Tag tag, std::span<const std::byte> payload) {
  reactor_.post_behind_arrivals(
      [this, message = message_of(tag, payload)] { dispatch(options_.pe, message); });
  return true;
}

void Mesh::open(int pe, const Bytes& endpoint_info) {
  std::vector<Address> addresses;
  try {
    addresses = addresses_in(endpoint_info);
  } catch (const Error& error) {
    return give_up(pe, std::string("its endpoint info makes no sense: ") + error.what());
  }
  dials_[pe] = std::make_unique<Dial>(
      reactor_,
      Dial::Options{.addresses = std::move(addresses),
                    .credentials = credentials_,
                    .roles = {.client_pe = options_.pe, .server_pe = pe},
                    .introduction = introduction(),
                    .limits = kLimits,
                    .has_listened = true},  // before there was an endpoint info
      Clock::now() + options_.connect_timeout,
      [this, pe](std::shared_ptr<Connection> connection) {
        use(pe, std::move(connection));
        dials_.erase(pe);
      },
      [this, pe](const Error& why) {
        give_up(pe, why_unreached(why));
        dials_.erase(pe);
      });
}

std::string Mesh::why_unreached(const Error& why) const {
  if (why.fault() == Fault::kNobody)
    return std::string("it has left the job, or has died: nobody listens any more where it did (") +
           why.what() + ")" + options_.if_unreachable;
  return std::string("it cannot be reached: ") + why.what() + options_.if_unreachable;
}

// Empty on a machine with very many addresses: then the PE that answers looks for the endpoint
// info.
Bytes Mesh::introduction() const {
  return endpoint_info_.size() <= kMaxIntroductionBytes ? endpoint_info_ : Bytes();
}

void Mesh::use(int pe, std::shared_ptr<Connection> connection) {
  connection->tag = static_cast<std::uint64_t>(pe);
  connection->belong_to(*this);
  try {
    flush(pe, std::move(connection));
  } catch (const Error& error) {
    lose(pe, error.what());
  }
}

// Under the lock, so that what is sent from now on comes behind what has waited.
void Mesh::flush(int pe, std::shared_ptr<Connection> connection) {
  std::lock_guard lock(mutex_);
  Peer& peer = peers_[pe];
  for (const Bytes& message : peer.waiting) connection->send(message);
  peer.waiting.clear();
  peer.waiting_bytes = 0;
  peer.connection = std::move(connection);
}

void Mesh::admit(std::shared_ptr<Connection> guest) {
  const int pe = guest->client_pe();
  guest->tag = static_cast<std::uint64_t>(pe);
  guest->belong_to(*this);
  if (const auto why = why_refused(pe); !why.empty()) {
    gate_->log_refusal(guest->peer(), why);
    return guest->refuse(why);
  }
  guest->accept();
  {
    std::lock_guard lock(mutex_);
    peers_[pe].endpoint_info = guest->introduction();
  }
  guests_[pe] = std::move(guest);
}

std::string Mesh::why_refused(int pe) const {
  const auto name = "PE " + std::to_string(pe);
  if (pe < 0 || pe >= options_.n_pes)
    return "there is no " + name + " in a job of " + std::to_string(options_.n_pes);
  if (pe == options_.pe) return name + " is this PE";
  if (guests_.contains(pe)) return name + " is connected already";
  return is_reported_[static_cast<std::size_t>(pe)] ? name + " has left or was lost" : "";
}

void Mesh::on_frame(Connection& connection, Bytes frame) { dispatch(pe_of(connection), frame); }

void Mesh::dispatch(int from, std::span<const std::byte> message) {
  Reader fields(message);
  const auto tag = fields.get<Tag>();
  if (tag == kGoodbye) return leave(from);
  const auto handler = handlers_.find(tag);
  if (handler == handlers_.end())
    throw Error(Fault::kProtocol, "a message of an unknown kind, " + std::to_string(tag));
  handler->second(from, fields.rest());
}

void Mesh::on_end(Connection& connection, const Error& why) {
  const int pe = pe_of(connection);
  const auto guest = guests_.find(pe);
  const bool is_guest = guest != guests_.end() && guest->second.get() == &connection;
  bool is_ours;
  {
    std::lock_guard lock(mutex_);
    const auto peer = peers_.find(pe);
    is_ours = peer != peers_.end() && peer->second.connection.get() == &connection;
  }
  if (!is_guest && !is_ours) return;  // one that was refused
  lose(pe, why.what());
  if (is_guest) guests_.erase(pe);
}

// Used when no connection to `pe` can be opened. The PE may live, and wait for an answer over its
// own connection.
void Mesh::give_up(int pe, const std::string& why) {
  lose(pe, why);
  const auto guest = guests_.find(pe);
  if (guest == guests_.end()) return;
  guest->second->close();
  guests_.erase(guest);
}

// Reports no loss of a PE that has left.
void Mesh::lose(int pe, const std::string& why) {
  const auto words = "PE " + std::to_string(pe) + " is lost to the side channel: " + why;
  std::shared_ptr<Connection> connection;
  {
    std::lock_guard lock(mutex_);
    Peer& peer = peers_[pe];
    if (peer.gone.empty()) peer.gone = words;
    connection.swap(peer.connection);
    peer.waiting.clear();
  }
  if (connection) connection->close();
  if (is_reported_[static_cast<std::size_t>(pe)]) return;
  is_reported_[static_cast<std::size_t>(pe)] = true;
  if (lost_) lost_(pe, words);
}

void Mesh::leave(int pe) {
  dials_.erase(pe);
  {
    std::lock_guard lock(mutex_);
    Peer& peer = peers_[pe];
    if (peer.gone.empty()) peer.gone = "PE " + std::to_string(pe) + " has left the job";
    peer.waiting.clear();
  }
  if (is_reported_[static_cast<std::size_t>(pe)]) return;
  is_reported_[static_cast<std::size_t>(pe)] = true;
  if (left_) left_(pe);
}

// Both kinds of connections: the other end hears of it. First the messages that were sent before,
// also to a peer whose connection is not open yet.
void Mesh::part() {
  const Deadline by = Clock::now() + kPartingTime;
  reactor_.run_until([this] { return !has_waiting(); }, by);
  const auto goodbye = message_of(kGoodbye, {});
  const auto say_to = [&](Connection& connection) {
    if (connection.is_open()) connection.send(goodbye);
  };
  gate_.reset();
  dials_.clear();
  for (const auto& [pe, guest] : guests_) say_to(*guest);
  {
    std::lock_guard lock(mutex_);
    for (const auto& [pe, peer] : peers_)
      if (peer.connection) say_to(*peer.connection);
  }
  reactor_.run_until([this] { return is_flushed(); }, by);
}

bool Mesh::has_waiting() const {
  std::lock_guard lock(mutex_);
  return std::any_of(peers_.begin(), peers_.end(),
                     [](const auto& entry) { return !entry.second.waiting.empty(); });
}

bool Mesh::is_flushed() const {
  const auto has_unsent = [](const auto& connection) {
    return connection && connection->is_open() && connection->has_unsent();
  };
  std::lock_guard lock(mutex_);
  return std::none_of(guests_.begin(), guests_.end(),
                      [&](const auto& guest) { return has_unsent(guest.second); }) &&
         std::none_of(peers_.begin(), peers_.end(),
                      [&](const auto& peer) { return has_unsent(peer.second.connection); });
}

}  // namespace chime::net
