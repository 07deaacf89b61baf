#include "bootstrap/hub_connection.hpp"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

namespace chime::bootstrap {

void Connection::send(std::span<const std::byte> message) {
  const bool is_idle = output.empty();
  output.insert(output.end(), message.begin(), message.end());
  if (is_idle) write_some();
}

void Connection::write_some() {
  while (!output.empty()) {
    const auto written = ::send(fd.get(), output.data(), output.size(), MSG_NOSIGNAL);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno != EAGAIN) output.clear();
    if (written < 0) return;
    output.erase(output.begin(), output.begin() + written);
  }
}

std::string name_of_peer(int fd) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  getpeername(fd, reinterpret_cast<sockaddr*>(&address), &length);
  if (address.ss_family != AF_INET) return "a process of this machine";
  const auto& inet = reinterpret_cast<const sockaddr_in&>(address);
  char text[INET_ADDRSTRLEN] = "";
  inet_ntop(AF_INET, &inet.sin_addr, text, sizeof text);
  return std::string(text) + ":" + std::to_string(ntohs(inet.sin_port));
}

bool is_of_another_user(int fd) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) ||
      address.ss_family != AF_UNIX)
    return false;
  ucred peer{};
  length = sizeof peer;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length)) return true;
  return peer.uid != geteuid() && peer.uid != 0;
}

}  // namespace chime::bootstrap
