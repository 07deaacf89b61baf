// Two ends of connections over real sockets, served by one reactor on the test's thread.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "net/mesh/gate.hpp"
#include "net/socket/dial.hpp"

namespace chime::net::test {

using namespace std::chrono_literals;

inline Credentials credentials() { return {Bytes(32, std::byte{42}), "job", "test"}; }

// A name that no other test, and no other run of it, uses.
inline Address some_name() { return Address::abstract("chime-test-" + to_hex(random_token())); }

inline Bytes payload(std::string_view text) {
  const auto bytes = bytes_of(text);
  return {bytes.begin(), bytes.end()};
}

// Keeps its frames and ends.
class Notebook : public ConnectionOwner {
 public:
  void on_frame(Connection&, Bytes frame) override { frames.push_back(std::move(frame)); }
  void on_drained(Connection&) override { is_drained = true; }
  void on_end(Connection&, const Error& why) override { ends.push_back(why); }

  std::vector<Bytes> frames;
  std::vector<Error> ends;
  bool is_drained = false;
};

// A gate that admits all connections with the secret, and keeps its log.
struct House {
  explicit House(Reactor& r, Address where = some_name(), Gate::Options options = with_secret())
      : reactor(r), address(std::move(where)) {
    auto listener = listen_at(address);
    address = address_of(listener);
    options.log = [this](std::string line) { log.push_back(std::move(line)); };
    std::vector<Descriptor> listeners;
    listeners.push_back(std::move(listener));
    gate.emplace(reactor, std::move(listeners), std::move(options),
                 [this](std::shared_ptr<Connection> guest) {
                   guest->belong_to(notebook);
                   guest->accept();
                   guests.push_back(std::move(guest));
                 });
  }
  static Gate::Options with_secret() { return {.credentials = credentials()}; }

  Reactor& reactor;
  Address address;
  Notebook notebook;
  std::vector<std::shared_ptr<Connection>> guests;
  std::vector<std::string> log;
  std::optional<Gate> gate;
};

// Dials until it is open or has failed.
struct Call {
  Call(Reactor& reactor, Dial::Options options, Deadline deadline = Clock::now() + 60s)
      : dial(
            reactor, std::move(options), deadline,
            [this](std::shared_ptr<Connection> opened) {
              connection = std::move(opened);
              connection->belong_to(notebook);
            },
            [this](const Error& why) { failure = why; }) {}
  bool is_over() const { return connection || failure; }
  std::string words() const { return failure ? failure->what() : "it did not fail"; }

  Notebook notebook;
  std::shared_ptr<Connection> connection;
  std::optional<Error> failure;
  Dial dial;
};

inline Dial::Options to(const Address& address) {
  return {.addresses = {address}, .credentials = credentials(), .roles = {.client_pe = 3}};
}

// A connected pair: `call` on one side, `house.guests[0]` on the other.
struct Met {
  explicit Met(Address where = some_name()) : house(reactor, std::move(where)) {
    call.emplace(reactor, to(house.address));
    run([this] { return call->is_over() && !house.guests.empty(); });
    EXPECT_TRUE(call->connection) << call->words();
  }
  template <class IsDone>
  bool run(IsDone is_done, std::chrono::milliseconds limit = 60s) {
    return reactor.run_until(is_done, Clock::now() + limit);
  }
  Connection& client() { return *call->connection; }
  Connection& server() { return *house.guests.front(); }

  Reactor reactor;
  House house;
  std::optional<Call> call;
};

}  // namespace chime::net::test
