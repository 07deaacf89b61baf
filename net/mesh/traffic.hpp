// Counts the bytes that this process's connections have carried, by purpose: tests bound start-up
// by them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace chime::net {

// Sent and received together.
struct Traffic {
  std::uint64_t messages = 0;  // of open channels, without handshakes
  std::uint64_t bytes = 0;     // all
};

// The sum over all connections so far whose Credentials have this purpose. From any thread.
Traffic traffic_of(const std::string& purpose);

void count_traffic(const std::string& purpose, const Traffic& more);

}  // namespace chime::net
