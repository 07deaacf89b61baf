#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <span>

#include "tools/chime-doctor/probes/network.hpp"

namespace chime::doctor {
namespace {

Interface& entry_of(std::vector<Interface>& all, const ifaddrs& row) {
  const auto found = std::ranges::find(all, row.ifa_name, &Interface::name);
  if (found != all.end()) return *found;
  return all.emplace_back(Interface{row.ifa_name, (row.ifa_flags & IFF_UP) != 0, {}, {}});
}

// The bytes of an address of either family; none: it has another.
std::span<const unsigned char> bytes_of(const sockaddr* address) {
  const auto bytes = [](const auto& of_family) {
    return std::span(reinterpret_cast<const unsigned char*>(&of_family), sizeof of_family);
  };
  if (address != nullptr && address->sa_family == AF_INET)
    return bytes(reinterpret_cast<const sockaddr_in*>(address)->sin_addr);
  if (address != nullptr && address->sa_family == AF_INET6)
    return bytes(reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr);
  return {};
}

std::string text_of(std::span<const unsigned char> bytes) {
  char text[INET6_ADDRSTRLEN] = "";
  if (!bytes.empty())
    ::inet_ntop(bytes.size() == sizeof(in_addr) ? AF_INET : AF_INET6, bytes.data(), text,
                sizeof text);
  return text;
}

// "10.0.0.0/24"; the whole address where there is no mask.
std::string network_text(const ifaddrs& row) {
  const auto address = bytes_of(row.ifa_addr), mask = bytes_of(row.ifa_netmask);
  std::vector<unsigned char> network(address.begin(), address.end());
  int length = static_cast<int>(8 * address.size());
  if (mask.size() == address.size()) {
    length = 0;
    for (std::size_t i = 0; i < mask.size(); ++i) {
      network[i] &= mask[i];
      length += std::popcount(mask[i]);
    }
  }
  return text_of(network) + "/" + std::to_string(length);
}

}  // namespace

std::optional<std::vector<Interface>> interfaces_now() {
  ifaddrs* rows = nullptr;
  if (::getifaddrs(&rows) != 0) return std::nullopt;
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(rows, ::freeifaddrs);
  std::vector<Interface> all;
  for (const ifaddrs* row = rows; row != nullptr; row = row->ifa_next) {
    Interface& entry = entry_of(all, *row);
    const std::string text = text_of(bytes_of(row->ifa_addr));
    if (text.empty()) continue;
    entry.addresses.push_back(text);
    entry.networks.push_back(network_text(*row));
  }
  return all;
}

}  // namespace chime::doctor
