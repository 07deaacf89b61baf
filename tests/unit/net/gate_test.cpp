// Which connections a gate admits and refuses, and that refused ones disturb no other.
#include "net/mesh/gate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "meeting.hpp"

namespace chime::net::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

bool meets(Reactor& reactor, const House& house) {
  Call call(reactor, to(house.address));
  reactor.run_until([&] { return call.is_over(); }, Clock::now() + 60s);
  return call.connection != nullptr;
}

TEST(Gate, AnotherSecretIsRefusedOnBothSidesAndLoggedOnce) {
  Reactor reactor;
  House house(reactor);
  auto options = to(house.address);
  options.credentials.secret[0] ^= std::byte{1};
  options.waits = false;
  for (int i = 0; i < 3; ++i) {
    Call call(reactor, options);
    ASSERT_TRUE(reactor.run_until([&] { return call.is_over(); }, Clock::now() + 60s));
    EXPECT_EQ(call.failure->fault(), Fault::kSecret);
    EXPECT_THAT(call.words(), HasSubstr("wrong token"));
  }
  EXPECT_THAT(house.log, ElementsAre(HasSubstr("wrong token")));
  EXPECT_TRUE(meets(reactor, house));
}

TEST(Gate, GarbageSilenceAndHangUpsDoNoHarm) {
  Reactor reactor;
  House house(reactor, some_name(), {.credentials = credentials(), .patience = 300ms});
  std::list<Descriptor> silent;
  for (int i = 0; i < 40; ++i) {
    auto stranger = start_connecting(house.address);
    const Bytes garbage(static_cast<std::size_t>(i) * 37, std::byte(i * 11));
    send_some(stranger, garbage, {});
    if (i % 3) silent.push_back(std::move(stranger));
  }
  EXPECT_TRUE(meets(reactor, house));
  EXPECT_TRUE(reactor.run_until([&] { return !house.log.empty(); }, Clock::now() + 60s));
  EXPECT_EQ(house.log.size(), 1u);
}

TEST(Gate, ASilentStrangerIsTurnedAwayInTime) {
  Reactor reactor;
  House house(reactor, some_name(), {.credentials = credentials(), .patience = 100ms});
  const auto begin = Clock::now();
  const auto stranger = start_connecting(house.address);
  ASSERT_TRUE(reactor.run_until([&] { return !house.log.empty(); }, begin + 60s));
  EXPECT_GE(Clock::now() - begin, 100ms);
  EXPECT_THAT(house.log[0], HasSubstr("did not answer in time"));
}

// A late hub must not take connections for silent whose messages it has not read.
TEST(Gate, AnAnswerCountsHoweverLateTheGateReadsIt) {
  Reactor late, others;
  House house(late, some_name(), {.credentials = credentials(), .patience = 50ms});
  Call call(others, to(house.address));
  const auto only_the_others_run = [&] {
    return others.run_until([&] { return call.is_over(); }, Clock::now() + 100ms);
  };
  only_the_others_run();        // it has connected
  late.run_once(Clock::now());  // and got its challenge,
  ASSERT_FALSE(only_the_others_run()) << "which it has answered, long before the gate looks";
  const auto end = Clock::now() + 60s;
  while (!call.is_over() && Clock::now() < end) {
    late.run_once(Clock::now());
    others.run_once(Clock::now());
  }
  EXPECT_TRUE(call.connection) << call.words();
  EXPECT_TRUE(house.log.empty());
}

TEST(Gate, ManyStrangersMakeRoomForAPe) {
  Reactor reactor;
  House house(reactor, some_name(), {.credentials = credentials(), .max_strangers = 8});
  std::list<Descriptor> strangers;
  for (int i = 0; i < 100; ++i) {
    strangers.push_back(start_connecting(house.address));
    reactor.run_once(Clock::now());
  }
  EXPECT_TRUE(meets(reactor, house));
  EXPECT_THAT(house.log, ElementsAre(HasSubstr("too many connections without a token")));
}

// 600 connect before the gate reads the first message of any.
TEST(Gate, AsManyAsAreExpectedMayComeAtOnce) {
  constexpr int kGuests = 600;
  Reactor late, others;
  House house(late, some_name(), {.credentials = credentials(), .max_strangers = kGuests + 256});
  std::list<Call> calls;
  for (int i = 0; i < kGuests; ++i)
    calls.emplace_back(others, to(house.address), Clock::now() + 60s);
  const auto all_are_over = [&] {
    return std::all_of(calls.begin(), calls.end(), [](const Call& c) { return c.is_over(); });
  };
  const auto end = Clock::now() + 60s;
  while (!all_are_over() && Clock::now() < end) {
    others.run_until(all_are_over, Clock::now() + 20ms);
    late.run_once(Clock::now());
  }
  for (const Call& call : calls) EXPECT_TRUE(call.connection) << call.words();
  EXPECT_TRUE(house.log.empty());
}

constexpr uid_t kSomebody = 12345, kSomebodyElse = 12346;

// Runs `body` in a process of `user`.
template <class Body>
pid_t as_user(uid_t user, Body body) {
  const pid_t child = fork();
  if (child == 0) _exit(setresuid(user, user, user) == 0 ? body() : 99);
  return child;
}

int exit_code(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// A line that a process of the test has written.
std::string line_from(int pipe) {
  std::string line;
  for (char c; read(pipe, &c, 1) == 1 && c != '\n';) line += c;
  return line;
}

// Needs root: the processes of other users are children that drop their own.
TEST(Gate, AnotherUserIsNotEvenGreeted) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  const auto name = some_name();
  int told[2];
  ASSERT_EQ(pipe(told), 0);
  const pid_t house = as_user(kSomebody, [&] {
    Reactor reactor;
    House own(reactor, name);
    dprintf(told[1], "listens\n");
    reactor.run_until([&] { return !own.log.empty(); }, Clock::now() + 60s);
    dprintf(told[1], "%s\n", own.log.empty() ? "nothing" : own.log[0].c_str());
    reactor.run_until([] { return false; }, Clock::now() + 60s);
    return 0;
  });
  ASSERT_EQ(line_from(told[0]), "listens");
  const pid_t stranger = as_user(kSomebodyElse, [&] {
    const auto socket = start_connecting(name);
    std::byte byte;
    const auto end = Clock::now() + 60s;
    for (Transfer got{0, EAGAIN}; got.error == EAGAIN && Clock::now() < end;)
      if (got = receive_some(socket, {&byte, 1}, nullptr); got.bytes > 0) return 1;
    return 0;
  });
  EXPECT_EQ(exit_code(stranger), 0) << "it got a byte";
  EXPECT_THAT(line_from(told[0]), HasSubstr("it belongs to another user"));
  const pid_t guest = as_user(kSomebodyElse, [&] {
    Reactor reactor;
    auto options = to(name);
    options.waits = false;
    Call call(reactor, options);
    reactor.run_until([&] { return call.is_over(); }, Clock::now() + 60s);
    return call.words().find("another user's process listens there") != std::string::npos ? 0 : 1;
  });
  EXPECT_EQ(exit_code(guest), 0) << "it spoke to another user's gate";
  kill(house, SIGKILL);
  exit_code(house);
}

}  // namespace
}  // namespace chime::net::test
