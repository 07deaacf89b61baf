// Finding the process that has the secret, where others may listen at the same addresses.
#include "net/socket/dial.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "meeting.hpp"
#include "net/mesh/fields.hpp"

namespace chime::net::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::uint16_t port_that_was_free() {
  const Descriptor listener = listen_at(Address::internet("127.0.0.1", 0));
  return address_of(listener).port();
}

TEST(Dial, WaitsForALateListener) {
  Reactor reactor;
  const auto where = some_name();
  Call call(reactor, to(where));
  EXPECT_FALSE(reactor.run_until([&] { return call.is_over(); }, Clock::now() + 50ms));
  House house(reactor, where);
  EXPECT_TRUE(reactor.run_until([&] { return call.is_over(); }, Clock::now() + 60s));
  EXPECT_TRUE(call.connection) << call.words();
}

TEST(Dial, SkipsListenersThatAreSilentAbsentOrWithoutTheSecret) {
  Reactor reactor;
  const auto silent = some_name();
  const auto squatter = listen_at(silent);
  House impostor(reactor, some_name(), [] {
    auto options = House::with_secret();
    options.credentials.secret[0] ^= std::byte{1};
    return options;
  }());
  House house(reactor);
  auto options = to(house.address);
  options.addresses = {some_name(), silent, impostor.address, house.address};
  options.attempt = 50ms;
  Call call(reactor, options);
  EXPECT_TRUE(reactor.run_until([&] { return call.is_over(); }, Clock::now() + 60s));
  EXPECT_TRUE(call.connection) << call.words();
}

// No other address has to wait. A hub on a busy machine was given up after one attempt.
TEST(Dial, ASlowOnlyListenerHasUntilTheDeadline) {
  Reactor reactor, late;
  House house(late);
  auto options = to(house.address);
  options.waits = false;
  options.attempt = 20ms;
  Call call(reactor, options, Clock::now() + 60s);
  EXPECT_FALSE(reactor.run_until([&] { return call.is_over(); }, Clock::now() + 100ms))
      << call.words();
  while (!call.is_over()) {
    late.run_once(Clock::now());
    reactor.run_once(Clock::now());
  }
  EXPECT_TRUE(call.connection) << call.words();
}

TEST(Dial, ASlowOneOfManyHasMoreTimeInEachRound) {
  Reactor reactor, late;
  House house(late);
  const auto silent = some_name();
  const auto squatter = listen_at(silent);
  auto options = to(silent);
  options.addresses.push_back(house.address);
  options.attempt = 20ms;
  Call call(reactor, options, Clock::now() + 60s);
  while (!call.is_over()) {
    late.run_once(Clock::now());  // and then not for longer than the first attempts last
    reactor.run_until([&] { return call.is_over(); }, Clock::now() + 60ms);
  }
  EXPECT_TRUE(call.connection) << call.words();
}

TEST(Dial, SaysAllThatItTriedWhenTheTimeIsOver) {
  Reactor reactor;
  const auto nobody = some_name(), silent = some_name();
  const auto squatter = listen_at(silent);
  auto options = to(nobody);
  options.addresses.push_back(silent);
  // A busy machine has not tried both within the shortest of these times.
  const auto tried_both = AllOf(HasSubstr(nobody.text() + ": Connection refused"),
                                HasSubstr(silent.text() + ": it did not answer in time"));
  std::string words;
  for (auto time = 100ms; time < 60s && !testing::Matches(tried_both)(words); time *= 2) {
    Call call(reactor, options, Clock::now() + time);
    EXPECT_TRUE(reactor.run_until([&] { return call.is_over(); }, Clock::now() + time + 60s));
    words = call.words();
  }
  EXPECT_THAT(words, tried_both);
}

TEST(Dial, DoesNotWaitForAListenerThatHasGone) {
  Reactor reactor;
  auto options = to(some_name());
  options.addresses.push_back(Address::internet("127.0.0.1", port_that_was_free()));
  options.has_listened = true;
  Call call(reactor, options, Clock::now() + 60s);
  EXPECT_TRUE(reactor.run_until([&] { return call.is_over(); }, Clock::now() + 60s));
  ASSERT_TRUE(call.failure);
  EXPECT_EQ(call.failure->fault(), Fault::kNobody);
}

// That says nothing of the other process.
TEST(Dial, SaysThatNoDescriptorWasLeft) {
  Reactor reactor;
  auto options = to(Address::internet("127.0.0.1", port_that_was_free()));
  options.waits = false;
  Call call(reactor, options, Clock::now() + 60s);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{0, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const bool is_over = reactor.run_until([&] { return call.is_over(); }, Clock::now() + 60s);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_TRUE(is_over);
  ASSERT_TRUE(call.failure);
  EXPECT_EQ(call.failure->fault(), Fault::kExhausted);
  EXPECT_THAT(call.words(), HasSubstr("Too many open files"));
}

// The lack of a listener at one address does not concern the others.
TEST(Dial, WaitsForAListenerThatHasGoneWhileAnAddressIsSilent) {
  Reactor reactor, late;
  House house(late);
  auto options = to(some_name());
  options.addresses.push_back(house.address);
  options.attempt = 20ms;
  options.has_listened = true;
  Call call(reactor, options, Clock::now() + 60s);
  EXPECT_FALSE(reactor.run_until([&] { return call.is_over(); }, Clock::now() + 100ms))
      << call.words();
  while (!call.is_over()) {
    late.run_once(Clock::now());
    reactor.run_until([&] { return call.is_over(); }, Clock::now() + 60ms);
  }
  EXPECT_TRUE(call.connection) << call.words();
}

TEST(Dial, ARefusalIsTheLastWord) {
  Reactor reactor;
  auto socket = listen_at(some_name());
  const auto address = address_of(socket);
  std::vector<Descriptor> listeners;
  listeners.push_back(std::move(socket));
  Notebook notebook;
  std::shared_ptr<Connection> refused;
  const Gate gate(reactor, std::move(listeners), House::with_secret(),
                  [&](std::shared_ptr<Connection> guest) {
                    guest->belong_to(notebook);
                    guest->refuse("PE 3 is here already");
                    refused = std::move(guest);
                  });
  Call call(reactor, to(address));
  EXPECT_TRUE(reactor.run_until([&] { return call.is_over(); }, Clock::now() + 60s));
  ASSERT_TRUE(call.failure);
  EXPECT_EQ(call.failure->fault(), Fault::kRefused);
  EXPECT_EQ(call.words(), "PE 3 is here already");
  EXPECT_TRUE(reactor.run_until([&] { return refused->is_closed(); }, Clock::now() + 60s));
}

// lo has all of 127.0.0.0/8; routes choose 127.0.0.1 as the source.
TEST(LocalEnd, IsWhereAConnectionComesFrom) {
  if (!may_connect_from({"lo"})) GTEST_SKIP() << "Linux before 5.7: no interface may be chosen";
  const Descriptor listener = listen_at(Address::internet("127.0.0.1", 0));
  const LocalEnd from{"lo", Address::internet("127.0.0.2", 0)};
  EXPECT_TRUE(may_connect_from(from));
  const Descriptor caller = start_connecting(address_of(listener), from);
  ASSERT_TRUE(caller);
  const auto deadline = Clock::now() + 60s;
  Descriptor guest;
  while (!guest && Clock::now() < deadline) guest = accept_at(listener);
  ASSERT_TRUE(guest);
  EXPECT_EQ(peer_of(guest).with_port(0), from.address);
}

TEST(LocalEnd, IsOneThatTheHostHas) {
  EXPECT_TRUE(may_connect_from({}));
  EXPECT_FALSE(may_connect_from({"lo:label"}));
  EXPECT_FALSE(may_connect_from({"", Address::internet("192.0.2.1", 0)}));
  EXPECT_FALSE(start_connecting(Address::internet("127.0.0.1", 1), {"lo:label"}));
}

TEST(Address, SurvivesTheJourneyAndSaysWhatItIs) {
  const Address all[] = {Address::abstract("name"), Address::internet("10.1.2.3", 4711),
                         Address::internet("fd00::1", 80)};
  Bytes together;
  for (const Address& address : all)
    for (const std::byte byte : address.to_bytes()) together.push_back(byte);
  std::span<const std::byte> rest = together;
  for (const Address& address : all) EXPECT_EQ(Address::from_bytes(rest), address);
  EXPECT_TRUE(rest.empty());
  EXPECT_EQ(all[0].text(), "@name");
  EXPECT_EQ(all[1].text(), "10.1.2.3:4711");
  EXPECT_EQ(all[2].text(), "[fd00::1]:80");
}

TEST(Address, WhatIsNoneIsRefused) {
  EXPECT_THROW(Address::internet("localhost", 1), Error);
  EXPECT_THROW(Address::abstract(std::string(108, 'x')), Error);
  for (const Bytes& bad : {Bytes{}, Bytes{std::byte{9}}, Bytes{std::byte{4}, std::byte{1}},
                           Writer().put<std::uint8_t>(1).text(std::string(200, 'x')).take()}) {
    std::span<const std::byte> bytes = bad;
    EXPECT_THROW(Address::from_bytes(bytes), Error);
  }
}

}  // namespace
}  // namespace chime::net::test
