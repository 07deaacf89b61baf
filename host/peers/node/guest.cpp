#include "host/peers/node/guest.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace chime::host {
namespace {

// A hub that has the processor to itself answers in less than a millisecond; a stranger at one of
// its names costs as long.
constexpr std::chrono::seconds kAttempt{5};

}  // namespace

NodeGuest::NodeGuest(const bootstrap::Bootstrap& bootstrap, std::vector<int> members,
                     NodeWait& wait)
    : wait_(wait), me_(bootstrap.rank()), members_(std::move(members)) {
  const int hub = members_.front();
  const auto credentials = node_credentials(bootstrap);
  dial_.emplace(
      reactor_,
      net::Dial::Options{.addresses = node_names(credentials, hub),
                         .credentials = credentials,
                         .roles = {.client_pe = me_, .server_pe = hub},
                         .introduction = node_introduction(),
                         .limits = kNodeLimits,
                         .attempt = kAttempt},
      wait.deadline(),
      [this](std::shared_ptr<net::Connection> connection) {
        hub_ = std::move(connection);
        hub_->belong_to(*this);
      },
      [this](const net::Error& why) { end_ = why; });
}

NodeGuest::~NodeGuest() {
  if (hub_) hub_->close();
}

std::vector<LocalPeer> NodeGuest::meet(const OfferedEndpointInfo& mine) {
  const std::vector<int> hub = {members_.front()};
  wait_.until(
      reactor_, [this] { return hub_ || end_; }, [&] { return hub; });
  if (hub_) send_endpoint_infos(*hub_, {&mine, 1});
  wait_.until(
      reactor_, [this] { return has_all() || end_; }, [this] { return members_; },
      [&] { return hub; });
  if (!has_all()) fail();
  std::erase_if(local_peers_,
                [this](const LocalPeer& local_peer) { return local_peer.endpoint_info.pe == me_; });
  return std::move(local_peers_);
}

void NodeGuest::on_frame(net::Connection& connection, net::Bytes message) {
  for (LocalPeer& local_peer : receive_endpoint_infos(connection, message))
    local_peers_.push_back(std::move(local_peer));
}

void NodeGuest::fail() {
  const int hub = members_.front();
  wait_.check_for_the_cause(members_, hub);
  if (end_->fault() == net::Fault::kRefused) fail_to_meet(CHIMEX_ERR_MISMATCH, end_->what());
  if (!hub_)
    fail_to_meet(CHIMEX_ERR_TIMEOUT,
                 fmt::format("PE {} did not come (CHIME_INIT_TIMEOUT bounds the wait): {}", hub,
                             end_->what()));
  fail_to_meet(
      CHIMEX_ERR_PEER_DEAD,
      fmt::format("PE {} gave up while the node's PEs met; its own message says why", hub));
}

}  // namespace chime::host
