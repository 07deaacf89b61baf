#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>

#include <algorithm>
#include <memory>

#include "tools/chime-doctor/probes/network.hpp"

namespace chime::doctor {
namespace {

Interface& entry_of(std::vector<Interface>& all, const ifaddrs& row) {
  const auto found = std::ranges::find(all, row.ifa_name, &Interface::name);
  if (found != all.end()) return *found;
  return all.emplace_back(Interface{row.ifa_name, (row.ifa_flags & IFF_UP) != 0, {}});
}

std::string address_text(const sockaddr* address) {
  char text[INET6_ADDRSTRLEN] = "";
  if (address != nullptr && address->sa_family == AF_INET)
    ::inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(address)->sin_addr, text,
                sizeof text);
  if (address != nullptr && address->sa_family == AF_INET6)
    ::inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr, text,
                sizeof text);
  return text;
}

}  // namespace

std::optional<std::vector<Interface>> interfaces_now() {
  ifaddrs* rows = nullptr;
  if (::getifaddrs(&rows) != 0) return std::nullopt;
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(rows, ::freeifaddrs);
  std::vector<Interface> all;
  for (const ifaddrs* row = rows; row != nullptr; row = row->ifa_next) {
    Interface& entry = entry_of(all, *row);
    if (const std::string text = address_text(row->ifa_addr); !text.empty())
      entry.addresses.push_back(text);
  }
  return all;
}

}  // namespace chime::doctor
