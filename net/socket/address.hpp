// Where a socket is: an abstract unix name, or an IPv4 or IPv6 address and port.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "net/secure/secret.hpp"

namespace chime::net {

// A value. The default one is nowhere.
class Address {
 public:
  Address() = default;
  // An abstract name has no file: nothing is left behind, and it is gone with its socket. It is
  // valid in one network namespace. Throws Error if it is longer than the kernel takes, 107 bytes.
  static Address abstract(std::string_view name);
  // "127.0.0.1" or "fe80::1". Throws Error if it is neither.
  static Address internet(std::string_view host, std::uint16_t port);
  static Address from(const sockaddr* address, socklen_t length);

  int family() const { return storage_.ss_family; }
  bool is_local() const { return family() == AF_UNIX; }
  bool is_internet() const { return family() == AF_INET || family() == AF_INET6; }
  std::uint16_t port() const;
  Address with_port(std::uint16_t port) const;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage_); }
  socklen_t length() const { return length_; }

  // "10.0.0.1:4711", "[fe80::1]:4711", "@name", "a process of this machine" for a nameless socket.
  std::string text() const;

  // To travel: u8 family, then the name, or port and address. from_bytes takes one address off the
  // front of `bytes`, and throws Error{kProtocol} if there is none.
  Bytes to_bytes() const;
  static Address from_bytes(std::span<const std::byte>& bytes);

  bool operator==(const Address& other) const { return to_bytes() == other.to_bytes(); }

 private:
  sockaddr_storage storage_{};
  socklen_t length_ = 0;
};

}  // namespace chime::net
