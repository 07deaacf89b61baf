// One end of an authenticated connection, without its socket: bytes go in, bytes come out.
//
// The handshake and what each message proves are in README.md. A channel that throws has failed for
// good: the connection is to be closed. Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "net/mesh/frame.hpp"
#include "net/secure/key_schedule.hpp"
#include "net/secure/seal.hpp"

namespace chime::net {

inline constexpr std::uint32_t kProtocolVersion = 2;
// Before it has proved the secret, a peer may send no longer a frame.
inline constexpr std::size_t kMaxHandshakeBytes = 1024;
inline constexpr std::size_t kMaxIntroductionBytes = 768;

class SecureChannel {
 public:
  enum class State {
    kAwaitsChallenge,  // client: nothing has come
    kAwaitsVerdict,    // client: has proved the secret
    kAwaitsHello,      // server: has sent its challenge
    kProven,           // server: the client knows the secret; accept() or refuse() is due
    kOpen,
    kRefused,  // server: has said no; only its output is left
    kFailed
  };

  struct Limits {
    std::size_t frame_bytes = std::size_t{1} << 21;  // of an open channel's frame, its tag included
  };

  // `introduction`: what the server should know before it decides, at most kMaxIntroductionBytes. A
  // stranger in the server's place can read it.
  static SecureChannel client(Credentials credentials, Roles roles, Bytes introduction,
                              Limits limits, const Token& nonce = random_token());
  // `pe`: this end's PE; -1 for a hub.
  static SecureChannel server(Credentials credentials, std::int32_t pe, Limits limits,
                              const Token& nonce = random_token());

  State state() const { return state_; }
  bool is_open() const { return state_ == State::kOpen; }
  const std::string& purpose() const { return credentials_.purpose; }

  // Takes what came from the other end. Throws Error, whose fault says what the other end is or has
  // done: kProtocol, kVersion, kSecret, or kRefused with its words. A refused client is not heard.
  void receive(std::span<const std::byte> bytes);

  // The payload of the next frame that came, in order. Throws as receive().
  std::optional<Bytes> next_frame();

  // Bytes that are to be sent to the other end and have not been taken yet.
  Bytes take_output() { return std::exchange(output_, {}); }

  // The server's word on a client that has proved the secret. `why` travels, authenticated.
  void accept();
  void refuse(std::string_view why);

  // Only when open: puts `payload` into the output. At most max_payload() bytes.
  void send(std::span<const std::byte> payload);
  std::size_t max_payload() const { return limits_.frame_bytes - kTagBytes; }

  // Server, from kProven on: the client's PE, and its introduction.
  std::int32_t client_pe() const { return roles_.client_pe; }
  const Bytes& introduction() const { return introduction_; }

 private:
  SecureChannel(Credentials credentials, Roles roles, Bytes introduction, Limits limits,
                const Token& nonce, State state);

  void advance();
  std::size_t frame_limit() const;
  void hear_challenge(const Bytes& body);
  void hear_hello(const Bytes& body);
  void hear_verdict(Bytes body);
  void check_roles(const Roles& claimed) const;
  void send_verdict(bool is_accepted, std::string_view why);
  void output(std::span<const std::byte> bytes);
  Digest transcript_with(std::span<const std::byte> hello) const;
  template <class Step>
  void failing_for_good(Step step);

  Credentials credentials_;
  Roles roles_;
  Bytes introduction_;
  Limits limits_;
  Token nonce_;
  State state_;
  Bytes challenge_;  // the server's message as sent or received
  FrameCutter input_;
  Bytes output_;
  std::optional<Sealer> sealer_;
  std::optional<Opener> opener_;
};

}  // namespace chime::net
