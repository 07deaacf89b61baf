#include "host/transport/p2p/node_socket.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <thread>

#include "host/error.hpp"

namespace chime::host {
namespace {

constexpr std::size_t kMaxPacketBytes = 64 * 1024;
constexpr std::size_t kMaxPacketFds = 250;  // the kernel's SCM_MAX_FD is 253

struct Address {
  sockaddr_un un{};
  socklen_t length = 0;
};

// An abstract name: a zero byte first, no file in the file system.
Address abstract_address(const std::string& name) {
  Address address;
  address.un.sun_family = AF_UNIX;
  if (name.size() + 1 > sizeof(address.un.sun_path))
    throw Error("node exchange", CHIMEX_ERR_INVALID, "socket name is too long: " + name);
  std::memcpy(address.un.sun_path + 1, name.data(), name.size());
  address.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return address;
}

UniqueFd make_socket() {
  UniqueFd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) throw system_error("node exchange", "cannot make a unix socket (see ulimit -n)");
  return socket;
}

// Waits until `socket` is ready for `events`; false at `deadline`.
bool wait_ready(int socket, short events, Deadline deadline) {
  using std::chrono::ceil;
  using std::chrono::milliseconds;
  for (;;) {
    auto left = ceil<milliseconds>(deadline - std::chrono::steady_clock::now()).count();
    pollfd waited{socket, events, 0};
    int ready = ::poll(&waited, 1, static_cast<int>(std::clamp<long long>(left, 0, 1 << 30)));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) throw system_error("node exchange", "poll failed");
    if (left <= 0) return false;
  }
}

[[noreturn]] void throw_timeout(const char* what) {
  throw Error("node exchange", CHIMEX_ERR_TIMEOUT,
              std::string("timed out while ") + what + " (CHIME_INIT_TIMEOUT bounds it)");
}

bool same_user(int socket) {
  ucred peer{};
  socklen_t length = sizeof(peer);
  return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 &&
         peer.uid == ::geteuid();
}

std::vector<UniqueFd> received_fds(msghdr& message) {
  std::vector<UniqueFd> fds;
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd;
      std::memcpy(&fd, CMSG_DATA(part) + i * sizeof(int), sizeof(int));
      fds.emplace_back(fd);
    }
  }
  return fds;
}

}  // namespace

void NodeConnection::send(std::span<const std::byte> bytes, std::span<const int> fds,
                          Deadline deadline) {
  if (bytes.size() > kMaxPacketBytes || fds.size() > kMaxPacketFds)
    throw Error("node exchange", CHIMEX_ERR_INVALID, "packet is too large");
  iovec payload{const_cast<std::byte*>(bytes.data()), bytes.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMaxPacketFds * sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &payload;
  message.msg_iovlen = 1;
  if (!fds.empty()) {
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(fds.size_bytes());
    cmsghdr* part = CMSG_FIRSTHDR(&message);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(fds.size_bytes());
    std::memcpy(CMSG_DATA(part), fds.data(), fds.size_bytes());
  }
  while (::sendmsg(socket_.get(), &message, MSG_NOSIGNAL) < 0) {
    if (errno == EINTR) continue;
    if (errno != EAGAIN) throw system_error("node exchange", "a node mate went away while sending");
    if (!wait_ready(socket_.get(), POLLOUT, deadline)) throw_timeout("sending to a node mate");
  }
}

NodeConnection::Packet NodeConnection::receive(Deadline deadline) {
  std::vector<std::byte> buffer(kMaxPacketBytes);
  iovec payload{buffer.data(), buffer.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMaxPacketFds * sizeof(int))> control{};
  for (;;) {
    if (!wait_ready(socket_.get(), POLLIN, deadline)) throw_timeout("waiting for a node mate");
    msghdr message{};
    message.msg_iov = &payload;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    ssize_t length = ::recvmsg(socket_.get(), &message, MSG_CMSG_CLOEXEC);
    if (length < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (length < 0) throw system_error("node exchange", "a node mate went away");
    Packet packet;
    packet.fds = received_fds(message);
    if (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC))
      throw Error("node exchange", CHIMEX_ERR_SYSTEM,
                  "a packet arrived cut short: too few file descriptors are allowed (ulimit -n)");
    buffer.resize(static_cast<std::size_t>(length));
    packet.bytes = std::move(buffer);
    return packet;
  }
}

NodeListener::NodeListener(const std::string& name) : socket_(make_socket()) {
  Address address = abstract_address(name);
  if (::bind(socket_.get(), reinterpret_cast<sockaddr*>(&address.un), address.length) != 0)
    throw system_error("node exchange", "cannot take the socket name @" + name);
  if (::listen(socket_.get(), 1024) != 0) throw system_error("node exchange", "listen failed");
}

std::optional<NodeConnection> NodeListener::accept(Deadline deadline) {
  while (wait_ready(socket_.get(), POLLIN, deadline)) {
    UniqueFd socket(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (socket && same_user(socket.get())) return NodeConnection(std::move(socket));
    if (!socket && errno != EINTR && errno != EAGAIN && errno != ECONNABORTED)
      throw system_error("node exchange", "accept failed (see ulimit -n)");
  }
  return std::nullopt;
}

std::optional<NodeConnection> connect_to_listener(const std::string& name, Deadline deadline) {
  Address address = abstract_address(name);
  auto pause = std::chrono::microseconds(50);
  for (;;) {
    UniqueFd socket = make_socket();
    if (::connect(socket.get(), reinterpret_cast<sockaddr*>(&address.un), address.length) == 0) {
      if (!same_user(socket.get()))
        throw Error("node exchange", CHIMEX_ERR_SYSTEM,
                    "another user's process listens at @" + name);
      return NodeConnection(std::move(socket));
    }
    if (errno != ECONNREFUSED && errno != EAGAIN && errno != EINTR)
      throw system_error("node exchange", "cannot connect to @" + name);
    if (std::chrono::steady_clock::now() >= deadline) return std::nullopt;
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::microseconds(1000));
  }
}

}  // namespace chime::host
