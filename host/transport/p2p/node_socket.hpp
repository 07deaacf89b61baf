// Packets with descriptors between processes of one machine: an abstract unix socket that only
// processes of the same user get through to. Abstract: it has no file, so nothing is left behind.
//
// Every call is bounded by a deadline and throws Error when it passes.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "host/transport/p2p/unique_fd.hpp"

namespace chime::host {

using Deadline = std::chrono::steady_clock::time_point;

// One end of a connection whose other end belongs to the same user (checked by the kernel's
// credentials).
class NodeConnection {
 public:
  explicit NodeConnection(UniqueFd socket) : socket_(std::move(socket)) {}

  struct Packet {
    std::vector<std::byte> bytes;  // empty: the other side has closed
    std::vector<UniqueFd> fds;
  };
  void send(std::span<const std::byte> bytes, std::span<const int> fds, Deadline deadline);
  Packet receive(Deadline deadline);

 private:
  UniqueFd socket_;
};

class NodeListener {
 public:
  explicit NodeListener(const std::string& name);
  // The next connection of this user; others are turned away. Empty at `deadline`.
  std::optional<NodeConnection> accept(Deadline deadline);

 private:
  UniqueFd socket_;
};

// Connects to the listener of that name, waiting for it to appear. Empty at `deadline`.
std::optional<NodeConnection> connect_to_listener(const std::string& name, Deadline deadline);

}  // namespace chime::host
