// Lets connections in: every process may connect, and only one that proves the job's secret gets
// past.
//
// At most max_strangers are kept that have not proved it yet, for `patience` each; the one that has
// waited longest makes room for the next. Strangers learn nothing but a nonce. The first that is
// turned away is logged, no further one: a port scanner must not fill the log.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "net/socket/connection.hpp"

namespace chime::net {

class Gate final : private ConnectionOwner {
 public:
  struct Options {
    Credentials credentials;
    std::int32_t pe = -1;  // the PE that listens
    SecureChannel::Limits limits{};
    // As long as a PE has to join. A silent client takes one place of a stranger and nobody's time,
    // and a client that belongs to the job may be slow.
    std::chrono::milliseconds patience{60'000};
    // Must be more than all clients that may come at once and belong to the job: each counts as a
    // stranger until it is heard.
    std::size_t max_strangers = 256;
    std::function<void(std::string)> log{};
    // Some clients that belong to the job leave before they have proved it: that is not logged.
    bool some_leave = false;
    // As end_after_silence(), of all that are let in. 0: as every connection.
    std::chrono::milliseconds silence{0};
  };
  // A client that knows the secret: call its belong_to(), then its accept() or refuse().
  using Admit = std::function<void(std::shared_ptr<Connection>)>;

  // All calls, and Admit, on the thread that runs `reactor`.
  Gate(Reactor& reactor, std::vector<Descriptor> listeners, Options options, Admit admit);
  ~Gate();

  void set_max_strangers(std::size_t n) { options_.max_strangers = n; }
  // Logs as the gate logs its own refusals.
  void log_refusal(const std::string& peer, const std::string& why);

 private:
  struct Door {
    Descriptor socket;
    Reactor::WatchId watch = 0;
  };

  void open(Door& door);
  void pause(Door& door);
  void accept_some(Door& door);
  void greet(Descriptor socket);
  void make_room();
  std::shared_ptr<Connection> take(Connection& stranger);

  void on_proven(Connection& connection) override;
  void on_frame(Connection&, Bytes) override {}
  void on_end(Connection& connection, const Error& why) override;

  Reactor& reactor_;
  Options options_;
  Admit admit_;
  std::list<Door> doors_;
  std::list<std::shared_ptr<Connection>> strangers_;  // in the order of arrival
  bool has_logged_ = false;
  std::shared_ptr<bool> is_alive_ = std::make_shared<bool>(true);  // for clocks that outlive it
};

}  // namespace chime::net
