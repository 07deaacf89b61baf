// The cost of another library's path between two processes on the same machine: libfabric's own
// fi_pingpong (Debian's package libfabric-bin) over one of its providers.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>

#include "table.hpp"

namespace chime::perf {

// A TCP port that was free a moment ago; 0 if there is none.
inline unsigned free_port() {
  const int probe = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof name;
  const bool bound = ::bind(probe, reinterpret_cast<sockaddr*>(&name), length) == 0 &&
                     ::getsockname(probe, reinterpret_cast<sockaddr*>(&name), &length) == 0;
  ::close(probe);
  return bound ? ntohs(name.sin_port) : 0;
}

// Half a round trip of a message of `bytes`, in us; kNotMeasured where the program or the provider
// is missing.
inline double libfabric_half_round_trip_us(const std::string& provider, std::size_t bytes,
                                           int iterations) {
  static const bool is_here = std::system("command -v fi_pingpong >/dev/null 2>&1") == 0;
  if (!is_here) return kNotMeasured;
  const std::string options = "timeout 20 fi_pingpong -e rdm -p " + provider + " -I " +
                              std::to_string(iterations) + " -S " + std::to_string(bytes);
  const std::string port = std::to_string(free_port());
  // The client tries until the server listens. The last line of its table ends in
  // "MB/sec usec/xfer Mxfers/sec".
  const std::string command = "{ " + options + " -B " + port + " >/dev/null 2>&1 & } ; " +
                              "for try in 1 2 3 4 5; do sleep 0.2; " + options + " -P " + port +
                              " 127.0.0.1 2>/dev/null && break; done; wait";
  FILE* out = ::popen(command.c_str(), "r");
  if (!out) return kNotMeasured;
  std::string last;
  for (char line[256]; std::fgets(line, sizeof line, out);) last = line;
  ::pclose(out);
  std::istringstream words(last);
  std::string field[8];
  for (std::string& f : field) words >> f;
  char* end = nullptr;
  const double us = std::strtod(field[6].c_str(), &end);
  return end != field[6].c_str() && us > 0 ? us : kNotMeasured;
}

}  // namespace chime::perf
