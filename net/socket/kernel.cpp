#include "net/socket/kernel.hpp"

#include <linux/netlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "net/socket/fork.hpp"

namespace chime::net {
namespace {

Descriptor make_socket(int family, int protocol) {
  return opened_for_this_process(
      [=] { return ::socket(family, SOCK_DGRAM | SOCK_CLOEXEC, protocol); });
}

// The kernel answers a request with its error, as a message of that type.
bool is_error(std::span<const std::byte> message) {
  nlmsghdr header{};
  if (message.size() < sizeof header) return true;
  std::memcpy(&header, message.data(), sizeof header);
  if (header.nlmsg_type != NLMSG_ERROR) return false;
  nlmsgerr error{};
  if (message.size() >= NLMSG_HDRLEN + sizeof error)
    std::memcpy(&error, message.data() + NLMSG_HDRLEN, sizeof error);
  errno = -error.error;
  return true;
}

}  // namespace

std::vector<std::byte> ask_rtnetlink(std::span<const std::byte> request) {
  const Descriptor socket = make_socket(AF_NETLINK, NETLINK_ROUTE);
  sockaddr_nl kernel{};
  kernel.nl_family = AF_NETLINK;
  if (!socket || ::sendto(socket.get(), request.data(), request.size(), 0,
                          reinterpret_cast<const sockaddr*>(&kernel), sizeof kernel) < 0)
    return {};
  const ssize_t size = ::recv(socket.get(), nullptr, 0, MSG_PEEK | MSG_TRUNC);
  if (size <= 0) return {};
  std::vector<std::byte> answer(static_cast<std::size_t>(size));
  const ssize_t got = ::recv(socket.get(), answer.data(), answer.size(), 0);
  if (got != size || is_error(answer)) return {};
  return answer;
}

bool ask_ethtool(const std::string& interface, void* command) {
  const Descriptor socket = make_socket(AF_INET, 0);
  ifreq request{};
  if (!socket || interface.size() >= sizeof request.ifr_name) return false;
  std::memcpy(request.ifr_name, interface.data(), interface.size());
  request.ifr_data = static_cast<char*>(command);
  return ::ioctl(socket.get(), SIOCETHTOOL, &request) == 0;
}

}  // namespace chime::net
