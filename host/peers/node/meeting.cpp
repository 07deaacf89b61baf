#include "host/peers/node/meeting.hpp"

#include <fmt/format.h>

#include <cstring>

#include "net/mesh/fields.hpp"

namespace chime::host {
namespace {

constexpr int kNames = 4;

LocalPeer take_local_peer(net::Connection& connection, const std::byte* bytes) {
  LocalPeer local_peer;
  std::memcpy(&local_peer.endpoint_info, bytes, sizeof(NodeEndpointInfo));
  if (local_peer.endpoint_info.transport_bytes > sizeof local_peer.endpoint_info.transport)
    throw net::Error(net::Fault::kProtocol, "its endpoint info says more than it holds");
  auto descriptors =
      connection.take_descriptors(local_peer.endpoint_info.transport_has_descriptor ? 2 : 1);
  if (local_peer.endpoint_info.transport_has_descriptor)
    local_peer.transport = std::move(descriptors.front());
  local_peer.control = std::move(descriptors.back());
  return local_peer;
}

}  // namespace

net::Credentials node_credentials(const bootstrap::Bootstrap& bootstrap) {
  return {bootstrap.job_secret(), bootstrap.job_id(), "node exchange"};
}

std::vector<net::Address> node_names(const net::Credentials& credentials, int hub) {
  std::vector<net::Address> names;
  for (int i = 0; i < kNames; ++i)
    names.push_back(net::Address::abstract(
        "chime-" + net::secret_name(credentials, fmt::format("hub {}, name {}", hub, i))));
  return names;
}

net::Bytes node_introduction() {
  return net::Writer().put(kAbiVersion).put(std::uint32_t{sizeof(NodeEndpointInfo)}).take();
}

std::string why_not_of_this_version(const net::Bytes& introduction, int guest, int hub) {
  net::Reader fields(introduction);
  const auto version = fields.get<std::uint32_t>();
  const auto endpoint_info_bytes = fields.get<std::uint32_t>();
  if (version == kAbiVersion && endpoint_info_bytes == sizeof(NodeEndpointInfo)) return "";
  return fmt::format(
      "PE {} and PE {} run different versions of Chime (interfaces {} and {}, endpoint infos of {} "
      "and {} "
      "bytes)",
      guest, hub, version, kAbiVersion, endpoint_info_bytes, sizeof(NodeEndpointInfo));
}

void send_endpoint_infos(net::Connection& connection,
                         std::span<const OfferedEndpointInfo> endpoint_infos) {
  net::Writer message;
  std::vector<int> descriptors;
  for (const OfferedEndpointInfo& offered : endpoint_infos) {
    message.put(offered.endpoint_info);
    if (offered.endpoint_info.transport_has_descriptor) descriptors.push_back(offered.transport_fd);
    descriptors.push_back(offered.control_fd);
  }
  connection.send(message.written(), descriptors);
}

std::vector<LocalPeer> receive_endpoint_infos(net::Connection& connection,
                                              const net::Bytes& message) {
  if (message.empty() || message.size() % sizeof(NodeEndpointInfo))
    throw net::Error(net::Fault::kProtocol, "it sent what is no list of endpoint infos");
  std::vector<LocalPeer> local_peers;
  for (std::size_t at = 0; at < message.size(); at += sizeof(NodeEndpointInfo))
    local_peers.push_back(take_local_peer(connection, &message[at]));
  return local_peers;
}

}  // namespace chime::host
