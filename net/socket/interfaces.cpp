#include "net/socket/interfaces.hpp"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>

#include "net/socket/error.hpp"

namespace chime::net {
namespace {

bool is_of_one_link(const sockaddr* address) {
  return address->sa_family == AF_INET6 &&
         IN6_IS_ADDR_LINKLOCAL(&reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr);
}

}  // namespace

std::vector<Interface> interfaces_that_are_up() {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list)) throw system_error("getifaddrs");
  std::vector<Interface> found;
  for (const ifaddrs* i = list; i; i = i->ifa_next) {
    if (!i->ifa_addr || !(i->ifa_flags & IFF_UP) || is_of_one_link(i->ifa_addr)) continue;
    const socklen_t length =
        i->ifa_addr->sa_family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    if (i->ifa_addr->sa_family != AF_INET && i->ifa_addr->sa_family != AF_INET6) continue;
    found.push_back(
        {i->ifa_name, Address::from(i->ifa_addr, length), (i->ifa_flags & IFF_LOOPBACK) != 0});
  }
  freeifaddrs(list);
  std::stable_partition(found.begin(), found.end(),
                        [](const Interface& i) { return !i.is_loopback; });
  return found;
}

}  // namespace chime::net
