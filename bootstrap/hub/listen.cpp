#include "bootstrap/hub/listen.hpp"

#include <algorithm>

#include "bootstrap/bootstrap.hpp"
#include "net/socket/error.hpp"
#include "net/socket/interfaces.hpp"
#include "net/socket/socket.hpp"

namespace chime::bootstrap {
namespace {

constexpr int kPortAttempts = 16;

std::vector<net::Address> addresses_to_offer(const std::string& wanted) {
  std::vector<net::Address> found;
  std::string names;
  for (const net::Interface& i : net::interfaces_that_are_up()) {
    if (names.find(i.name) == std::string::npos) names += (names.empty() ? "" : ", ") + i.name;
    if (wanted.empty() || i.name == wanted) found.push_back(i.address);
  }
  if (!found.empty()) return found;
  throw BootstrapError(wanted.empty()
                           ? "no network interface with an address is up, not even lo"
                           : "CHIME_BOOTSTRAP_IF=" + wanted +
                                 ": no such interface is up with an address; there are: " + names);
}

// Every address of an interface, or every address of this machine: one listener a family.
std::vector<net::Address> addresses_to_listen_at(const std::vector<net::Address>& offered,
                                                 bool is_one_interface) {
  if (is_one_interface) return offered;
  std::vector<net::Address> everywhere;
  const auto is_offered = [&](int family) {
    return std::any_of(offered.begin(), offered.end(),
                       [family](const net::Address& a) { return a.family() == family; });
  };
  if (is_offered(AF_INET)) everywhere.push_back(net::Address::internet("0.0.0.0", 0));
  if (is_offered(AF_INET6)) everywhere.push_back(net::Address::internet("::", 0));
  return everywhere;
}

// All at one port, which the first gets from the kernel.
std::vector<net::Descriptor> listen_at_one_port(const std::vector<net::Address>& addresses,
                                                std::uint16_t& port) {
  std::vector<net::Descriptor> listeners;
  port = 0;
  for (const net::Address& address : addresses) {
    listeners.push_back(net::listen_at(address.with_port(port)));
    port = net::address_of(listeners.front()).port();
  }
  return listeners;
}

// That port may be taken at another address: then with another.
std::vector<net::Descriptor> listen_at_some_port(const std::vector<net::Address>& addresses,
                                                 std::uint16_t& port) {
  for (int attempt = 1;; attempt++) {
    try {
      return listen_at_one_port(addresses, port);
    } catch (const net::Error& error) {
      if (attempt == kPortAttempts)
        throw BootstrapError(std::string("cannot listen for PEs: ") + error.what());
    }
  }
}

}  // namespace

Listening listen_for_other_hosts(const std::string& interface) {
  Listening listening;
  listening.addresses = addresses_to_offer(interface);
  std::uint16_t port = 0;
  listening.listeners =
      listen_at_some_port(addresses_to_listen_at(listening.addresses, !interface.empty()), port);
  for (net::Address& address : listening.addresses) address = address.with_port(port);
  return listening;
}

}  // namespace chime::bootstrap
