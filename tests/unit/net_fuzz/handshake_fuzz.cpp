// A stranger in place of the other end. First byte: which end it attacks, and how the rest is cut.
// Only the honest message, byte for byte, may get further.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "ends.hpp"
#include "net/socket/error.hpp"

namespace {

using namespace chime::net;
using State = SecureChannel::State;

struct Honest {
  Bytes challenge, hello, verdict;
  Honest() {
    auto c = fuzz::client();
    auto s = fuzz::server();
    challenge = s.take_output();
    c.receive(challenge);
    hello = c.take_output();
    s.receive(hello);
    s.accept();
    verdict = s.take_output();
  }
};

bool begins_with(std::span<const std::byte> bytes, const Bytes& prefix) {
  return bytes.size() >= prefix.size() && std::equal(prefix.begin(), prefix.end(), bytes.begin());
}

void feed(SecureChannel& channel, std::span<const std::byte> bytes, std::size_t piece) {
  try {
    while (!bytes.empty()) {
      const auto part = bytes.first(std::min(piece, bytes.size()));
      bytes = bytes.subspan(part.size());
      channel.receive(part);
      while (channel.next_frame()) fuzz::require(false, "a stranger's frame was given out");
    }
  } catch (const Error&) {
    fuzz::require(channel.state() == State::kFailed, "a channel that threw goes on");
  }
}

void attack_server(std::span<const std::byte> bytes, std::size_t piece, const Honest& honest) {
  auto server = fuzz::server();
  feed(server, bytes, piece);
  if (server.state() == State::kProven)
    fuzz::require(begins_with(bytes, honest.hello), "the server believes a stranger");
}

void attack_client(std::span<const std::byte> bytes, std::size_t piece, const Honest& honest) {
  auto client = fuzz::client();
  feed(client, bytes, piece);
  if (client.is_open())
    fuzz::require(begins_with(bytes, honest.challenge) &&
                      begins_with(bytes.subspan(honest.challenge.size()), honest.verdict),
                  "the client believes a stranger");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Honest honest;
  if (size == 0) return 0;
  const auto bytes = std::as_bytes(std::span(data, size)).subspan(1);
  const std::size_t piece = 1 + data[0] / 2;
  if (data[0] % 2)
    attack_server(bytes, piece, honest);
  else
    attack_client(bytes, piece, honest);
  return 0;
}
