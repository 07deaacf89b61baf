// From the job's secret to the keys of one connection. Nothing here travels.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "net/secure/secret.hpp"

namespace chime::net {

// The values that must be equal at both ends of a connection.
struct Credentials {
  Bytes secret;         // of the job; at least 16 bytes that nobody else knows
  std::string job;      // the job's public name
  std::string purpose;  // what the connection is for: keys of one purpose serve no other
};

// The PEs that the two ends claim to be.
struct Roles {
  std::int32_t client_pe = -1;
  std::int32_t server_pe = -1;  // -1: no PE, a hub
};

struct TrafficKeys {
  Digest client_to_server;
  Digest server_to_client;
};

// The keys of one handshake. The nonces, drawn anew by both ends, make them differ from those of
// every other; the roles, the job and the purpose are in them, so that two ends that differ in one
// of those have different keys.
class KeySchedule {
 public:
  KeySchedule(const Credentials& credentials, const Roles& roles, const Token& server_nonce,
              const Token& client_nonce);

  // With it the client proves that it knows the secret.
  Digest proof_key() const { return derive("client's proof", {}); }

  // `transcript`: the digest of both handshake messages as each end has sent or received them. So
  // an end that was shown changed ones has other keys.
  TrafficKeys traffic_keys(const Digest& transcript) const {
    return {derive("client to server", transcript), derive("server to client", transcript)};
  }

 private:
  Digest derive(std::string_view what, std::span<const std::byte> context) const;

  Digest master_;
  Bytes parties_;
};

// A name for a socket that only a process with the secret can compute in advance: 32 hexadecimal
// digits. It is no secret once the socket is there.
std::string secret_name(const Credentials& credentials, std::string_view what);

}  // namespace chime::net
