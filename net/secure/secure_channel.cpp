#include "net/secure/secure_channel.hpp"

#include <utility>

#include "net/mesh/fields.hpp"

namespace chime::net {
namespace {

constexpr std::uint64_t kMagic = 0x74656e656d696863;  // "chimenet" as bytes

void check_version(Reader& message) {
  if (message.get<std::uint64_t>() != kMagic)
    throw Error(Fault::kProtocol, "it does not speak Chime's protocol");
  if (const auto version = message.get<std::uint32_t>(); version != kProtocolVersion)
    throw Error(Fault::kVersion, "it speaks version " + std::to_string(version) +
                                     " of Chime's protocol, this process version " +
                                     std::to_string(kProtocolVersion) +
                                     ": use one Chime version on all sides");
}

}  // namespace

SecureChannel::SecureChannel(Credentials credentials, Roles roles, Bytes introduction,
                             Limits limits, const Token& nonce, State state)
    : credentials_(std::move(credentials)),
      roles_(roles),
      introduction_(std::move(introduction)),
      limits_(limits),
      nonce_(nonce),
      state_(state) {}

SecureChannel SecureChannel::client(Credentials credentials, Roles roles, Bytes introduction,
                                    Limits limits, const Token& nonce) {
  if (introduction.size() > kMaxIntroductionBytes)
    throw Error(Fault::kSystem, "an introduction of " + std::to_string(introduction.size()) +
                                    " bytes; at most " + std::to_string(kMaxIntroductionBytes) +
                                    " are allowed");
  return {std::move(credentials), roles, std::move(introduction), limits, nonce,
          State::kAwaitsChallenge};
}

SecureChannel SecureChannel::server(Credentials credentials, std::int32_t pe, Limits limits,
                                    const Token& nonce) {
  SecureChannel channel(std::move(credentials), {.client_pe = -1, .server_pe = pe}, {}, limits,
                        nonce, State::kAwaitsHello);
  channel.challenge_ = Writer().put(kMagic).put(kProtocolVersion).put(nonce).take();
  channel.output(framed(channel.challenge_));
  return channel;
}

void SecureChannel::receive(std::span<const std::byte> bytes) {
  if (state_ == State::kRefused) return;
  failing_for_good([&] {
    input_.add(bytes);
    advance();
    if (state_ == State::kProven && input_.waiting_bytes() > kMaxHandshakeBytes)
      throw Error(Fault::kProtocol, "it sends messages before it has been let in");
  });
}

std::optional<Bytes> SecureChannel::next_frame() {
  std::optional<Bytes> frame;
  if (state_ != State::kOpen) return frame;
  failing_for_good([&] {
    if (auto body = input_.next(limits_.frame_bytes)) frame = opener_->open(std::move(*body));
  });
  return frame;
}

void SecureChannel::accept() {
  send_verdict(true, "");
  state_ = State::kOpen;
}

void SecureChannel::refuse(std::string_view why) {
  send_verdict(false, why);
  state_ = State::kRefused;
}

void SecureChannel::send(std::span<const std::byte> payload) {
  if (state_ != State::kOpen) throw Error(Fault::kClosed, "the connection is not open");
  if (payload.size() > max_payload())
    throw Error(Fault::kSystem, "a message of " + std::to_string(payload.size()) +
                                    " bytes; at most " + std::to_string(max_payload()) +
                                    " are allowed");
  output(sealer_->seal(payload));
}

template <class Step>
void SecureChannel::failing_for_good(Step step) {
  if (state_ == State::kFailed) throw Error(Fault::kClosed, "the connection has failed before");
  try {
    step();
  } catch (const Error&) {
    state_ = State::kFailed;
    throw;
  }
}

// The handshake, as far as what has come allows. One frame a state: a client that sends on before
// it has its verdict is read when it is accepted.
void SecureChannel::advance() {
  while (state_ == State::kAwaitsChallenge || state_ == State::kAwaitsVerdict ||
         state_ == State::kAwaitsHello) {
    auto body = input_.next(kMaxHandshakeBytes);
    if (!body) return;
    if (state_ == State::kAwaitsChallenge)
      hear_challenge(*body);
    else if (state_ == State::kAwaitsHello)
      hear_hello(*body);
    else
      hear_verdict(std::move(*body));
  }
}

void SecureChannel::hear_challenge(const Bytes& body) {
  Reader message(body);
  check_version(message);
  const auto server_nonce = message.get<Token>();
  challenge_ = body;
  Writer hello;
  hello.put(kMagic).put(kProtocolVersion).put(roles_.client_pe).put(roles_.server_pe);
  hello.put(nonce_).bytes(introduction_);
  const KeySchedule keys(credentials_, roles_, server_nonce, nonce_);
  hello.raw(hmac_sha256(keys.proof_key(), transcript_with(hello.written())));
  const auto traffic = keys.traffic_keys(transcript_with(hello.written()));
  sealer_.emplace(traffic.client_to_server);
  opener_.emplace(traffic.server_to_client);
  output(framed(hello.written()));
  state_ = State::kAwaitsVerdict;
}

void SecureChannel::hear_hello(const Bytes& body) {
  Reader message(body);
  check_version(message);
  Roles claimed;
  claimed.client_pe = message.get<std::int32_t>();
  claimed.server_pe = message.get<std::int32_t>();
  const auto client_nonce = message.get<Token>();
  const auto introduction = message.bytes();
  const auto proof = message.rest();
  const KeySchedule keys(credentials_, claimed, nonce_, client_nonce);
  const auto proved = std::span(body).first(body.size() - proof.size());
  if (!equal_in_constant_time(proof, hmac_sha256(keys.proof_key(), transcript_with(proved))))
    throw Error(Fault::kSecret, "wrong token: it does not know this job's secret");
  check_roles(claimed);
  roles_ = claimed;
  introduction_.assign(introduction.begin(), introduction.end());
  const auto traffic = keys.traffic_keys(transcript_with(body));
  sealer_.emplace(traffic.server_to_client);
  opener_.emplace(traffic.client_to_server);
  state_ = State::kProven;
}

void SecureChannel::check_roles(const Roles& claimed) const {
  if (claimed.server_pe != roles_.server_pe)
    throw Error(Fault::kProtocol, "PE " + std::to_string(claimed.client_pe) + " looks for PE " +
                                      std::to_string(claimed.server_pe) + ", and this is PE " +
                                      std::to_string(roles_.server_pe));
}

// That it opens at all proves the server: the key is of this handshake and of this direction.
void SecureChannel::hear_verdict(Bytes body) {
  Bytes payload;
  try {
    payload = opener_->open(std::move(body));
  } catch (const Error&) {
    throw Error(Fault::kSecret, "it does not know this job's token");
  }
  Reader verdict(payload);
  const bool is_accepted = verdict.get<std::uint8_t>() != 0;
  if (!is_accepted) throw Error(Fault::kRefused, verdict.text());
  state_ = State::kOpen;
}

void SecureChannel::send_verdict(bool is_accepted, std::string_view why) {
  if (state_ != State::kProven) throw Error(Fault::kClosed, "no client waits for a verdict");
  constexpr std::size_t kMaxWords = kMaxHandshakeBytes - kTagBytes - 16;
  output(
      sealer_->seal(Writer().put<std::uint8_t>(is_accepted).text(why.substr(0, kMaxWords)).take()));
}

void SecureChannel::output(std::span<const std::byte> bytes) {
  output_.insert(output_.end(), bytes.begin(), bytes.end());
}

Digest SecureChannel::transcript_with(std::span<const std::byte> hello) const {
  const auto length = static_cast<std::uint32_t>(challenge_.size());
  return Sha256().add(std::as_bytes(std::span(&length, 1))).add(challenge_).add(hello).finish();
}

}  // namespace chime::net
