// Opens a connection to a process that may be at several addresses, and may not be there yet.
//
// Every address is tried in turn, in rounds with growing pauses, until one answers that proves the
// secret. Any other process at one of them is not believed. One that proves it and refuses has the
// last word.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "net/socket/connection.hpp"
#include "net/socket/socket.hpp"

namespace chime::net {

class Dial final : private ConnectionOwner {
 public:
  struct Options {
    std::vector<Address> addresses;
    Credentials credentials;
    Roles roles;
    Bytes introduction{};
    SecureChannel::Limits limits{};
    LocalEnd from{};
    // Bounds an attempt of the first round, where there are several addresses: a silent process at
    // one must not keep the next from its turn. Each round gives twice as long, since a process
    // that belongs to the job may be slow; and the only address has until the deadline.
    std::chrono::milliseconds attempt{3000};
    // Whether to wait for somebody to listen; else the first round is the last.
    bool waits = true;
    // Somebody has listened at one of them. Once nobody does at any, the process will not come
    // back, and the wait ends.
    bool has_listened = false;
  };
  using Opened = std::function<void(std::shared_ptr<Connection>)>;
  using Failed = std::function<void(const Error&)>;

  // Calls one of `opened` and `failed`, once, from the reactor's thread and not before this
  // returns; the Dial may be destroyed there. `opened` calls belong_to() of what it gets. The
  // error's words list what was tried; its fault is the last attempt's, but for kTimeout where
  // nobody ever answered.
  Dial(Reactor& reactor, Options options, Deadline deadline, Opened opened, Failed failed);
  // Gives up silently.
  ~Dial();

 private:
  void try_next();
  void begin(const Address& address);
  Deadline end_of_attempt() const;
  void note(const std::string& why, Fault fault);
  Fault fault_of_round(bool nobody_listens) const;
  void wait_for_next_round();
  void fail(Fault fault, const std::string& what);
  void later(Deadline when, std::function<void()> step);

  void on_open(Connection& connection) override;
  void on_frame(Connection&, Bytes) override {}
  void on_end(Connection& connection, const Error& why) override;

  Reactor& reactor_;
  Options options_;
  Deadline deadline_;
  Opened opened_;
  Failed failed_;
  std::size_t next_ = 0;
  std::chrono::milliseconds pause_;
  std::string tried_;  // in this round
  Fault last_fault_ = Fault::kTimeout;
  std::size_t without_listener_ = 0;  // addresses, in this round
  std::shared_ptr<Connection> attempt_;
  std::optional<Reactor::TimerId> timer_;
};

}  // namespace chime::net
