// Opens a connection to a process of another host, or finds out that the host does not answer.
//
// The other host's kernel judges, and no process there: one that is stopped is waited for, for
// ever, while its host answers. All addresses are tried at once, each again and again; the first
// behind which somebody proves the secret is taken.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "net/socket/connection.hpp"

namespace chime::net {

class Reach final : private ConnectionOwner {
 public:
  struct Options {
    std::vector<Address> addresses;  // of the host; at least one
    Credentials credentials;
    Roles roles;
    SecureChannel::Limits limits{};
    std::chrono::milliseconds silence;  // for so long no address answers, and the host is silent
  };
  enum class Failure {
    kSilent,  // the host does not answer
    // It answers, and nobody of this job listens there any more: nobody at all does, or a listener
    // has turned away clients for `silence`.
    kNobody,
  };
  using Opened = std::function<void(std::shared_ptr<Connection>)>;
  using Failed = std::function<void(Failure, const std::string& why)>;

  // Calls one of `opened` and `failed`, once, from the reactor's thread and not before this
  // returns; the Reach may be destroyed there. `opened` calls belong_to() of what it gets.
  Reach(Reactor& reactor, Options options, Opened opened, Failed failed);
  // Gives up silently.
  ~Reach();

 private:
  // kAnswers: a connection is there, and a process has to do its part.
  enum class State { kAsked, kAnswers, kSilent, kNobody };
  struct Attempt {
    Address address;
    State state = State::kAsked;
    Deadline silent_at{};                 // unless it answers
    std::optional<Deadline> nobody_at{};  // set when it is first turned away
    std::shared_ptr<Connection> connection{};
    std::optional<Reactor::TimerId> timer{};
  };

  void begin(Attempt& attempt);
  void look(Attempt& attempt);
  void again(Attempt& attempt);
  void ask_anew(Attempt& attempt);
  void settle(Attempt& attempt, State state, const std::string& why);
  void at(Attempt& attempt, Deadline when, void (Reach::*step)(Attempt&));
  void drop(Attempt& attempt);

  void on_open(Connection& connection) override;
  void on_frame(Connection&, Bytes) override {}
  void on_end(Connection& connection, const Error& why) override;

  Reactor& reactor_;
  const Options options_;
  Opened opened_;
  Failed failed_;
  std::vector<Attempt> attempts_;
  std::string why_silent_, why_nobody_;
};

}  // namespace chime::net
