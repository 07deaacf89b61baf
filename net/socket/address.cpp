#include "net/socket/address.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "net/mesh/fields.hpp"

namespace chime::net {
namespace {

enum class Form : std::uint8_t { kAbstract = 1, kIpv4 = 4, kIpv6 = 6 };

constexpr std::size_t kNameBegin = offsetof(sockaddr_un, sun_path) + 1;  // behind the zero

template <class T>
T as(const sockaddr_storage& storage) {
  T address;
  std::memcpy(&address, &storage, sizeof address);
  return address;
}

template <class T>
Address of(const T& address) {
  return Address::from(reinterpret_cast<const sockaddr*>(&address), sizeof address);
}

Address ipv4(const in_addr& host, std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr = host;
  address.sin_port = htons(port);
  return of(address);
}

Address ipv6(const in6_addr& host, std::uint16_t port) {
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_addr = host;
  address.sin6_port = htons(port);
  return of(address);
}

std::string_view name_of(const sockaddr_storage& storage, socklen_t length) {
  if (length <= kNameBegin) return {};
  return {reinterpret_cast<const char*>(&storage) + kNameBegin, length - kNameBegin};
}

}  // namespace

Address Address::from(const sockaddr* address, socklen_t length) {
  Address result;
  result.length_ = std::min<socklen_t>(length, sizeof result.storage_);
  std::memcpy(&result.storage_, address, result.length_);
  return result;
}

Address Address::abstract(std::string_view name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (name.size() + 1 > sizeof address.sun_path)
    throw Error(Fault::kSystem, "a socket name of " + std::to_string(name.size()) +
                                    " bytes is too long: " + std::string(name));
  std::copy(name.begin(), name.end(), address.sun_path + 1);
  return from(reinterpret_cast<const sockaddr*>(&address),
              static_cast<socklen_t>(kNameBegin + name.size()));
}

Address Address::internet(std::string_view host, std::uint16_t port) {
  const std::string text(host);
  in_addr four;
  if (inet_pton(AF_INET, text.c_str(), &four) == 1) return ipv4(four, port);
  in6_addr six;
  if (inet_pton(AF_INET6, text.c_str(), &six) == 1) return ipv6(six, port);
  throw Error(Fault::kSystem, "'" + text + "' is no IPv4 or IPv6 address");
}

std::uint16_t Address::port() const {
  if (family() == AF_INET) return ntohs(as<sockaddr_in>(storage_).sin_port);
  if (family() == AF_INET6) return ntohs(as<sockaddr_in6>(storage_).sin6_port);
  return 0;
}

Address Address::with_port(std::uint16_t port) const {
  if (family() == AF_INET) return ipv4(as<sockaddr_in>(storage_).sin_addr, port);
  if (family() == AF_INET6) {
    auto address = as<sockaddr_in6>(storage_);
    address.sin6_port = htons(port);
    return of(address);
  }
  return *this;
}

std::string Address::text() const {
  char host[INET6_ADDRSTRLEN] = "";
  if (family() == AF_INET) {
    const auto address = as<sockaddr_in>(storage_);
    inet_ntop(AF_INET, &address.sin_addr, host, sizeof host);
    return std::string(host) + ":" + std::to_string(port());
  }
  if (family() == AF_INET6) {
    const auto address = as<sockaddr_in6>(storage_);
    inet_ntop(AF_INET6, &address.sin6_addr, host, sizeof host);
    return "[" + std::string(host) + "]:" + std::to_string(port());
  }
  const auto name = name_of(storage_, length_);
  return name.empty() ? "a process of this machine" : "@" + std::string(name);
}

Bytes Address::to_bytes() const {
  if (family() == AF_INET)
    return Writer().put(Form::kIpv4).put(port()).put(as<sockaddr_in>(storage_).sin_addr).take();
  if (family() == AF_INET6)
    return Writer().put(Form::kIpv6).put(port()).put(as<sockaddr_in6>(storage_).sin6_addr).take();
  return Writer().put(Form::kAbstract).text(name_of(storage_, length_)).take();
}

Address Address::from_bytes(std::span<const std::byte>& bytes) {
  Reader fields(bytes);
  const auto form = fields.get<Form>();
  Address address;
  if (form == Form::kAbstract) {
    const auto name = fields.text();
    if (kNameBegin + name.size() > sizeof(sockaddr_un))
      throw Error(Fault::kProtocol, "a socket name that is too long");
    address = abstract(name);
  } else if (form == Form::kIpv4) {
    const auto port = fields.get<std::uint16_t>();
    address = ipv4(fields.get<in_addr>(), port);
  } else if (form == Form::kIpv6) {
    const auto port = fields.get<std::uint16_t>();
    address = ipv6(fields.get<in6_addr>(), port);
  } else {
    throw Error(Fault::kProtocol, "an address of no known form");
  }
  bytes = fields.rest();
  return address;
}

}  // namespace chime::net
