// The PEs of one host, as the job sees them. For LocalCrew they are children of this process. For
// RemoteCrew they are children of an agent on their host.
#pragma once

#include <poll.h>
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "host/topology/cpu_places.hpp"

namespace chime::run {

using Clock = std::chrono::steady_clock;

enum class Stream : std::uint8_t { kOut, kErr };

// The program and the PEs that a crew is to run.
struct Order {
  struct Pe {
    int number;
    std::vector<std::string> environment;  // NAME=value, this PE's own
  };
  std::vector<std::string> command;
  std::optional<topology::PlaceKind> binding;  // each PE to one place of its host, in turn
  std::vector<std::string> environment;        // of all
  std::vector<Pe> pes;
};

struct PeEnd {
  int pe;
  pid_t pid;
  int status;             // as waitpid gives it
  std::string host = {};  // empty: this one
  // How it ended nobody knows: its host, or the agent there, is gone. Counts as killed.
  bool is_lost = false;
};

// The PEs of a host cannot be started there. what() says why, code() is chime-run's exit code.
class CannotRun : public std::runtime_error {
 public:
  CannotRun(int code, const std::string& why) : std::runtime_error(why), code_(code) {}
  int code() const { return code_; }

 private:
  int code_;
};

class CrewOwner {
 public:
  // Output of a PE; no text: that was all.
  virtual void on_output(int pe, Stream stream, std::string_view text) = 0;
  // A sentence for the user.
  virtual void on_words(const std::string& sentence) = 0;

 protected:
  ~CrewOwner() = default;
};

class Crew {
 public:
  virtual ~Crew() = default;

  // Once. Throws CannotRun, and so does serve() where that is known later.
  virtual void start(const Order& order) = 0;

  // Adds what poll should wait for; serve() takes what has come, without waiting. Until `next`
  // something may be due for serve() without any event.
  virtual void add_to(std::vector<pollfd>& polled) const = 0;
  virtual std::optional<Clock::time_point> next() const = 0;
  virtual void serve() = 0;
  // The rest of all output, when nobody writes any more.
  virtual void read_rest() = 0;

  // PEs whose end was not reported yet, in the order of seeing it. After look(), has_looked() says
  // when all PEs that had ended before are in it. Children are reaped before
  // (ChildProcess::reap_ended).
  virtual std::vector<PeEnd> take_ends() = 0;
  virtual void look() = 0;
  virtual bool has_looked() const = 0;

  virtual bool has_running_pes() const = 0;
  // No process is left that this crew started.
  virtual bool is_over() const = 0;

  // Asks all PEs to end.
  virtual void end(int signal) = 0;
  virtual void kill() = 0;
  // To the PEs that listen to `signal`: others would end by it.
  virtual void pass_to_listeners(int signal) = 0;
};

}  // namespace chime::run
