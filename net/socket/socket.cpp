#include "net/socket/socket.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>

#include "net/socket/error.hpp"
#include "net/socket/fork.hpp"

namespace chime::net {
namespace {

constexpr int kKind = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;

using ControlBuffer = std::array<char, CMSG_SPACE(kMaxDescriptorsASend * sizeof(int))>;

Descriptor make_socket(int family) {
  return opened_for_this_process([family] { return ::socket(family, kKind, 0); });
}

void set_tcp_option(const Descriptor& socket, int option, int value) {
  setsockopt(socket.get(), IPPROTO_TCP, option, &value, sizeof value);
}

// Messages are short and somebody waits for each.
void send_at_once(const Descriptor& socket) { set_tcp_option(socket, TCP_NODELAY, 1); }

// A host that is cut off or has lost its power says nothing any more. On a connection on which
// nobody sends, only the kernel's own probes find that out, here within half a minute. The kernel
// first repeats unacknowledged bytes for a quarter of an hour; TCP_USER_TIMEOUT would bound that,
// too, but also ends connections to processes that are only stopped.
void notice_a_silent_host(const Descriptor& socket) {
  constexpr int kIdleSeconds = 10, kPauseSeconds = 5, kTries = 4;
  const int yes = 1;
  setsockopt(socket.get(), SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
  set_tcp_option(socket, TCP_KEEPIDLE, kIdleSeconds);
  set_tcp_option(socket, TCP_KEEPINTVL, kPauseSeconds);
  set_tcp_option(socket, TCP_KEEPCNT, kTries);
}

// Both fail on a unix socket, which needs neither.
void prepare(const Descriptor& socket) {
  send_at_once(socket);
  notice_a_silent_host(socket);
}

// False with errno: there is no such interface, or the process has no right.
bool leave_by(const Descriptor& socket, const std::string& interface) {
  return interface.empty() ||
         setsockopt(socket.get(), SOL_SOCKET, SO_BINDTODEVICE, interface.c_str(),
                    static_cast<socklen_t>(interface.size())) == 0;
}

// False with errno. The interface comes first: an address of one link belongs to it.
bool leave_from(const Descriptor& socket, const LocalEnd& from) {
  return leave_by(socket, from.interface) &&
         (!from.address.is_internet() ||
          bind(socket.get(), from.address.with_port(0).get(), from.address.length()) == 0);
}

template <class Ask>
Address ask_address(const Descriptor& socket, Ask ask) {
  sockaddr_storage storage{};
  socklen_t length = sizeof storage;
  if (ask(socket.get(), reinterpret_cast<sockaddr*>(&storage), &length)) return {};
  return Address::from(reinterpret_cast<sockaddr*>(&storage), length);
}

void attach(msghdr& message, ControlBuffer& control, std::span<const int> descriptors) {
  message.msg_control = control.data();
  message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
  cmsghdr* const part = CMSG_FIRSTHDR(&message);
  part->cmsg_level = SOL_SOCKET;
  part->cmsg_type = SCM_RIGHTS;
  part->cmsg_len = CMSG_LEN(descriptors.size_bytes());
  std::memcpy(CMSG_DATA(part), descriptors.data(), descriptors.size_bytes());
}

void detach(msghdr& message, std::vector<Descriptor>& descriptors) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd;
      std::memcpy(&fd, CMSG_DATA(part) + i * sizeof(int), sizeof(int));
      descriptors.emplace_back(fd);
    }
  }
}

}  // namespace

Descriptor listen_at(const Address& address) {
  auto socket = make_socket(address.family());
  const int yes = 1;
  if (address.family() == AF_INET6)  // one address, one socket: others listen for IPv4
    setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof yes);
  if (!socket || bind(socket.get(), address.get(), address.length()) ||
      listen(socket.get(), SOMAXCONN))
    throw system_error("cannot listen at " + address.text());
  return socket;
}

Address address_of(const Descriptor& socket) { return ask_address(socket, getsockname); }
Address peer_of(const Descriptor& socket) { return ask_address(socket, getpeername); }

bool may_connect_from(const LocalEnd& from) {
  const auto socket = make_socket(from.address.is_internet() ? from.address.family() : AF_INET);
  return socket && leave_from(socket, from);
}

Descriptor start_connecting(const Address& address, const LocalEnd& from) {
  auto socket = make_socket(address.family());
  if (!socket || !leave_from(socket, from)) return {};
  prepare(socket);
  if (connect(socket.get(), address.get(), address.length()) && errno != EINPROGRESS) return {};
  return socket;
}

int connect_error(const Descriptor& socket) {
  int error = 0;
  socklen_t length = sizeof error;
  return getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &length) ? errno : error;
}

// The first question comes after a third of the time, the next ones each second. TCP_USER_TIMEOUT
// says when it is over, of questions and of what was sent alike; TCP_KEEPCNT counts no more then.
// It also ends connections whose other end does not read for so long, once the socket is full.
void end_after_silence(const Descriptor& socket, std::chrono::milliseconds silence) {
  const auto idle = std::chrono::duration_cast<std::chrono::seconds>(silence / 3).count();
  constexpr int kMostIdleSeconds = 32'767;  // the kernel's limit
  set_tcp_option(socket, TCP_KEEPIDLE,
                 static_cast<int>(std::clamp<long>(idle, 1, kMostIdleSeconds)));
  set_tcp_option(socket, TCP_KEEPINTVL, 1);
  set_tcp_option(
      socket, TCP_USER_TIMEOUT,
      static_cast<int>(std::min<long>(silence.count(), std::numeric_limits<int>::max())));
}

Descriptor accept_at(const Descriptor& listener) {
  auto socket = opened_for_this_process([&listener] {
    return accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  });
  if (socket) prepare(socket);
  return socket;
}

bool may_be_of_this_job(const Descriptor& socket) {
  if (!address_of(socket).is_local()) return true;
  ucred peer{};
  socklen_t length = sizeof peer;
  return getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 &&
         (peer.uid == geteuid() || peer.uid == 0);
}

Transfer send_some(const Descriptor& socket, std::span<const std::byte> bytes,
                   std::span<const int> descriptors) {
  iovec payload{const_cast<std::byte*>(bytes.data()), bytes.size()};
  alignas(cmsghdr) ControlBuffer control;
  msghdr message{};
  message.msg_iov = &payload;
  message.msg_iovlen = 1;
  if (!descriptors.empty()) attach(message, control, descriptors);
  for (;;) {
    const auto sent = sendmsg(socket.get(), &message, MSG_NOSIGNAL);
    if (sent >= 0) return {static_cast<std::size_t>(sent), 0};
    if (errno != EINTR) return {0, errno};
  }
}

Transfer receive_some(const Descriptor& socket, std::span<std::byte> buffer,
                      std::vector<Descriptor>* descriptors) {
  iovec payload{buffer.data(), buffer.size()};
  alignas(cmsghdr) ControlBuffer control;
  for (;;) {
    msghdr message{};
    message.msg_iov = &payload;
    message.msg_iovlen = 1;
    if (descriptors) message.msg_control = control.data(), message.msg_controllen = control.size();
    const auto got = recvmsg(socket.get(), &message, MSG_CMSG_CLOEXEC);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return {0, errno};
    if (descriptors) detach(message, *descriptors);
    // Where this process may open no more files, the kernel leaves out what it would have passed.
    if (descriptors && (message.msg_flags & MSG_CTRUNC)) return {0, EMFILE};
    return {static_cast<std::size_t>(got), 0};
  }
}

}  // namespace chime::net
