#include "host/peers/keepalive/links.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "chime/abi/start_thread.h"
#include "host/peers/node/meeting.hpp"
#include "net/socket/error.hpp"
#include "net/socket/fork.hpp"

namespace chime::host {
namespace {

using namespace std::chrono_literals;
using Link = KeepaliveTree::Link;
using End = KeepaliveTree::End;

// A record of a node with all PEs of a large job.
constexpr net::SecureChannel::Limits kLimits{.frame_bytes = std::size_t{1} << 22};
// For the one before to take the seat of a leader that has ended.
constexpr auto kTurn = 50ms;
// Records come in rows: the tree looks at their changes once.
constexpr auto kSettleAfter = 5ms;

std::string seconds_of(std::chrono::milliseconds time) {
  return fmt::format("{:.3g} s", static_cast<double>(time.count()) * 1e-3);
}

std::string name_of_this_host() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

// Passed on by another process: a child of fork() would keep it open.
net::Descriptor for_this_process(const net::Descriptor& passed) {
  return net::opened_for_this_process([&] { return fcntl(passed.get(), F_DUPFD_CLOEXEC, 0); });
}

}  // namespace

KeepaliveLinks::KeepaliveLinks(Options options, Events events)
    : options_(std::move(options)),
      events_(std::move(events)),
      seat_(
          reactor_,
          {.names = node_names(credentials(), node()),
           .credentials = credentials(),
           .roles = {.client_pe = options_.pe, .server_pe = node()},
           .limits = kLimits},
          [this](std::shared_ptr<net::Connection> leader) { follow(std::move(leader)); },
          [this](net::Descriptor listener) { lead(std::move(listener)); }) {}

void KeepaliveLinks::start() {
  thread_ = abi::start_thread([this] { serve(); });
}

void KeepaliveLinks::stop() {
  reactor_.post([this] { must_stop_ = true; });
  if (thread_.joinable()) thread_.join();
}

KeepaliveLinks::~KeepaliveLinks() {
  stop();
  reaching_.clear();
  for (const auto& [link, connection] : links_) connection->close();
}

// At first the lowest PE alone may lead: nobody else could make the listeners for other nodes
// twice.
void KeepaliveLinks::serve() try {
  seat_.look(net::Clock::now(), options_.pe == node());
  while (!must_stop_) reactor_.run_once();
} catch (const std::exception& error) {
  {
    const std::lock_guard lock(mutex_);
    failure_ = net::Error(net::Fault::kSystem, error.what());
    changed_.notify_all();
  }
  events_.failed(error.what());
}

NodeRecord KeepaliveLinks::wait_until_ready(net::Deadline deadline) {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, deadline, [this] { return ready_ || failure_; });
  if (failure_) throw net::Error(*failure_);
  if (ready_) return *ready_;
  throw net::Error(net::Fault::kTimeout,
                   fmt::format("PE {}, the lowest of this node, did not answer", node()));
}

void KeepaliveLinks::found(const net::Bytes& record) {
  reactor_.post([this, record] {
    try {
      net::Reader fields(record);
      tree_->on_found(NodeRecord::read(fields, options_.n_pes));
    } catch (const net::Error& error) {
      options_.log(fmt::format("the record of a node makes no sense: {}", error.what()));
    }
  });
}

int KeepaliveLinks::index_in_node(int pe) const {
  const auto found = std::ranges::lower_bound(options_.node_pes, pe);
  if (found == options_.node_pes.end() || *found != pe) return -1;
  return static_cast<int>(found - options_.node_pes.begin());
}

void KeepaliveLinks::begin_tree(NodeRecord record) {
  tree_.emplace(static_cast<KeepaliveTree::Outside&>(*this), options_.n_pes, record,
                seconds_of(options_.silence));
  const std::lock_guard lock(mutex_);
  ready_ = std::move(record);
  changed_.notify_all();
}

void KeepaliveLinks::lead(net::Descriptor listener) {
  if (!tree_) listen_to_other_nodes();
  for (const net::Descriptor& inherited : inherited_) listeners_.push_back(inherited.get());
  std::vector<net::Descriptor> doors = std::exchange(inherited_, {});
  doors.push_back(std::move(listener));
  const net::Gate::Options gate{
      .credentials = credentials(),
      .pe = node(),
      .limits = kLimits,
      .max_strangers = options_.node_pes.size() * 3 + 256,
      .log = options_.log,
      .some_leave = true,  // by another address their connection was faster
      .silence = options_.silence};
  gate_ = std::make_unique<net::Gate>(
      reactor_, std::move(doors), gate,
      [this](std::shared_ptr<net::Connection> guest) { admit(std::move(guest)); });
  tree_->lead();
}

void KeepaliveLinks::listen_to_other_nodes() {
  NodeRecord record{.host = name_of_this_host(), .pes = options_.node_pes, .addresses = {}};
  for (const net::Address& address : options_.addresses) {
    inherited_.push_back(net::listen_at(address));
    const auto bytes = net::address_of(inherited_.back()).to_bytes();
    record.addresses.insert(record.addresses.end(), bytes.begin(), bytes.end());
  }
  begin_tree(std::move(record));
}

Link KeepaliveLinks::keep(std::shared_ptr<net::Connection> connection) {
  const Link link = next_link_++;
  connection->tag = link;
  connection->belong_to(*this);
  links_[link] = std::move(connection);
  return link;
}

// The node's PEs get the listeners, too: one that takes this PE's place is found where it was.
void KeepaliveLinks::admit(std::shared_ptr<net::Connection> guest) {
  const Link link = keep(guest);
  guest->accept();
  if (is_local_peer(guest->client_pe())) {
    net::Writer message;
    message.put(index_in_node(options_.pe)).put(static_cast<std::uint32_t>(listeners_.size()));
    tree_->roster().nodes().at(node()).write(message);
    guest->send(message.written(), listeners_);
  }
  tree_->on_link(link);
}

void KeepaliveLinks::follow(std::shared_ptr<net::Connection> leader) {
  leader_ = keep(std::move(leader));
}

// The first frame of a leader.
void KeepaliveLinks::inherit(net::Connection& leader, const net::Bytes& message) {
  net::Reader fields(message);
  leader_index_ = fields.get<int>();
  auto passed = leader.take_descriptors(fields.get<std::uint32_t>());
  if (!tree_) {
    for (const net::Descriptor& descriptor : passed)
      inherited_.push_back(for_this_process(descriptor));
    begin_tree(NodeRecord::read(fields, options_.n_pes));
  }
  tree_->on_link(leader.tag);
}

void KeepaliveLinks::on_frame(net::Connection& connection, net::Bytes frame) {
  const bool is_new_leader = connection.tag == leader_ && !leader_is_heard_;
  if (!is_new_leader) return tree_->on_message(connection.tag, frame);
  inherit(connection, frame);
  leader_is_heard_ = true;
}

// The PEs behind a leader that has ended take its seat in turn.
void KeepaliveLinks::on_end(net::Connection& connection, const net::Error& why) {
  const Link link = connection.tag;
  links_.erase(link);
  if (link == leader_) {
    const int n = static_cast<int>(options_.node_pes.size());
    const int turn = (index_in_node(options_.pe) - leader_index_ - 1 + n) % n;
    leader_ = 0;
    leader_is_heard_ = false;
    seat_.look(net::Clock::now() + turn * kTurn, tree_.has_value());
  }
  if (tree_) tree_->on_end(link, why.fault() == net::Fault::kTimeout ? End::kSilent : End::kClosed);
}

void KeepaliveLinks::send(Link link, const net::Bytes& message) {
  try {
    links_.at(link)->send(message);
  } catch (const net::Error&) {
    // It is over, and its end comes.
  }
}

void KeepaliveLinks::close(Link link) {
  const auto closed = links_.extract(link);
  closed.mapped()->close();
}

void KeepaliveLinks::settle_soon() {
  if (std::exchange(will_settle_, true)) return;
  reactor_.at(net::Clock::now() + kSettleAfter, [this] {
    will_settle_ = false;
    tree_->settle();
  });
}

void KeepaliveLinks::reach(const NodeRecord& record, std::chrono::milliseconds pause) {
  reaching_[record.node()].timer =
      reactor_.at(net::Clock::now() + pause, [this, record] { begin_to_reach(record); });
}

void KeepaliveLinks::begin_to_reach(const NodeRecord& record) {
  const int node = record.node();
  Reaching& reaching = reaching_.at(node);
  reaching.timer.reset();
  reaching.reach = std::make_unique<net::Reach>(
      reactor_,
      net::Reach::Options{.addresses = addresses_of(record),
                          .credentials = credentials(),
                          .roles = {.client_pe = options_.pe, .server_pe = node},
                          .limits = kLimits,
                          .silence = options_.silence},
      [this, node](std::shared_ptr<net::Connection> connection) {
        reaching_.erase(node);
        tree_->on_reached(node, keep(std::move(connection)));
      },
      [this, node](net::Reach::Failure failure, const std::string&) {
        reaching_.erase(node);
        tree_->on_unreached(node,
                            failure == net::Reach::Failure::kSilent ? End::kSilent : End::kClosed);
      });
}

// Without those that lead to this host, such as of a bridge that each host has: unless it has no
// other.
std::vector<net::Address> KeepaliveLinks::addresses_of(const NodeRecord& record) const {
  std::vector<net::Address> all, others;
  for (std::span<const std::byte> bytes(record.addresses); !bytes.empty();)
    all.push_back(net::Address::from_bytes(bytes));
  for (const net::Address& address : all)
    if (std::ranges::none_of(options_.addresses, [&](const net::Address& mine) {
          return mine.with_port(0) == address.with_port(0);
        }))
      others.push_back(address);
  return others.empty() ? all : others;
}

void KeepaliveLinks::stop_reaching(int node) {
  const auto stopped = reaching_.extract(node);
  if (!stopped.empty() && stopped.mapped().timer) reactor_.cancel(*stopped.mapped().timer);
}

}  // namespace chime::host
