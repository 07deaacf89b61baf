// Connections over sockets: arrival, queueing, descriptors, and each kind of end.
#include "net/socket/connection.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "meeting.hpp"
#include "net/mesh/fields.hpp"

namespace chime::net::test {
namespace {

using testing::HasSubstr;

class OverEveryFamily : public testing::TestWithParam<const char*> {
 protected:
  static Address address() {
    const std::string host = GetParam();
    return host == "unix" ? some_name() : Address::internet(host, 0);
  }
};

TEST_P(OverEveryFamily, MessagesArriveInOrderBothWays) {
  Met met(address());
  for (int i = 0; i < 100; ++i) met.client().send(payload("message " + std::to_string(i)));
  met.server().send(payload("answer"));
  ASSERT_TRUE(met.run([&] {
    return met.house.notebook.frames.size() == 100 && met.call->notebook.frames.size() == 1;
  }));
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(met.house.notebook.frames[i], payload("message " + std::to_string(i)));
  EXPECT_EQ(met.call->notebook.frames[0], payload("answer"));
}

// Far more than a socket takes, and the receiver reads only after all is sent.
TEST_P(OverEveryFamily, WhatTheSocketDoesNotTakeWaits) {
  Met met(address());
  constexpr int kMessages = 8;
  const Bytes large(std::size_t{1} << 20, std::byte{7});
  for (int i = 0; i < kMessages; ++i) met.client().send(large);
  EXPECT_TRUE(met.client().has_unsent());
  ASSERT_TRUE(met.run([&] { return met.house.notebook.frames.size() == kMessages; }));
  for (const Bytes& frame : met.house.notebook.frames) EXPECT_EQ(frame, large);
  EXPECT_TRUE(met.run([&] { return met.call->notebook.is_drained; }));
  EXPECT_FALSE(met.client().has_unsent());
}

TEST_P(OverEveryFamily, TheEndOfOneSideReachesTheOther) {
  Met met(address());
  met.client().send(payload("last words"));
  met.client().close();
  ASSERT_TRUE(met.run([&] { return !met.house.notebook.ends.empty(); }));
  EXPECT_EQ(met.house.notebook.ends[0].fault(), Fault::kClosed);
  EXPECT_EQ(met.house.notebook.frames, std::vector<Bytes>{payload("last words")});
  EXPECT_TRUE(met.server().is_closed());
  EXPECT_THROW(met.server().send(payload("too late")), Error);
}

INSTANTIATE_TEST_SUITE_P(Connection, OverEveryFamily, testing::Values("unix", "127.0.0.1", "::1"),
                         [](const auto& info) {
                           const std::string host = info.param;
                           return host == "unix" ? "Unix" : host == "::1" ? "Ipv6" : "Ipv4";
                         });

TEST(Connection, AnyThreadMaySend) {
  Met met;
  constexpr int kThreads = 4, kEach = 500;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) met.client().send(Writer().put(t).put(i).take());
    });
  EXPECT_TRUE(met.run([&] { return met.house.notebook.frames.size() == kThreads * kEach; }, 60s));
  for (auto& thread : threads) thread.join();
  int next[kThreads] = {};
  for (const Bytes& frame : met.house.notebook.frames) {
    Reader fields(frame);
    const int t = fields.get<int>();
    EXPECT_EQ(fields.get<int>(), next[t]++);
  }
}

// A peer that does not read: the sender is not blocked, and does not keep everything.
TEST(Connection, OneThatDoesNotReadIsEndedAtSomeAmount) {
  Met met;
  const Bytes large(std::size_t{1} << 20);
  const auto send_much = [&] {
    for (std::size_t i = 0; i <= 2 * Connection::kMaxUnsentBytes / large.size(); ++i)
      met.client().send(large);
  };
  EXPECT_THROW(send_much(), Error);
  ASSERT_TRUE(met.run([&] { return !met.call->notebook.ends.empty(); }));
  EXPECT_THAT(met.call->notebook.ends[0].what(), HasSubstr("does not read"));
}

Descriptor some_file() {
  Descriptor file(open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  EXPECT_TRUE(file);
  return file;
}
auto identity(const Descriptor& file) {
  struct stat status {};
  EXPECT_EQ(fstat(file.get(), &status), 0);
  return std::pair(status.st_dev, status.st_ino);
}

TEST(Connection, DescriptorsArriveWithTheirMessage) {
  Met met;
  const auto a = some_file(), b = some_file(), c = some_file();
  met.client().send(payload("one"), std::vector{a.get()});
  met.client().send(payload("none"));
  met.client().send(payload("two"), std::vector{b.get(), c.get()});
  ASSERT_TRUE(met.run([&] { return met.house.notebook.frames.size() == 3; }));
  const auto first = met.server().take_descriptors(1);
  const auto others = met.server().take_descriptors(2);
  EXPECT_EQ(identity(first[0]), identity(a));
  EXPECT_EQ(identity(others[0]), identity(b));
  EXPECT_EQ(identity(others[1]), identity(c));
  EXPECT_THROW(met.server().take_descriptors(1), Error);
}

// One read returns the handshake's end and the first message.
TEST(Connection, DescriptorsArriveWithAMessageThatIsSentWhenItOpens) {
  Reactor reactor;
  const auto file = some_file();
  const auto name = some_name();
  std::vector<Descriptor> doors;
  doors.push_back(listen_at(name));
  Notebook notebook;
  std::shared_ptr<Connection> guest;
  Gate gate(reactor, std::move(doors), {.credentials = credentials()},
            [&](std::shared_ptr<Connection> admitted) {
              guest = std::move(admitted);
              guest->belong_to(notebook);
              guest->accept();
              guest->send(payload("one"), std::vector{file.get()});
            });
  Call call(reactor, to(name));
  ASSERT_TRUE(reactor.run_until([&] { return !call.notebook.frames.empty(); }, Clock::now() + 60s));
  EXPECT_EQ(identity(call.connection->take_descriptors(1)[0]), identity(file));
  guest->close();
  call.connection->close();
}

int open_files() {
  int count = 0;
  for (int fd = 0; fd < 4096; ++fd) count += fcntl(fd, F_GETFD) >= 0;
  return count;
}

TEST(Connection, AStrangerCannotPassDescriptorsToThisProcess) {
  Reactor reactor;
  House house(reactor);
  auto stranger = start_connecting(house.address);
  const auto file = some_file();
  const std::vector<int> many(200, file.get());
  const int before = open_files();
  const Bytes length = Writer().put<std::uint32_t>(1000).take();
  ASSERT_EQ(send_some(stranger, length, many).error, 0);
  EXPECT_FALSE(reactor.run_until([&] { return !house.log.empty(); }, Clock::now() + 200ms));
  EXPECT_EQ(open_files(), before + 1) << "the connection itself, and no more";
}

TEST(Connection, AnOwnerMayLetGoOfItInItsOwnCall) {
  struct Fickle : Notebook {
    void on_frame(Connection& connection, Bytes) override {
      connection.close();
      held.reset();
    }
    std::shared_ptr<Connection> held;
  } fickle;
  Met met;
  fickle.held = std::move(met.house.guests[0]);
  fickle.held->belong_to(fickle);
  met.client().send(payload("one"));
  met.client().send(payload("two"));
  EXPECT_TRUE(met.run([&] { return !met.call->notebook.ends.empty(); }));
}

}  // namespace
}  // namespace chime::net::test
