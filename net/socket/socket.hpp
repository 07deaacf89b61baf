// The system calls on sockets that the rest of net/ makes. All sockets are non-blocking, close on
// exec, and are not shared with children of fork().
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "net/socket/address.hpp"
#include "net/socket/descriptor.hpp"

namespace chime::net {

// A stream socket that listens at `address`; port 0: one that is free. Throws Error.
Descriptor listen_at(const Address& address);
// The addresses at which `socket` is bound, and of its other end.
Address address_of(const Descriptor& socket);
Address peer_of(const Descriptor& socket);

// Where a connection leaves this host. What is not given the routes choose.
struct LocalEnd {
  std::string interface {};  // by that one alone, whatever the routes prefer
  Address address{};         // with any port
};

// Begins to connect: empty, with errno, where that fails at once. When the socket becomes writable,
// connect_error() tells how it ended.
Descriptor start_connecting(const Address& address, const LocalEnd& from = {});
// Whether this process may connect from there: the host has them, and Linux lets every process
// choose an interface since 5.7.
bool may_connect_from(const LocalEnd& from);
// 0, or errno's number.
int connect_error(const Descriptor& socket);

// From now on the kernel ends `socket` when its other host has not answered for `silence`, within a
// second. It asks by itself, so a process that is stopped goes on to count as there. In place of
// half a minute, which every connection has. Without effect on a unix socket.
void end_after_silence(const Descriptor& socket, std::chrono::milliseconds silence);

// The next connection that waits at `listener`; empty, with errno, if there is none.
Descriptor accept_at(const Descriptor& listener);

// Whether the process at the other end of a unix socket, or the one that called listen, belongs to
// this process's user or to root. Nothing could be kept from root. For internet sockets the kernel
// does not know: true.
bool may_be_of_this_job(const Descriptor& socket);

// Descriptors that one message may carry: the kernel's SCM_MAX_FD.
inline constexpr std::size_t kMaxDescriptorsASend = 253;

// How a send or a receive went.
struct Transfer {
  std::size_t bytes = 0;
  int error = 0;  // errno's number; 0 with no bytes: the other side has closed
};
// `descriptors` go with the first byte.
Transfer send_some(const Descriptor& socket, std::span<const std::byte> bytes,
                   std::span<const int> descriptors);
// Without `descriptors` the kernel closes those that come.
Transfer receive_some(const Descriptor& socket, std::span<std::byte> buffer,
                      std::vector<Descriptor>* descriptors);

}  // namespace chime::net
