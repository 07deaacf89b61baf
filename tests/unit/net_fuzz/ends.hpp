// Two ends of a channel whose nonces are constant, so that an input means the same in every run.
#pragma once

#include <cstdio>
#include <cstdlib>

#include "net/secure/secure_channel.hpp"

namespace chime::net::fuzz {

inline constexpr SecureChannel::Limits kLimits{.frame_bytes = 4096};

inline Token all(int value) {
  Token token;
  token.fill(std::byte(value));
  return token;
}

inline Credentials credentials() { return {Bytes(32, std::byte{42}), "job", "fuzz"}; }

inline SecureChannel client() {
  return SecureChannel::client(credentials(), {.client_pe = 3, .server_pe = 7},
                               Bytes(5, std::byte{9}), kLimits, all(1));
}
inline SecureChannel server() { return SecureChannel::server(credentials(), 7, kLimits, all(2)); }

// Not assert: builds without it must report findings, too.
inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "finding: %s\n", what);
  std::abort();
}

}  // namespace chime::net::fuzz
