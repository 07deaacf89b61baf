// One connection to a hub: who it comes from, and what its socket has not taken yet.
#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <string>

#include "bootstrap/file_descriptor.hpp"
#include "bootstrap/secret.hpp"
#include "bootstrap/wire.hpp"

namespace chime::bootstrap {

struct Connection {
  using Clock = std::chrono::steady_clock;

  FileDescriptor fd;
  std::string from;  // for people
  Token nonce;
  Clock::time_point hello_by;
  MessageStream input;
  Bytes output;           // what the socket did not take yet
  int pe = -1;            // -1: a stranger
  bool is_asked = false;  // what it is doing, and has not answered
  std::size_t session = 0;
  bool is_over = false;

  // Sends `message` after what waits already.
  void send(std::span<const std::byte> message);

  // Sends what the socket takes. Never ends the connection: that would change a session while it is
  // answering. The next read sees the error.
  void write_some();
};

// The other end of a connected socket, for people.
std::string name_of_peer(int fd);

// Another user's process can reach an abstract socket; it has no business here.
bool is_of_another_user(int fd);

}  // namespace chime::bootstrap
