// Which of a node's PEs leads it: the one that listens at a name of the node's own. The kernel
// gives the name to one of them, and takes it back when its process ends.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "net/socket/connection.hpp"

namespace chime::host {

class LeaderSeat final : private net::ConnectionOwner {
 public:
  struct Options {
    std::vector<net::Address> names;  // further ones in case a stranger has taken the first
    net::Credentials credentials;
    net::Roles roles;  // of a connection to the leader
    net::SecureChannel::Limits limits;
  };
  // One of them is called for each look(), from the reactor's thread. `follow` calls belong_to() of
  // what it gets.
  using Follow = std::function<void(std::shared_ptr<net::Connection> leader)>;
  using Lead = std::function<void(net::Descriptor listener)>;

  LeaderSeat(net::Reactor& reactor, Options options, Follow follow, Lead lead);
  ~LeaderSeat();

  // Looks for the leader, from `when` on, until there is one. Where there is none and this PE
  // `may_lead`, it becomes the leader.
  void look(net::Deadline when, bool may_lead);

 private:
  void begin_round();
  void try_next();
  void take_the_seat();
  void later(net::Deadline when, void (LeaderSeat::*step)());

  void on_open(net::Connection& connection) override;
  void on_frame(net::Connection&, net::Bytes) override {}
  void on_end(net::Connection& connection, const net::Error& why) override;

  net::Reactor& reactor_;
  const Options options_;
  const Follow follow_;
  const Lead lead_;
  bool may_lead_ = false;
  std::size_t next_ = 0;                // of the names, in this round
  std::optional<std::size_t> free_{};   // the first name at which nobody listens
  bool somebody_may_be_there_ = false;  // behind a name that could not be asked
  std::shared_ptr<net::Connection> attempt_;
  std::optional<net::Reactor::TimerId> timer_;
};

}  // namespace chime::host
