// Whether a host answers: real sockets on this machine; one behaves as if its host were gone, and
// one as if its process were stopped.
#include "net/mesh/reach.hpp"

#include <sys/resource.h>
#include <sys/socket.h>

#include <array>
#include <thread>

#include "meeting.hpp"

namespace chime::net::test {
namespace {

constexpr std::chrono::milliseconds kSilence{1000};

Address loopback() { return Address::internet("127.0.0.1", 0); }

// A listener that accepts no more connections: the kernel drops new ones, as if the host were gone.
class Silent {
 public:
  Silent() : listener_(listen_at(loopback())) {
    ::listen(listener_.get(), 0);
    for (int i = 0; i < 3; ++i) waiting_.push_back(start_connecting(address()));
    std::this_thread::sleep_for(50ms);
  }
  Address address() const { return address_of(listener_); }

 private:
  Descriptor listener_;
  std::list<Descriptor> waiting_;
};

struct Attempt {
  explicit Attempt(Reactor& reactor, std::vector<Address> addresses)
      : reach(
            reactor,
            {.addresses = std::move(addresses),
             .credentials = credentials(),
             .roles = {.client_pe = 1, .server_pe = 0},
             .silence = kSilence},
            [this](std::shared_ptr<Connection> opened) {
              connection = std::move(opened);
              connection->belong_to(notebook);
            },
            [this](Reach::Failure how, const std::string&) { failure = how; }) {}
  ~Attempt() {
    if (connection) connection->close();
  }
  bool is_over() const { return failure || connection; }

  Notebook notebook;
  std::shared_ptr<Connection> connection;
  std::optional<Reach::Failure> failure;
  Reach reach;
};

// Admits connections at a listener.
class Welcome {
 public:
  Welcome(Reactor& reactor, Descriptor listener)
      : gate_(reactor, one(std::move(listener)), {.credentials = credentials(), .pe = 0},
              [this](std::shared_ptr<Connection> admitted) {
                guest_ = std::move(admitted);
                guest_->belong_to(notebook_);
                guest_->accept();
              }) {}
  ~Welcome() {
    if (guest_) guest_->close();
  }

 private:
  static std::vector<Descriptor> one(Descriptor listener) {
    std::vector<Descriptor> doors;
    doors.push_back(std::move(listener));
    return doors;
  }

  Notebook notebook_;
  std::shared_ptr<Connection> guest_;
  Gate gate_;
};

// The condition concerns objects that the reactor does not watch.
template <class Condition>
bool comes(Reactor& reactor, Condition condition) {
  const auto end = Clock::now() + 60s;
  while (!condition()) {
    if (Clock::now() >= end) return false;
    reactor.run_once(Clock::now() + 5ms);
  }
  return true;
}

// The process at `listener` lets a client prove the secret, and ends before it answers: after
// reading the proof or not.
void end_while_answering(Reactor& reactor, const Descriptor& listener, bool has_read) {
  Descriptor socket;
  ASSERT_TRUE(comes(reactor, [&] { return bool(socket = accept_at(listener)); }));
  const Bytes challenge = SecureChannel::server(credentials(), 0, {}).take_output();
  ASSERT_EQ(send_some(socket, challenge, {}).error, 0);
  std::array<std::byte, kMaxHandshakeBytes> proof;
  const auto come = [&](int flags) {
    return recv(socket.get(), proof.data(), proof.size(), flags | MSG_DONTWAIT) > 0;
  };
  ASSERT_TRUE(comes(reactor, [&] { return come(MSG_PEEK); }));
  if (has_read) ASSERT_TRUE(come(0));
}

Address where_nobody_listens() {
  const auto listener = listen_at(loopback());
  return address_of(listener);
}

// This process has no descriptor left while this exists.
class NoDescriptors {
 public:
  NoDescriptors() {
    getrlimit(RLIMIT_NOFILE, &before_);
    rlimit none = before_;
    none.rlim_cur = 0;
    setrlimit(RLIMIT_NOFILE, &none);
  }
  ~NoDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_;
};

TEST(Reach, AHostIsNotSilentWhileThisProcessHasNoDescriptors) {
  Reactor reactor;
  auto listener = listen_at(loopback());
  const Address address = address_of(listener);
  Welcome welcome(reactor, std::move(listener));
  Attempt attempt(reactor, {address});
  {
    const NoDescriptors none;
    const auto end = Clock::now() + 2 * kSilence;
    while (Clock::now() < end) reactor.run_once(Clock::now() + 5ms);
    ASSERT_FALSE(attempt.is_over());
  }
  ASSERT_TRUE(comes(reactor, [&] { return attempt.is_over(); }));
  EXPECT_TRUE(attempt.connection);
}

TEST(Reach, AHostThatDoesNotAnswerIsSilentWhenItsTimeIsOver) {
  Reactor reactor;
  const Silent silent;
  Attempt attempt(reactor, {silent.address()});
  const auto begin = Clock::now();
  ASSERT_TRUE(reactor.run_until([&] { return attempt.is_over(); }, begin + 60s));
  EXPECT_EQ(attempt.failure, Reach::Failure::kSilent);
  EXPECT_GE(Clock::now() - begin, kSilence);
}

TEST(Reach, AHostWithoutAListenerIsNotSilent) {
  Reactor reactor;
  Attempt attempt(reactor, {where_nobody_listens()});
  ASSERT_TRUE(reactor.run_until([&] { return attempt.is_over(); }, Clock::now() + 60s));
  EXPECT_EQ(attempt.failure, Reach::Failure::kNobody);
}

// An address without a listener may belong to another host.
TEST(Reach, OneSilentAddressOfSeveralIsEnough) {
  Reactor reactor;
  const Silent silent;
  Attempt attempt(reactor, {where_nobody_listens(), silent.address()});
  ASSERT_TRUE(reactor.run_until([&] { return attempt.is_over(); }, Clock::now() + 60s));
  EXPECT_EQ(attempt.failure, Reach::Failure::kSilent);
}

TEST(Reach, AProcessThatDoesNothingIsWaitedFor) {
  Reactor reactor;
  auto listener = listen_at(loopback());
  Attempt attempt(reactor, {address_of(listener)});
  EXPECT_FALSE(reactor.run_until([&] { return attempt.is_over(); }, Clock::now() + 3 * kSilence));
  const Welcome welcome(reactor, std::move(listener));
  ASSERT_TRUE(reactor.run_until([&] { return attempt.is_over(); }, Clock::now() + 60s));
  EXPECT_TRUE(attempt.connection);
}

// The leader of a node ends while it answers: its successor listens at the same address. The second
// leader ends with unread data.
TEST(Reach, WhoTakesThePlaceOfOneThatEndsAsItAnswersIsFound) {
  Reactor reactor;
  auto listener = listen_at(loopback());
  Attempt attempt(reactor, {address_of(listener)});
  for (const bool has_read : {true, false}) end_while_answering(reactor, listener, has_read);
  const Welcome welcome(reactor, std::move(listener));
  ASSERT_TRUE(reactor.run_until([&] { return attempt.is_over(); }, Clock::now() + 60s));
  EXPECT_TRUE(attempt.connection);
}

// The other listener there refuses connections, for as long as a host may be silent.
TEST(Reach, AnAddressThatIsAnotherJobsNowHasNoListener) {
  Reactor reactor;
  House house(reactor, loopback(), {.credentials = {Bytes(32, std::byte{7}), "other", "test"}});
  Attempt attempt(reactor, {house.address});
  const auto begin = Clock::now();
  ASSERT_TRUE(reactor.run_until([&] { return attempt.is_over(); }, begin + 60s));
  EXPECT_EQ(attempt.failure, Reach::Failure::kNobody);
  EXPECT_GE(Clock::now() - begin, kSilence);
}

TEST(Reach, TheAddressThatAnswersIsTaken) {
  Reactor reactor;
  auto listener = listen_at(loopback());
  const Silent silent;
  Attempt attempt(reactor, {silent.address(), where_nobody_listens(), address_of(listener)});
  const Welcome welcome(reactor, std::move(listener));
  ASSERT_TRUE(reactor.run_until([&] { return attempt.is_over(); }, Clock::now() + 60s));
  EXPECT_TRUE(attempt.connection);
}

}  // namespace
}  // namespace chime::net::test
