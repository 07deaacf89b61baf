#include "sizes.hpp"

#include <netinet/in.h>

#include <cstdint>
#include <string>
#include <vector>

#include "host/options/nic.hpp"
#include "host/peers/node/endpoint_info.hpp"
#include "host/transport/mlx5/endpoint_info.hpp"
#include "host/transport/mlx5/queues/pe_queues.hpp"
#include "host/transport/ofi/endpoint_info.hpp"
#include "net/secure/seal.hpp"
#include "net/secure/secure_channel.hpp"
#include "net/socket/address.hpp"

namespace chime::perf {

HandshakeBytes handshake_bytes(std::size_t introduction) {
  const net::Credentials credentials{net::Bytes(32), "job", "mesh"};
  auto server = net::SecureChannel::server(credentials, 1, {});
  auto client = net::SecureChannel::client(credentials, {.client_pe = 0, .server_pe = 1},
                                           net::Bytes(introduction), {});
  const net::Bytes challenge = server.take_output();
  client.receive(challenge);
  const net::Bytes hello = client.take_output();
  server.receive(hello);
  server.accept();
  const net::Bytes verdict = server.take_output();
  return {challenge.size(), hello.size(), verdict.size()};
}

std::size_t frame_bytes(std::size_t payload) {
  return sizeof(std::uint32_t) + payload + net::kTagBytes;
}

EndpointInfoBytesOf endpoint_info_bytes() {
  const std::size_t side =
      net::Address::abstract("chime-" + std::string(32, '0')).to_bytes().size() +
      net::Address::internet("10.0.0.1", 40000).to_bytes().size() +
      net::Address::internet("fe80::1", 40000).to_bytes().size();
  const std::vector<std::uint32_t> numbers(host::NicOptions().slots + host::mlx5::kHostQueuePairs);
  return {.side_channel = side,
          .nic = host::mlx5::write_endpoint_info({}).size(),
          .nic_offer = host::mlx5::write_offer(numbers).size(),
          .nic_receipt = host::mlx5::write_receipt({}).size(),
          .fabric = host::ofi::write_endpoint_info(
                        {.provider = "tcp;ofi_rxm",
                         .address = std::vector<std::byte>(sizeof(sockaddr_in))})
                        .size(),
          .node = sizeof(host::NodeEndpointInfo)};
}

}  // namespace chime::perf
