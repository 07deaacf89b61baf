// The handshake and the frames after it, against attackers without the secret, and attackers
// between two ends that have it. No sockets: the test carries the bytes.
#include "net/secure/secure_channel.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/mesh/fields.hpp"
#include "net/socket/error.hpp"

namespace chime::net {
namespace {

using State = SecureChannel::State;
using testing::HasSubstr;

constexpr SecureChannel::Limits kLimits{.frame_bytes = 4096};
constexpr Roles kRoles{.client_pe = 3, .server_pe = 7};

Credentials credentials() { return {Bytes(32, std::byte{42}), "job 1", "test"}; }
SecureChannel client(const Credentials& known = credentials(), Roles roles = kRoles) {
  return SecureChannel::client(known, roles, {std::byte{1}, std::byte{2}}, kLimits);
}
SecureChannel server(const Credentials& known = credentials(), int pe = 7) {
  return SecureChannel::server(known, pe, kLimits);
}

Fault fault_of(const std::function<void()>& step, std::string* words = nullptr) {
  try {
    step();
  } catch (const Error& error) {
    if (words) *words = error.what();
    return error.fault();
  }
  ADD_FAILURE() << "nothing was thrown";
  return Fault::kSystem;
}

// A client and a server that have met, and the bytes of their handshake.
struct Pair {
  SecureChannel client, server;
  Bytes challenge, hello, verdict;

  explicit Pair(SecureChannel c = net::client(), SecureChannel s = net::server())
      : client(std::move(c)), server(std::move(s)) {
    challenge = server.take_output();
    client.receive(challenge);
    hello = client.take_output();
    server.receive(hello);
    server.accept();
    verdict = server.take_output();
    client.receive(verdict);
  }
};

Bytes payload(std::string_view text) {
  const auto bytes = bytes_of(text);
  return {bytes.begin(), bytes.end()};
}

Bytes sealed(SecureChannel& channel, std::string_view text) {
  channel.send(bytes_of(text));
  return channel.take_output();
}

TEST(Handshake, OpensBothEndsAndNamesTheClient) {
  Pair pair;
  EXPECT_TRUE(pair.client.is_open());
  EXPECT_TRUE(pair.server.is_open());
  EXPECT_EQ(pair.server.client_pe(), 3);
  EXPECT_EQ(pair.server.introduction(), (Bytes{std::byte{1}, std::byte{2}}));
}

TEST(Handshake, WorksByteByByte) {
  auto c = client();
  auto s = server();
  const auto carry = [](SecureChannel& from, SecureChannel& to) {
    for (const std::byte byte : from.take_output()) to.receive({&byte, 1});
  };
  carry(s, c);
  carry(c, s);
  ASSERT_EQ(s.state(), State::kProven);
  s.accept();
  carry(s, c);
  EXPECT_TRUE(c.is_open());
  c.send(bytes_of("slow"));
  carry(c, s);
  EXPECT_EQ(s.next_frame(), payload("slow"));
}

TEST(Handshake, NeverSendsTheSecret) {
  Credentials known = credentials();
  const auto token = random_token();
  known.secret.assign(token.begin(), token.end());
  Pair pair(client(known), server(known));
  for (const Bytes& sent : {pair.challenge, pair.hello, pair.verdict})
    EXPECT_EQ(std::search(sent.begin(), sent.end(), token.begin(), token.begin() + 8), sent.end());
}

TEST(Handshake, AClientWithoutTheSecretIsFound) {
  Credentials wrong = credentials();
  wrong.secret[0] ^= std::byte{1};
  auto c = client(wrong);
  auto s = server();
  c.receive(s.take_output());
  const auto hello = c.take_output();
  EXPECT_EQ(fault_of([&] { s.receive(hello); }), Fault::kSecret);
  EXPECT_EQ(s.state(), State::kFailed);
  EXPECT_TRUE(s.take_output().empty()) << "a stranger learns nothing but the challenge";
}

TEST(Handshake, AServerWithoutTheSecretIsFound) {
  Credentials wrong = credentials();
  wrong.secret[31] ^= std::byte{128};
  auto c = client();
  auto impostor = server(wrong);
  c.receive(impostor.take_output());
  const Bytes forged = framed(Bytes(1 + 4 + kTagBytes));
  EXPECT_EQ(fault_of([&] { c.receive(forged); }), Fault::kSecret);
}

TEST(Handshake, EndsOfAnotherJobPurposeOrPeDoNotMeet) {
  Credentials other_job = credentials(), other_purpose = credentials();
  other_job.job = "job 2";
  other_purpose.purpose = "another";
  for (const auto& other : {other_job, other_purpose}) {
    auto c = client(other);
    auto s = server();
    c.receive(s.take_output());
    EXPECT_EQ(fault_of([&] { s.receive(c.take_output()); }), Fault::kSecret);
  }
  auto c = client(credentials(), {.client_pe = 3, .server_pe = 8});
  auto s = server();
  c.receive(s.take_output());
  std::string words;
  EXPECT_EQ(fault_of([&] { s.receive(c.take_output()); }, &words), Fault::kProtocol);
  EXPECT_THAT(words, HasSubstr("PE 3 looks for PE 8, and this is PE 7"));
}

// A proof covers every bit of all three messages.
TEST(Handshake, NoBitOfItCanBeChanged) {
  const Pair honest;
  const std::size_t bits =
      8 * (honest.challenge.size() + honest.hello.size() + honest.verdict.size());
  for (std::size_t bit = 0; bit < bits; ++bit) {
    auto c = client();
    auto s = server();
    std::size_t at = 0;
    const auto carry = [&](SecureChannel& from, SecureChannel& to) {
      Bytes bytes = from.take_output();
      if (bit / 8 >= at && bit / 8 < at + bytes.size())
        bytes[bit / 8 - at] ^= std::byte(1 << bit % 8);
      at += bytes.size();
      to.receive(bytes);
    };
    try {
      carry(s, c);
      carry(c, s);
      if (s.state() == State::kProven) s.accept();
      carry(s, c);
      // A changed length leaves an end waiting for more.
      EXPECT_FALSE(c.is_open()) << "bit " << bit;
    } catch (const Error&) {
    }
    EXPECT_FALSE(c.is_open() && s.is_open()) << "bit " << bit;
  }
}

TEST(Handshake, ARecordedHelloIsNotAcceptedAgain) {
  const Pair recorded;
  auto s = server();
  EXPECT_EQ(fault_of([&] { s.receive(recorded.hello); }), Fault::kSecret);
}

TEST(Handshake, ARecordedVerdictIsNotAcceptedAgain) {
  const Pair recorded;
  auto c = client();
  c.receive(server().take_output());
  EXPECT_EQ(fault_of([&] { c.receive(recorded.verdict); }), Fault::kSecret);
}

TEST(Handshake, WhatAnEndSentDoesNotServeAsItsAnswer) {
  auto c = client();
  c.receive(server().take_output());
  const auto hello = c.take_output();
  EXPECT_EQ(fault_of([&] { c.receive(hello); }), Fault::kSecret);
  auto s = server();
  const auto challenge = s.take_output();
  EXPECT_NE(fault_of([&] { s.receive(challenge); }), Fault::kSystem);
}

// The attacker lets PE 3 prove itself to PE 7, and shows the proof to PE 8.
TEST(Handshake, AProofForOnePeIsNoneForAnother) {
  auto c = client();
  auto other = server(credentials(), 8);
  c.receive(other.take_output());
  EXPECT_EQ(fault_of([&] { other.receive(c.take_output()); }), Fault::kProtocol);
}

TEST(Handshake, AnotherVersionIsNamedWithThisOne) {
  auto challenge = server().take_output();
  challenge[4 + 8] = std::byte{99};
  std::string words;
  auto c = client();
  EXPECT_EQ(fault_of([&] { c.receive(challenge); }, &words), Fault::kVersion);
  EXPECT_THAT(words, HasSubstr("version 99"));
  EXPECT_THAT(words, HasSubstr("this process version 2"));
}

TEST(Handshake, ARefusalReachesTheClientInWords) {
  auto c = client();
  auto s = server();
  c.receive(s.take_output());
  s.receive(c.take_output());
  s.refuse("PE 3 is in the job already");
  std::string words;
  EXPECT_EQ(fault_of([&] { c.receive(s.take_output()); }, &words), Fault::kRefused);
  EXPECT_EQ(words, "PE 3 is in the job already");
}

TEST(Handshake, AStrangerCannotMakeTheServerKeepMuch) {
  auto s = server();
  const auto announced = Writer().put<std::uint32_t>(kMaxHandshakeBytes + 1).take();
  EXPECT_EQ(fault_of([&] { s.receive(announced); }), Fault::kProtocol);
  auto c = client();
  auto waiting = server();
  c.receive(waiting.take_output());
  waiting.receive(c.take_output());
  EXPECT_EQ(fault_of([&] { waiting.receive(Bytes(2 * kMaxHandshakeBytes)); }), Fault::kProtocol);
}

TEST(Handshake, AnIntroductionMayBeAsLongAsSaid) {
  const auto c = [](std::size_t length) {
    return SecureChannel::client(credentials(), kRoles, Bytes(length), kLimits);
  };
  Pair pair(c(kMaxIntroductionBytes));
  EXPECT_EQ(pair.server.introduction().size(), kMaxIntroductionBytes);
  EXPECT_THROW(c(kMaxIntroductionBytes + 1), Error);
}

TEST(Frames, ArriveInOrderBothWays) {
  Pair pair;
  for (const auto text : {"a", "", "ccc"}) pair.server.receive(sealed(pair.client, text));
  for (const auto text : {"a", "", "ccc"}) EXPECT_EQ(pair.server.next_frame(), payload(text));
  EXPECT_EQ(pair.server.next_frame(), std::nullopt);
  pair.client.receive(sealed(pair.server, "back"));
  EXPECT_EQ(pair.client.next_frame(), payload("back"));
}

TEST(Frames, NoBitOfOneCanBeChanged) {
  const std::string text = "keys of memory travel here";
  for (std::size_t bit = 0; bit < 8 * (4 + text.size() + kTagBytes); ++bit) {
    Pair pair;
    Bytes frame = sealed(pair.client, text);
    frame[bit / 8] ^= std::byte(1 << bit % 8);
    std::optional<Bytes> got;
    try {
      pair.server.receive(frame);
      got = pair.server.next_frame();
    } catch (const Error&) {
    }
    EXPECT_EQ(got, std::nullopt) << "bit " << bit;
  }
}

TEST(Frames, RepeatedLeftOutReorderedAndReflectedOnesAreFound) {
  const auto faults_after = [](auto attack) {
    Pair pair;
    const auto first = sealed(pair.client, "first"), second = sealed(pair.client, "second");
    const auto own = sealed(pair.server, "own");
    return fault_of([&] {
      for (const Bytes& frame : attack(first, second, own)) pair.server.receive(frame);
      while (pair.server.next_frame()) {
      }
    });
  };
  using Frames = std::vector<Bytes>;
  EXPECT_EQ(faults_after([](auto a, auto, auto) { return Frames{a, a}; }), Fault::kProtocol);
  EXPECT_EQ(faults_after([](auto, auto b, auto) { return Frames{b}; }), Fault::kProtocol);
  EXPECT_EQ(faults_after([](auto a, auto b, auto) { return Frames{b, a}; }), Fault::kProtocol);
  EXPECT_EQ(faults_after([](auto, auto, auto own) { return Frames{own}; }), Fault::kProtocol);
}

// It comes back with the expected number: only its key shows that it is not the other end's. The
// client's verdict was the server's frame 0.
TEST(Frames, OneThatComesBackToItsSenderIsFoundAtBothEnds) {
  Pair pair;
  pair.server.receive(sealed(pair.client, "the client's 0"));
  ASSERT_TRUE(pair.server.next_frame());
  const auto of_client = sealed(pair.client, "the client's 1"),
             of_server = sealed(pair.server, "the server's 1");
  const auto fault_at = [](SecureChannel& end, const Bytes& own) {
    return fault_of([&] {
      end.receive(own);
      end.next_frame();
    });
  };
  EXPECT_EQ(fault_at(pair.client, of_client), Fault::kProtocol);
  EXPECT_EQ(fault_at(pair.server, of_server), Fault::kProtocol);
}

TEST(Frames, AreOfOneConnectionOnly) {
  Pair one, other;
  other.server.receive(sealed(one.client, "of the first connection"));
  EXPECT_EQ(fault_of([&] { other.server.next_frame(); }), Fault::kProtocol);
}

TEST(Frames, AChannelThatHasFailedStaysFailed) {
  Pair pair;
  const auto good = sealed(pair.client, "good");
  Bytes bad = good;
  bad.back() ^= std::byte{1};
  pair.server.receive(bad);
  EXPECT_EQ(fault_of([&] { pair.server.next_frame(); }), Fault::kProtocol);
  EXPECT_EQ(fault_of([&] { pair.server.receive(good); }), Fault::kClosed);
  EXPECT_EQ(pair.server.next_frame(), std::nullopt);
}

TEST(Frames, OneThatAnnouncesTooMuchEndsTheChannelBeforeItComes) {
  Pair pair;
  pair.server.receive(Writer().put<std::uint32_t>(kLimits.frame_bytes + 1).take());
  EXPECT_EQ(fault_of([&] { pair.server.next_frame(); }), Fault::kProtocol);
}

TEST(Frames, AsLongAsAllowedPassAndLongerOnesAreNotSent) {
  Pair pair;
  pair.server.receive(sealed(pair.client, std::string(pair.client.max_payload(), 'x')));
  EXPECT_EQ(pair.server.next_frame()->size(), kLimits.frame_bytes - kTagBytes);
  EXPECT_THROW(pair.client.send(Bytes(pair.client.max_payload() + 1)), Error);
  pair.server.receive(sealed(pair.client, "still in step"));
  EXPECT_EQ(pair.server.next_frame(), payload("still in step"));
}

TEST(Frames, ACutOneIsNeverGivenOut) {
  Pair pair;
  const auto frame = sealed(pair.client, "half of this is lost");
  for (std::size_t i = 0; i + 1 < frame.size(); ++i) {
    pair.server.receive({&frame[i], 1});
    EXPECT_EQ(pair.server.next_frame(), std::nullopt);
  }
}

TEST(SecretName, DiffersByAllThatItIsMadeOf) {
  const auto base = secret_name(credentials(), "hub");
  EXPECT_EQ(base, secret_name(credentials(), "hub"));
  EXPECT_EQ(base.size(), 32u);
  auto secret = credentials(), job = credentials(), purpose = credentials();
  secret.secret[0] ^= std::byte{1};
  job.job += "x";
  purpose.purpose += "x";
  for (const auto& other : {secret, job, purpose}) EXPECT_NE(secret_name(other, "hub"), base);
  EXPECT_NE(secret_name(credentials(), "hub 2"), base);
}

}  // namespace
}  // namespace chime::net
