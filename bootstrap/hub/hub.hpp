// The meeting point of a job's PEs when no launcher brings one: chime-run holds it for its PEs, a
// process that makes a unique id holds it for the processes that get the id.
//
// One thread serves all connections. A client that has not proved the token is not served
// (net/mesh/gate.hpp). The hub keeps what PEs publish, and informs everyone when a connection ends
// without goodbye.
//
// A PE number may join again after it left (chime_finalize, then chime_init; or two programs run
// one after the other by a script): its n-th joining belongs to the n-th *session*, and sessions do
// not see each other.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bootstrap/hub/token.hpp"
#include "net/socket/descriptor.hpp"

namespace chime::bootstrap {

class Hub {
 public:
  struct Options {
    Token token;
    int n_pes = 0;  // 0: what the first PE says
    // Stop serving when all PEs have joined and left, and none has come back for so long; 0: never.
    std::chrono::seconds idle_limit{0};
    // Called from the hub's thread.
    std::function<void(int pe, int code, std::string why)> aborted;  // a PE asked for the job's end
    std::function<void(std::string)> log;  // something that a person should know
  };

  // Serves connections to `listeners`.
  Hub(std::vector<net::Descriptor> listeners, Options options);
  ~Hub();

  // Reports a loss that the owner knows of before a connection shows it: `pe` is gone, and why.
  // From any thread.
  void tell_lost(int pe, std::string why);

  // Asks all PEs that are connected to say on their stderr what they are doing. `said` is called
  // once, from the hub's thread, when all have or are gone: a PE that cannot answer delays it for
  // ever. From any thread; a second call before `said` replaces the first.
  void ask_activity(std::function<void()> said);

 private:
  class Server;
  std::unique_ptr<Server> server_;
};

}  // namespace chime::bootstrap
